package hodl

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Policy is a version of a redaction policy: a preset, which every workspace has,
// or a document of the workspace's own, in one mode. A version never changes.
type Policy struct {
	ID        PolicyID       `json:"id,omitempty" doc:"Identifier of this version; absent of a preset"`
	Name      string         `json:"name" doc:"The policy"`
	Version   int            `json:"version" doc:"Its version; access records tell it"`
	Current   bool           `json:"current" doc:"Whether it is the workspace's current one, which applies to every hydration"`
	Preset    bool           `json:"preset" doc:"Whether every workspace has it"`
	Document  PolicyDocument `json:"document" doc:"What it says"`
	Author    KeyID          `json:"author,omitempty" doc:"The key that made this version"`
	CreatedAt time.Time      `json:"created_at,omitzero" doc:"When this version was made (RFC 3339, UTC)"`
}

// MaxPolicies is how many policies a workspace may have in a mode, presets apart.
const MaxPolicies = 100

var policyName = form(`^[a-z][a-z0-9_-]{0,63}$`)

// IsPreset reports whether a policy of that name is one that every workspace has.
func IsPreset(name string) bool { return slices.Contains(Presets, name) }

// CheckPolicyName reports what is wrong with the name of a policy of a workspace's
// own, or nil.
func CheckPolicyName(name string) error {
	switch {
	case IsPreset(name):
		return Invalid("name", "is that of a preset, which does not change; choose another and let its document extend the preset")
	case !policyName(name):
		return Invalid("name", "must be a small letter followed by up to 63 small letters, digits, - and _")
	}
	return nil
}

// JoinPolicies names several policies as one claim of a token does: what any of them
// removes is removed. Off removes nothing and is named only where nothing else is.
func JoinPolicies(names ...string) string {
	var all []string
	for _, n := range names {
		for part := range strings.FieldsSeq(n) {
			if part != "off" && !slices.Contains(all, part) {
				all = append(all, part)
			}
		}
	}
	if len(all) == 0 {
		return "off"
	}
	return strings.Join(all, " ")
}

// Within refuses with [PlanRequired] what a plan does not have, and names it.
func (d *PolicyDocument) Within(plan PlanName) error {
	own := present(map[string]bool{
		"classes": len(d.Classes) > 0, "rules": len(d.Rules) > 0, "fields": len(d.Fields) > 0, "hosts": len(d.Hosts) > 0,
		"paths": len(d.Paths) > 0, "urls": d.URLs != nil, "allow": len(d.Allow) > 0,
	})
	custom := present(map[string]bool{"dictionaries": len(d.Dictionaries) > 0, "patterns": len(d.Patterns) > 0})
	switch {
	case plan != Enterprise && len(custom) > 0:
		return planLacks(plan, custom, Enterprise)
	case plan == Developer && len(own) > 0:
		return planLacks(plan, own, Startup)
	}
	return nil
}

func planLacks(plan PlanName, fields []string, needed PlanName) error {
	return Errorf(PlanRequired, "the plan %s has no redaction by %s", plan, strings.Join(fields, ", ")).
		WithHint("leave that out, or take the plan %s; the presets are on every plan", needed)
}

func present(fields map[string]bool) []string {
	var out []string
	for name, there := range fields {
		if there {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// PreviewDraft asks what an agent would receive of a session if a policy were the
// workspace's current one.
type PreviewDraft struct {
	Session         SessionID       `json:"session_id" doc:"The session: one of your own"`
	Audience        string          `json:"audience,omitempty" doc:"Who the agent is, as for a resume token"`
	Scopes          []Scope         `json:"scopes,omitempty" enum:"read:context,read:reasoning,read:transcript,read:redacted" doc:"What its token would carry; read:context, read:reasoning and read:transcript when absent"`
	Format          string          `json:"format,omitempty" doc:"The rendering; json when absent"`
	RedactionPolicy string          `json:"redaction_policy,omitempty" doc:"The policy its token would name, applied in addition"`
	MaxTokens       int             `json:"max_tokens,omitempty" doc:"The most tokens of the body, 1200 to 1000000, as a hydration takes it; no bound when absent"`
	Document        *PolicyDocument `json:"document,omitempty" doc:"A document that was not saved, in place of the policy's"`
}

// Check reports every fault of the draft but those of its document, or nil, and
// fills in what it leaves open.
func (d *PreviewDraft) Check() error {
	var f faults
	if !sessionID(string(d.Session)) {
		f.add("session_id", `must be "ses_" followed by 1 to 64 letters and digits`)
	}
	f.text("audience", d.Audience, MaxAudience)
	if d.Scopes == nil {
		d.Scopes = []Scope{ReadContext, ReadReasoning, ReadTranscript}
	}
	for i, s := range d.Scopes {
		f.oneOf("scopes["+strconv.Itoa(i)+"]", string(s), strs(Scopes[:4])...)
	}
	if !slices.Contains(d.Scopes, ReadContext) && !slices.Contains(d.Scopes, ReadReasoning) {
		f.add("scopes", "grant nothing; name %s or %s", ReadContext, ReadReasoning)
	}
	f.text("redaction_policy", d.RedactionPolicy, MaxTag)
	return f.err()
}

// A Preview is what an agent would receive.
type Preview struct {
	ID          RecordID       `json:"preview_id" doc:"Id of its access record, of kind preview"`
	Session     SessionID      `json:"session_id" doc:"The session"`
	Fingerprint string         `json:"fingerprint" doc:"The version"`
	Policies    []PolicyUse    `json:"policies" doc:"What was applied; version 0 is a document that was not saved"`
	Format      string         `json:"format" doc:"The rendering"`
	ContentType string         `json:"content_type" doc:"Its media type"`
	Body        string         `json:"body" doc:"The exact bytes, but for hydration_id and receipt"`
	Bytes       int            `json:"bytes" doc:"How many"`
	Tokens      int            `json:"tokens" doc:"How many tokens they are, of o200k_base"`
	SHA256      string         `json:"sha256" doc:"Their digest, in hex"`
	Changes     []PolicyChange `json:"changes" doc:"The fields that are not as they were captured, in their order"`
}

// A PolicyChange is a field that a policy changes. What was there before is told by the
// content of the session alone.
type PolicyChange struct {
	Field      string      `json:"field" doc:"Where, as a JSON path"`
	After      string      `json:"after" doc:"What an agent reads there"`
	Redactions []Redaction `json:"redactions" doc:"What was removed, and why"`
}
