package hodl

import "time"

// ContextVersion is the version of the resume context's schema.
const ContextVersion = "1.0"

// A ResumeContext is what an agent receives: what the scopes grant of a session,
// redacted. The first ten fields are published, and the published clients build
// typed objects from their items: nothing is ever added inside a tab, a medium or
// a node, arrays are never null, and optional values are left out.
type ResumeContext struct {
	Session    SessionID   `json:"session_id"`
	Version    string      `json:"version"`
	CapturedAt time.Time   `json:"captured_at"`
	Title      string      `json:"title"`
	Summary    string      `json:"summary"`
	Tabs       []Tab       `json:"tabs"`
	Media      []Medium    `json:"media"`
	Thread     []Node      `json:"reasoning_thread"`
	Tags       []string    `json:"ai_tags"`
	Redactions []Redaction `json:"redactions"`

	Notes       []Note                `json:"notes"`
	Hodls       []Hodl                `json:"hodls"`
	Provenance  map[string]Provenance `json:"provenance"` // by node id
	Withheld    []string              `json:"withheld"`   // fields the scopes do not grant
	Omitted     []Omission            `json:"omitted"`    // what a bound on size left out
	Scopes      []Scope               `json:"scopes"`
	Fingerprint string                `json:"fingerprint"`
	Delta       *Delta                `json:"delta,omitempty"` // when only what changed was asked for
}

// An Omission is what a bound on size left out of one kind of content.
type Omission struct {
	What   string `json:"what"`
	Items  int    `json:"items"`
	Handle string `json:"handle"` // fetches it, with include
}

// A Delta tells that a context holds only what changed after an earlier hand-off.
// Title and summary are there whether or not they changed.
type Delta struct {
	From    string   `json:"from"`    // the fingerprint handed over then
	Changed []string `json:"changed"` // fields
	Removed []Absent `json:"removed"` // what is no longer there
}

// An Absent item is named by its field and, there, its id, number, address or word.
type Absent struct {
	Field string `json:"field"`
	ID    string `json:"id"`
}

// A Redaction tells that something was removed from a field, and why; never what.
type Redaction struct {
	Field  string `json:"field" doc:"Where, as a JSON path"`
	Reason string `json:"reason" doc:"Why"`
	Rule   string `json:"rule,omitempty" doc:"The rule that removed it"`
	Type   string `json:"type,omitempty" doc:"What it was, such as secret.token or pii.email"`
	Count  int    `json:"count,omitzero" doc:"How many times it stood there"`
	// Placeholder is what stands in its place. Equal values have equal
	// placeholders in all of a session.
	Placeholder string `json:"placeholder,omitempty" doc:"What stands in its place, such as [EMAIL_1]"`
}
