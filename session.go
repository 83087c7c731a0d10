package hodl

import "time"

// A Session is a whole open work context of one user, as listed: what it is
// called and where it stands. Its content is a [Content], one immutable version
// per fingerprint.
type Session struct {
	ID          SessionID
	Workspace   WorkspaceID
	Mode        Mode
	User        UserID
	Title       string
	Summary     string
	Tags        []string
	State       State
	Fingerprint string    // names the current version
	CapturedAt  time.Time // of the current version
	CreatedAt   time.Time
	UpdatedAt   time.Time
	Hydrations  int64 // over all its tokens
}

// State is where a session stands. docs/spec.md §3 draws the transitions.
type State string

const (
	Open      State = "open"       // the person is at work; updates are live
	Held      State = "held"       // captured, waiting
	Resumed   State = "resumed"    // the person took it up again
	HandedOff State = "handed_off" // an agent has hydrated it
	Archived  State = "archived"   // put away; its tokens are dead for good
)

// Content is what a session version holds. Versions are immutable and named by
// their fingerprint, so whatever is derived from one may be cached under it.
type Content struct {
	Title      string                `json:"title"`
	Summary    string                `json:"summary"`
	Tabs       []Tab                 `json:"tabs"`
	Media      []Medium              `json:"media"`
	Thread     []Node                `json:"reasoning_thread"`
	Tags       []string              `json:"ai_tags"`
	Notes      []Note                `json:"notes"`
	Hodls      []Hodl                `json:"hodls"`
	Provenance map[string]Provenance `json:"provenance"` // by node id
}

// A Tab is an open page.
type Tab struct {
	URL          string   `json:"url" doc:"Address; at most 8 KiB"`
	Title        string   `json:"title" doc:"Title; at most 1 KiB"`
	ScrollYPct   *float64 `json:"scroll_y_pct,omitempty" minimum:"0" maximum:"100" doc:"How far the page is scrolled, in percent"`
	SelectedText string   `json:"selected_text,omitempty" doc:"Selected text; at most 64 KiB"`
	Role         string   `json:"tab_role,omitempty" doc:"What the tab is for; editor for a place in a file"`
}

// A Medium is a video, a sound or an image and the second it stands at.
type Medium struct {
	Kind       string   `json:"kind" enum:"video,audio,image" doc:"What it is"`
	URL        string   `json:"url" doc:"Address; at most 8 KiB"`
	TimestampS *float64 `json:"timestamp_s,omitempty" minimum:"0" doc:"Position in seconds"`
	Transcript string   `json:"transcript_anchor,omitempty" doc:"Words spoken there; at most 64 KiB"`
}

// AnyVersion, as what a write expects to stand, is met by whichever does (RFC 9110
// §13.1.1).
const AnyVersion = "*"

// A Note is free text on a session, by the person or by an agent.
type Note struct {
	ID        int64     `json:"note_id" doc:"Number, unique within the session"`
	Body      string    `json:"body" doc:"The text"`
	Author    string    `json:"author" doc:"Who wrote it: a user id, or agent: and the audience"`
	Trust     Trust     `json:"trust" enum:"user,page,agent" doc:"How far the server trusts the author; set by the server alone"`
	CreatedAt time.Time `json:"created_at" doc:"When it was written (RFC 3339, UTC)"`
}

// Trust says where a text came from, and so how far it may be trusted.
type Trust string

const (
	TrustUser  Trust = "user"  // captured or written with the person's own key
	TrustPage  Trust = "page"  // captured from a page with a capture-only key
	TrustAgent Trust = "agent" // written by an agent with a resume token
)

// Provenance is who wrote a node, set by the server alone.
type Provenance struct {
	Author    string    `json:"author" doc:"A user id, or agent: and the audience"`
	CreatedAt time.Time `json:"created_at" doc:"When the server first saw it (RFC 3339, UTC)"`
	Trust     Trust     `json:"trust" enum:"user,page,agent" doc:"How far the server trusts the author"`
}

// SessionDraft is what a client sends to capture a session. Fields, names and
// optionality are those the published clients send.
type SessionDraft struct {
	ID      string      `json:"session_id,omitempty" doc:"Chosen by the client, or made by the server when absent" example:"ses_8f3aZ91b"`
	Title   string      `json:"title,omitempty" doc:"At most 1 KiB"`
	Summary string      `json:"summary,omitempty" doc:"At most 8 KiB"`
	Tabs    []Tab       `json:"tabs,omitempty" doc:"Open pages, in window order; at most 1,000"`
	Media   []Medium    `json:"media,omitempty" doc:"Media positions; at most 1,000"`
	Thread  []Node      `json:"reasoning_thread,omitempty" doc:"Typed reasoning; at most 1,000 nodes of 8 KiB"`
	Tags    []string    `json:"ai_tags,omitempty" doc:"Labels; at most 64 of 128 bytes"`
	Notes   []NoteDraft `json:"notes,omitempty" doc:"Partial notes; at most 1,000 of 64 KiB"`
	HodlIDs []HodlID    `json:"hodl_ids,omitempty" doc:"Hodls of the same user and mode that belong to it; at most 1,000"`
	State   State       `json:"state,omitempty" enum:"open,held" doc:"open for a live update; held when absent"`
}

// NoteDraft is a note as a client sends it.
type NoteDraft struct {
	Body string `json:"body" doc:"The text; at most 64 KiB"`
}

// ForkDraft is what a client sends to fork a session.
type ForkDraft struct {
	Title string `json:"title,omitempty" doc:"Title of the new session; that of the old one when absent"`
	From  string `json:"from,omitempty" doc:"Fingerprint of the version to start from; the current one when absent"`
}

// Version is an immutable snapshot of a session, as listed.
type Version struct {
	Fingerprint string    `json:"fingerprint" doc:"SHA-256 that names the version, in hex"`
	CapturedAt  time.Time `json:"captured_at" doc:"When it was first captured (RFC 3339, UTC)"`
	Author      string    `json:"author" doc:"Who made it: a user id, or agent: and the audience"`
	Current     bool      `json:"current" doc:"Whether the session stands at this version"`
}

// An Operation is what happens to a session.
type Operation string

const (
	OpCapture Operation = "capture"     // a capture with a changed fingerprint
	OpUpdate  Operation = "live_update" // a capture with state open
	OpHold    Operation = "hold"
	OpShare   Operation = "share" // mint, exchange or hand off
	OpHandOff Operation = "hydrate"
	OpWrite   Operation = "write" // a typed write by an agent
	OpResume  Operation = "resume"
	OpArchive Operation = "archive"
	OpRestore Operation = "restore"
)

// After returns the state op leads to from s and the event that announces it, ""
// for none. The state before there is a session is "". docs/spec.md §3 is this
// table.
//
// A transition already in effect leads nowhere and announces nothing.
func (s State) After(op Operation) (State, EventType, error) {
	if s != "" && s == reaches[op] {
		return s, "", nil
	}
	switch {
	case op == OpArchive:
		return Archived, "", nil
	case op == OpRestore && s == Archived:
		return Held, SessionHeld, nil
	case op == OpHold && s == Open:
		return Held, SessionHeld, nil
	case s == Archived, op == OpRestore, op == OpHold:
		return s, "", Errorf(InvalidTransition, "a session that is %s cannot be changed by %s", s, op).WithHint("%s", transitionHint(s, op))
	case op == OpCapture:
		return Held, SessionHeld, nil
	case op == OpUpdate:
		return Open, "", nil
	case op == OpShare:
		return s, SessionShared, nil
	case op == OpHandOff:
		return HandedOff, SessionHandedOff, nil
	case op == OpResume:
		return Resumed, SessionResumed, nil
	}
	return s, "", nil
}

// reaches is the state a person's operation leads to, wherever it is allowed.
var reaches = map[Operation]State{OpHold: Held, OpResume: Resumed, OpArchive: Archived, OpRestore: Held}

// Reaches returns the state a person's operation leads to, wherever it is allowed.
func (o Operation) Reaches() State { return reaches[o] }

func transitionHint(s State, op Operation) string {
	switch {
	case s == Archived:
		return "restore the session first: POST /v1/sessions/{id}/restore"
	case op == OpHold:
		return "only an open session is held; a capture holds any"
	}
	return "the session is not archived"
}
