// Package redact is the only door captured content leaves by on its way to an
// agent. A [Redacted] can be made in no other way than by [Policy.Apply], and
// what renders content accepts nothing else: the compiler keeps the boundary.
//
// The door fails closed: a policy that cannot be applied refuses, it never
// passes content on unread. What is removed is found by package detect; this
// package decides what of it goes, puts placeholders in its place and keeps the
// list of what was done.
package redact

import (
	"fmt"
	"slices"
	"time"

	"hodl"
	"hodl/internal/detect"
)

// Off is the policy that removes nothing.
const Off = "off"

// A Policy decides what is removed from a session. Policies are made by [Lookup],
// [Compile] and [Join]; the zero Policy refuses everything. A Policy never changes
// and is safe for concurrent use.
type Policy struct {
	uses   []hodl.PolicyUse
	layers []*layer
}

// Lookup returns the preset of that name, and whether there is one.
func Lookup(name string) (*Policy, bool) {
	p, ok := presets[name]
	return p, ok
}

// Join returns the policy that removes what any of those given removes.
func Join(policies ...*Policy) *Policy {
	joined := &Policy{}
	for _, p := range policies {
		for _, u := range p.uses {
			if !slices.Contains(joined.uses, u) {
				joined.uses = append(joined.uses, u)
			}
		}
		joined.layers = append(joined.layers, p.layers...)
	}
	return joined
}

// SecretsOnly returns the policy for who may read what p would strip, class secret
// never: of what p removes, that class alone, whatever p itself lets pass of it.
func (p *Policy) SecretsOnly() *Policy {
	only, _ := Lookup("secrets-only")
	return &Policy{uses: p.uses, layers: only.layers}
}

// Use returns the name and version of the first policy joined in p, as access
// records tell them.
func (p *Policy) Use() hodl.PolicyUse { return p.uses[0] }

// Uses returns the names and versions of all policies joined in p, in order. The
// list must not be changed.
func (p *Policy) Uses() []hodl.PolicyUse { return p.uses }

// Key names everything a result depends on besides the content: policies, their
// versions, the rules', and which allowances count. It is part of what names a
// cached rendering.
func (p *Policy) Key() string {
	key := fmt.Sprintf("r%d", detect.RulesVersion)
	for _, u := range p.uses {
		key += fmt.Sprintf(" %s@%d", u.Name, u.Version)
	}
	for _, l := range p.layers {
		key += fmt.Sprintf(" %d", len(l.allow))
	}
	return key
}

// At returns the policy as it stands at that time: an allowance counts until it
// expires. An allowance that expires never counts in a policy that was not told
// the time.
func (p *Policy) At(now time.Time) *Policy {
	if !slices.ContainsFunc(p.layers, func(l *layer) bool { return len(l.expiring) > 0 }) {
		return p
	}
	at := &Policy{uses: p.uses, layers: slices.Clone(p.layers)}
	for i, l := range at.layers {
		at.layers[i] = l.at(now)
	}
	return at
}

// Apply returns the session's content as the policy lets it out. It takes copies:
// what the caller does to content afterwards does not reach the result. On an
// error there is no result and nothing may leave.
func (p *Policy) Apply(session hodl.Session, content hodl.Content) (Redacted, error) {
	return p.apply(recall{}, session, content, History{})
}

func (p *Policy) apply(memory recall, session hodl.Session, content hodl.Content, h History) (r Redacted, err error) {
	if p == nil || len(p.uses) == 0 {
		return Redacted{}, hodl.Errorf(hodl.Internal, "no redaction policy was chosen")
	}
	if _, err := hodl.ParseSessionID(string(session.ID)); err != nil {
		return Redacted{}, hodl.Errorf(hodl.Internal, "redact a session without an id")
	}
	defer func() {
		if recover() != nil {
			r, err = Redacted{}, errFailed()
		}
	}()
	r = Redacted{
		session: session.ID, fingerprint: session.Fingerprint, capturedAt: session.CapturedAt,
		content: copyContent(content), policies: slices.Clone(p.uses),
	}
	j := newJob(p.layers, contentFields(&r.content))
	j.memory, j.numbers.history = memory, newHistory(h)
	defer func() { freeFields(j.fields); j.free() }()
	if err := j.run(); err != nil {
		return Redacted{}, err
	}
	renameNodes(&r.content, content.Thread)
	r.redactions, r.uses = j.manifest()
	return r, nil
}

// errFailed reports that the engine panicked, and not about what: that may be content.
func errFailed() error {
	return hodl.Errorf(hodl.Internal, "the redaction engine failed; nothing was handed over")
}

// Redacted is a session's content after a policy. Of the session itself it keeps
// only what the server made: title, summary and tags are taken from the content,
// which went through the policy. The zero Redacted holds nothing and no renderer
// accepts it. It never changes; what its methods return must not be changed.
type Redacted struct {
	session     hodl.SessionID
	fingerprint string
	capturedAt  time.Time
	content     hodl.Content
	redactions  []hodl.Redaction
	uses        []hodl.RedactionUse
	policies    []hodl.PolicyUse
}

// Session returns the id of the session, "" for the zero Redacted.
func (r Redacted) Session() hodl.SessionID { return r.session }

// Fingerprint names the version of the session.
func (r Redacted) Fingerprint() string { return r.fingerprint }

// CapturedAt returns when that version was captured.
func (r Redacted) CapturedAt() time.Time { return r.capturedAt }

// Content returns what the policy lets out. Its slices and maps are never nil.
func (r Redacted) Content() hodl.Content { return r.content }

// Redactions tells the reader what was removed, in the order of the content.
func (r Redacted) Redactions() []hodl.Redaction { return r.redactions }

// Uses tells the access record how often which rule removed something.
func (r Redacted) Uses() []hodl.RedactionUse { return r.uses }

// Policies returns the policies applied, with their versions.
func (r Redacted) Policies() []hodl.PolicyUse { return r.policies }

// Text applies the policy to one text that stands alone, such as a file. It is for
// `hodl redact`; content of a session goes through [Policy.Apply].
func (p *Policy) Text(text string, kind detect.Kind) (string, []hodl.Redaction, error) {
	fields := []field{{group: "text", text: &text, kind: kind, document: true}}
	j := newJob(p.layers, fields)
	defer j.free()
	if err := j.run(); err != nil {
		return "", nil, err
	}
	redactions, _ := j.manifest()
	return text, redactions, nil
}

// Spans returns what the policy removes of one text that stands alone, in order,
// as half-open offsets in bytes.
func (p *Policy) Spans(text string, kind detect.Kind) []detect.Span {
	f := field{group: "text", text: &text, kind: kind, document: true}
	j := newJob(p.layers, nil)
	defer j.free()
	j.look(&f)
	return slices.Clone(j.choose(&f))
}
