package httpapi

import (
	"context"
	"slices"
	"time"

	"hodl"
	"hodl/internal/capture"
	"hodl/internal/store"
)

type SessionPath struct {
	ID string `path:"id" doc:"The session's id" example:"ses_8f3aZ91b"`
}

// parse refuses an id that cannot be one, as what it is: not there.
func (p *SessionPath) parse() (hodl.SessionID, error) {
	id, err := hodl.ParseSessionID(p.ID)
	if err != nil {
		return "", hodl.Errorf(hodl.NotFound, "no session %.80q", p.ID).WithHint(`a session id is "ses_" followed by 1 to 64 letters and digits`)
	}
	return id, nil
}

// sessionBody is a session's metadata: no content.
type sessionBody struct {
	ID          hodl.SessionID   `json:"session_id" doc:"The session"`
	Workspace   hodl.WorkspaceID `json:"workspace_id" doc:"The workspace it belongs to"`
	Title       string           `json:"title" doc:"Its title"`
	Summary     *string          `json:"summary" doc:"Its summary; null when it has none"`
	CapturedAt  time.Time        `json:"captured_at" doc:"When the current version was captured (RFC 3339, UTC)"`
	Tags        []string         `json:"ai_tags" doc:"Its labels"`
	Hydrations  int64            `json:"total_hydrations" doc:"How often agents received it"`
	State       hodl.State       `json:"state" enum:"open,held,resumed,handed_off,archived" doc:"Where it stands"`
	Fingerprint string           `json:"fingerprint" doc:"Names the current version"`
}

type sessionReply struct {
	ETag string `header:"ETag" doc:"The fingerprint"`
	Body sessionBody
}

func replySession(s *hodl.Session) *sessionReply {
	return &sessionReply{etag(s.Fingerprint), sessionBody{
		s.ID, s.Workspace, s.Title, orNull(s.Summary), s.CapturedAt, s.Tags, s.Hydrations, s.State, s.Fingerprint,
	}}
}

// orNull is null for empty text, where a published client tells the two apart.
func orNull[S ~string](s S) *S {
	if s == "" {
		return nil
	}
	return &s
}

type capturedBody struct {
	ID          hodl.SessionID `json:"session_id" doc:"The session"`
	Fingerprint string         `json:"fingerprint" doc:"Names the version that was captured"`
	CapturedAt  time.Time      `json:"captured_at" doc:"When that version was captured (RFC 3339, UTC)"`
	Warnings    []string       `json:"warnings,omitempty" doc:"What was dropped of the request, and why"`
}

type capturedReply struct {
	Location string `header:"Location" doc:"Path of the session"`
	ETag     string `header:"ETag" doc:"The fingerprint"`
	Body     capturedBody
}

func replySessionCaptured(dropped []string) func(*capture.Captured) *capturedReply {
	return func(got *capture.Captured) *capturedReply {
		return &capturedReply{
			"/v1/sessions/" + string(got.ID), etag(got.Fingerprint),
			capturedBody{got.ID, got.Fingerprint, got.CapturedAt, slices.Concat(dropped, got.Warnings)},
		}
	}
}

func (s *server) capture(ctx context.Context, d hodl.SessionDraft, match string) (*capturedReply, error) {
	c := capture.SessionCapture{Draft: d, IfMatch: entityTag(match)}
	return answer(ctx, replySessionCaptured(nil))(s.Capture.Session(ctx, principal(ctx), c))
}

type IfMatchHeader struct {
	IfMatch string `header:"If-Match" doc:"Write only if the session still stands at this fingerprint"`
}

func (s *server) sessionCapture(ctx context.Context, in *struct {
	IfMatchHeader
	Body hodl.SessionDraft
},
) (*capturedReply, error) {
	return s.capture(ctx, in.Body, in.IfMatch)
}

func (s *server) sessionPut(ctx context.Context, in *struct {
	SessionPath
	IfMatchHeader
	Body hodl.SessionDraft
},
) (*capturedReply, error) {
	if in.Body.ID != "" && in.Body.ID != in.ID {
		return nil, hodl.Invalid("session_id", "differs from the id in the path")
	}
	in.Body.ID = in.ID
	return s.capture(ctx, in.Body, in.IfMatch)
}

type sessionListReply struct {
	Body struct {
		Sessions []sessionItem `json:"sessions" doc:"A page of sessions"`
		Next     *string       `json:"next_cursor" doc:"Cursor of the next page; null at the end"`
	}
}

type sessionItem struct {
	ID         hodl.SessionID `json:"session_id" doc:"The session"`
	Title      string         `json:"title" doc:"Its title"`
	Summary    *string        `json:"summary" doc:"Its summary; null when it has none"`
	CapturedAt time.Time      `json:"captured_at" doc:"When the current version was captured (RFC 3339, UTC)"`
	Tags       []string       `json:"ai_tags" doc:"Its labels"`
}

func (s *server) sessionList(ctx context.Context, in *Paging) (*sessionListReply, error) {
	page, err := in.byTime()
	if err != nil {
		return nil, err
	}
	p := principal(ctx)
	list, err := s.Store.Sessions(ctx, p.Workspace, p.Mode, p.User, page)
	if err != nil {
		return nil, err
	}
	out := &sessionListReply{}
	for _, x := range list {
		out.Body.Sessions = append(out.Body.Sessions, sessionItem{x.ID, x.Title, orNull(x.Summary), x.CapturedAt, x.Tags})
	}
	out.Body.Next = more(list, page.Limit, func(x *hodl.Session) string { return encodeCursor(encodeTime(x.CapturedAt), string(x.ID)) })
	return out, nil
}

// byTime is a page of a list that is ordered by a time and then by id.
func (p *Paging) byTime() (store.Page, error) {
	since, err := p.since()
	page := store.Page{Limit: p.limit(), Since: since}
	if err != nil || p.Cursor == "" {
		return page, err
	}
	parts, err := decodeCursor(p.Cursor, 2)
	if err != nil {
		return page, err
	}
	page.BeforeTime, err = decodeTime(parts[0])
	page.BeforeID = parts[1]
	return page, err
}

func (s *server) own(ctx context.Context, in *SessionPath) (*hodl.Session, error) {
	id, err := in.parse()
	if err != nil {
		return nil, err
	}
	p := principal(ctx)
	return s.Store.Session(ctx, p.Workspace, p.Mode, p.User, id)
}

func (s *server) sessionGet(ctx context.Context, in *SessionPath) (*sessionReply, error) {
	return answer(ctx, replySession)(s.own(ctx, in))
}

// contentBody is what a person gets of their own session: all of it.
type contentBody struct {
	ID          hodl.SessionID `json:"session_id" doc:"The session"`
	Fingerprint string         `json:"fingerprint" doc:"Names the version"`
	hodl.Content
}

type contentReply struct {
	ETag string `header:"ETag" doc:"The fingerprint"`
	Body contentBody
}

func (s *server) sessionContent(ctx context.Context, in *SessionPath) (*contentReply, error) {
	x, err := s.own(ctx, in)
	if err != nil {
		return nil, err
	}
	return s.content(ctx, x, x.Fingerprint)
}

func (s *server) content(ctx context.Context, x *hodl.Session, fingerprint string) (*contentReply, error) {
	body, err := s.Store.Version(ctx, x.Workspace, x.Mode, x.ID, fingerprint)
	if err != nil {
		return nil, err
	}
	return &contentReply{etag(fingerprint), contentBody{x.ID, fingerprint, body.Content}}, nil
}

func (s *server) sessionFork(ctx context.Context, in *struct {
	SessionPath
	Body *hodl.ForkDraft
},
) (*capturedReply, error) {
	id, err := in.parse()
	if err != nil {
		return nil, err
	}
	draft := hodl.ForkDraft{}
	if in.Body != nil {
		draft = *in.Body
	}
	return answer(ctx, replySessionCaptured(nil))(s.Capture.Fork(ctx, principal(ctx), id, draft))
}

func (s *server) sessionMove(o hodl.Operation) func(context.Context, *SessionPath) (*sessionReply, error) {
	return func(ctx context.Context, in *SessionPath) (*sessionReply, error) {
		id, err := in.parse()
		if err != nil {
			return nil, err
		}
		c := capture.Caller{Principal: principal(ctx), Detail: detail(ctx)}
		return answer(ctx, replySession)(s.Capture.Move(ctx, c, id, o))
	}
}

func (s *server) sessionDelete(ctx context.Context, in *SessionPath) (*deletedReply, error) {
	id, err := in.parse()
	if err != nil {
		return nil, err
	}
	return answer(ctx, replyDeleted(in.ID))(done(s.Capture.Delete(ctx, capture.Caller{Principal: principal(ctx), Detail: detail(ctx)}, id)))
}
