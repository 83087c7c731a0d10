package hodl

import "time"

// RecordKind is what an access record records.
type RecordKind string

const (
	KindMint      RecordKind = "mint"
	KindExchange  RecordKind = "exchange"
	KindHydrate   RecordKind = "hydrate"
	KindContinue  RecordKind = "continue"
	KindUnchanged RecordKind = "unchanged"
	KindPreview   RecordKind = "preview"
	KindWrite     RecordKind = "write"
	KindResume    RecordKind = "resume"
	KindRevoke    RecordKind = "revoke"
	KindDenied    RecordKind = "denied"
	KindHandOff   RecordKind = "hand_off"
	KindErased    RecordKind = "erased" // of a person
)

// RecordKinds lists every kind of record there is.
var RecordKinds = []RecordKind{KindMint, KindExchange, KindHydrate, KindContinue, KindUnchanged, KindPreview, KindWrite, KindResume, KindRevoke, KindDenied, KindHandOff, KindErased}

// A Record is the immutable entry of one access. It names what was done and by
// whom and holds no session content and no personal detail: those that must be
// erasable lie in [RecordDetail].
type Record struct {
	Actor       string         `json:"actor" doc:"Who: a key, a user or an audience"`
	At          time.Time      `json:"at" doc:"When (RFC 3339, UTC)"`
	Audience    string         `json:"audience,omitempty" doc:"Whom a key received it for"`
	Bearer      bool           `json:"bearer,omitzero" doc:"Whether a token without proof of possession was enough"`
	Chain       []string       `json:"chain,omitempty" doc:"Audiences that handed the token on, the last first"`
	Code        Code           `json:"code,omitempty" doc:"Why it was denied"`
	Count       int            `json:"count,omitzero" doc:"How many equal denials this entry stands for"`
	Fingerprint string         `json:"fingerprint,omitempty" doc:"The version of the session"`
	Hydration   RecordID       `json:"hydration,omitempty" doc:"The hydration that is continued, or whose changes were asked for"`
	ID          RecordID       `json:"id" doc:"Identifier"`
	JTI         TokenID        `json:"jti,omitempty" doc:"The resume token"`
	Kind        RecordKind     `json:"kind" enum:"mint,exchange,hydrate,continue,unchanged,preview,write,resume,revoke,denied,hand_off,erased" doc:"What was done"`
	Mode        Mode           `json:"mode" enum:"live,sandbox" doc:"Live or sandbox data"`
	Parent      TokenID        `json:"parent,omitempty" doc:"The token this one was exchanged for"`
	Policies    []PolicyUse    `json:"policies,omitempty" doc:"The redaction policies applied, with their versions"`
	Reason      string         `json:"reason,omitempty" doc:"Why a token was revoked"`
	Redactions  []RedactionUse `json:"redactions,omitempty" doc:"What was removed: path, rule and count, never a value"`
	Returned    *Returned      `json:"returned,omitempty" doc:"What was returned"`
	Scopes      []Scope        `json:"scopes,omitempty" doc:"The scopes it was done under"`
	Seq         int64          `json:"seq" doc:"Place in the workspace's log, gapless from 0"`
	Session     SessionID      `json:"session_id,omitempty" doc:"The session"`
	StepUp      *StepUp        `json:"step_up,omitempty" doc:"The person's confirmation of a hand-off"`
	Subject     string         `json:"subject,omitempty" doc:"Whose tokens a revocation ended, when not one token: an id of a session, key, user or workspace"`
	User        UserID         `json:"user" doc:"The person whose session it is"`
	Workspace   WorkspaceID    `json:"workspace_id" doc:"The workspace"`
}

// StepUp is a confirmation by the person, as the caller tells of it.
type StepUp struct {
	At     time.Time `json:"at" doc:"When the person confirmed (RFC 3339, UTC)"`
	Method string    `json:"method" enum:"self_asserted" doc:"Who vouches for it: the caller alone"`
}

// PolicyUse names a redaction policy as it was applied.
type PolicyUse struct {
	Name    string `json:"name" doc:"The policy"`
	Version int    `json:"version" doc:"Its version at that moment"`
}

// RedactionUse tells how often a rule removed something at a path.
type RedactionUse struct {
	Count int    `json:"count" doc:"How many values"`
	Path  string `json:"path" doc:"Where, as a JSON path"`
	Rule  string `json:"rule" doc:"The rule"`
}

// Returned describes the bytes an agent got, without the two fields that differ
// per call.
type Returned struct {
	Bytes  int    `json:"bytes" doc:"Length of the body without hydration_id and receipt"`
	Format string `json:"format" doc:"The rendering"`
	SHA256 string `json:"sha256" doc:"Digest of the same bytes, in hex"`
}

// RecordDetail is the erasable half of a record.
type RecordDetail struct {
	Address   string `json:"address,omitempty"`
	UserAgent string `json:"user_agent,omitempty"`
}
