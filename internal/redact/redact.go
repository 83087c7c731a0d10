// Package redact is the only door captured content leaves by on its way to an
// agent. A [Redacted] can be made in no other way than by [Policy.Apply], and
// what renders content accepts nothing else: the compiler keeps the boundary.
//
// The door fails closed: a policy that cannot be applied refuses, it never
// passes content on unread.
package redact

import (
	"time"

	"hodl"
)

// Off is the policy that removes nothing.
const Off = "off"

// A Policy decides what is removed from a session. Policies are made by
// [Lookup]; the zero Policy refuses everything.
type Policy struct {
	use hodl.PolicyUse
}

// off passes content on as it was captured. It is a policy like any other, with
// a version that stands in every access record, so that a record always tells
// which rules the content it speaks of went through.
var off = &Policy{use: hodl.PolicyUse{Name: Off, Version: 1}}

// Lookup returns the policy of that name, and whether there is one. The server
// has one policy, "off", and applies it to every workspace.
func Lookup(name string) (*Policy, bool) {
	if name == Off {
		return off, true
	}
	return nil, false
}

// Use returns the policy's name and version, as access records tell them. It is
// part of what names a cached rendering.
func (p *Policy) Use() hodl.PolicyUse { return p.use }

// Apply returns the session's content as the policy lets it out. It takes copies:
// what the caller does to content afterwards does not reach the result. On an
// error there is no result and nothing may leave.
func (p *Policy) Apply(session hodl.Session, content hodl.Content) (Redacted, error) {
	if p == nil || p.use.Name == "" {
		return Redacted{}, hodl.Errorf(hodl.Internal, "no redaction policy was chosen")
	}
	if _, err := hodl.ParseSessionID(string(session.ID)); err != nil {
		return Redacted{}, hodl.Errorf(hodl.Internal, "redact a session without an id")
	}
	return Redacted{
		session:     session.ID,
		fingerprint: session.Fingerprint,
		capturedAt:  session.CapturedAt,
		content:     copyContent(content),
		redactions:  []hodl.Redaction{},
		uses:        []hodl.RedactionUse{},
		policies:    []hodl.PolicyUse{p.use},
	}, nil
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
