package client

import (
	"context"
	"net/url"
	"time"

	"hodl"
)

// CapturedSession names the version that a capture made or found.
type CapturedSession struct {
	ID          hodl.SessionID `json:"session_id"`
	Fingerprint string         `json:"fingerprint"`
	CapturedAt  time.Time      `json:"captured_at"`
	Warnings    []string       `json:"warnings"` // what was dropped of the draft
}

// Session is a session's metadata.
type Session struct {
	ID          hodl.SessionID   `json:"session_id"`
	Workspace   hodl.WorkspaceID `json:"workspace_id"`
	Title       string           `json:"title"`
	Summary     string           `json:"summary"`
	CapturedAt  time.Time        `json:"captured_at"`
	Tags        []string         `json:"ai_tags"`
	Hydrations  int64            `json:"total_hydrations"`
	State       hodl.State       `json:"state"`
	Fingerprint string           `json:"fingerprint"`
}

// SessionPage is a page of sessions, of which a list tells no more than the id,
// title, summary, time and labels. Next is empty at the end of the list.
type SessionPage struct {
	Sessions []Session `json:"sessions"`
	Next     string    `json:"next_cursor"`
}

// VersionPage is a page of a session's versions. Next is empty at the end of the
// list.
type VersionPage struct {
	Versions []hodl.Version `json:"versions"`
	Next     string         `json:"next_cursor"`
}

// Content is a version of a session, unredacted.
type Content struct {
	ID          hodl.SessionID `json:"session_id"`
	Fingerprint string         `json:"fingerprint"`
	hodl.Content
}

// CaptureSession creates a session, or replaces what was captured of the one the
// draft names: POST /v1/sessions.
func (c *Client) CaptureSession(ctx context.Context, d hodl.SessionDraft, options ...CallOption) (*CapturedSession, error) {
	out := &CapturedSession{}
	return out, c.do(ctx, call{method: "POST", path: "/v1/sessions", in: d, options: options}, out)
}

// PutSession creates or replaces session id: PUT /v1/sessions/{id}.
func (c *Client) PutSession(ctx context.Context, id hodl.SessionID, d hodl.SessionDraft, options ...CallOption) (*CapturedSession, error) {
	out := &CapturedSession{}
	return out, c.do(ctx, call{method: "PUT", path: "/v1/sessions/" + segment(id), in: d, options: options}, out)
}

// Sessions lists sessions, last captured first: GET /v1/sessions.
func (c *Client) Sessions(ctx context.Context, p Page) (*SessionPage, error) {
	out := &SessionPage{}
	return out, c.do(ctx, call{method: "GET", path: "/v1/sessions", query: p.query()}, out)
}

// Session returns a session's metadata: GET /v1/sessions/{id}.
func (c *Client) Session(ctx context.Context, id hodl.SessionID) (*Session, error) {
	return c.session(ctx, "GET", "/v1/sessions/"+segment(id))
}

// Content returns the current version of a session: GET /v1/sessions/{id}/content.
func (c *Client) Content(ctx context.Context, id hodl.SessionID) (*Content, error) {
	out := &Content{}
	return out, c.do(ctx, call{method: "GET", path: "/v1/sessions/" + segment(id) + "/content"}, out)
}

// Versions lists the versions of a session: GET /v1/sessions/{id}/versions.
func (c *Client) Versions(ctx context.Context, id hodl.SessionID, p Page) (*VersionPage, error) {
	out := &VersionPage{}
	return out, c.do(ctx, call{method: "GET", path: "/v1/sessions/" + segment(id) + "/versions", query: p.query()}, out)
}

// Version returns one version of a session:
// GET /v1/sessions/{id}/versions/{fingerprint}.
func (c *Client) Version(ctx context.Context, id hodl.SessionID, fingerprint string) (*Content, error) {
	out := &Content{}
	return out, c.do(ctx, call{method: "GET", path: "/v1/sessions/" + segment(id) + "/versions/" + segment(fingerprint)}, out)
}

// SessionDiff tells how one version of a session became another.
type SessionDiff struct {
	ID   hodl.SessionID `json:"session_id"`
	From *hodl.Version  `json:"from"` // nil when there was nothing before
	To   hodl.Version   `json:"to"`
	hodl.Diff
}

// DiffSession compares two versions of a session by their fingerprints:
// GET /v1/sessions/{id}/diff. An empty to is the current version, an empty from the
// one before to.
func (c *Client) DiffSession(ctx context.Context, id hodl.SessionID, from, to string) (*SessionDiff, error) {
	q := url.Values{}
	set(q, "from", from)
	set(q, "to", to)
	out := &SessionDiff{}
	return out, c.do(ctx, call{method: "GET", path: "/v1/sessions/" + segment(id) + "/diff", query: q}, out)
}

// ForkSession starts a new session from a version of session id:
// POST /v1/sessions/{id}/fork.
func (c *Client) ForkSession(ctx context.Context, id hodl.SessionID, d hodl.ForkDraft, options ...CallOption) (*CapturedSession, error) {
	out := &CapturedSession{}
	return out, c.do(ctx, call{method: "POST", path: "/v1/sessions/" + segment(id) + "/fork", in: d, options: options}, out)
}

// HoldSession holds an open session: POST /v1/sessions/{id}/hold.
func (c *Client) HoldSession(ctx context.Context, id hodl.SessionID) (*Session, error) {
	return c.session(ctx, "POST", "/v1/sessions/"+segment(id)+"/hold")
}

// ResumeSession takes a session up again as a person:
// POST /v1/sessions/{id}/resume.
func (c *Client) ResumeSession(ctx context.Context, id hodl.SessionID) (*Session, error) {
	return c.session(ctx, "POST", "/v1/sessions/"+segment(id)+"/resume")
}

// ArchiveSession puts a session away and ends its tokens for good:
// POST /v1/sessions/{id}/archive.
func (c *Client) ArchiveSession(ctx context.Context, id hodl.SessionID) (*Session, error) {
	return c.session(ctx, "POST", "/v1/sessions/"+segment(id)+"/archive")
}

// RestoreSession brings an archived session back: POST /v1/sessions/{id}/restore.
func (c *Client) RestoreSession(ctx context.Context, id hodl.SessionID) (*Session, error) {
	return c.session(ctx, "POST", "/v1/sessions/"+segment(id)+"/restore")
}

// DeleteSession erases a session's content and ends its tokens for good:
// DELETE /v1/sessions/{id}.
func (c *Client) DeleteSession(ctx context.Context, id hodl.SessionID) error {
	return c.do(ctx, call{method: "DELETE", path: "/v1/sessions/" + segment(id)}, nil)
}

func (c *Client) session(ctx context.Context, method, path string) (*Session, error) {
	out := &Session{}
	return out, c.do(ctx, call{method: method, path: path}, out)
}
