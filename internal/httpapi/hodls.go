package httpapi

import (
	"context"

	"hodl"
	"hodl/internal/capture"
	"hodl/internal/query"
	"hodl/internal/store"
)

type HodlPath struct {
	ID hodl.HodlID `path:"id" doc:"The hodl's id"`
}

// hodlBody is a hodl with what was dropped of the request that made it.
type hodlBody struct {
	hodl.Hodl
	Warnings []string `json:"warnings,omitempty" doc:"What was dropped of the request, and why"`
}

type hodlReply struct {
	Location string `header:"Location" doc:"Path of a new hodl"`
	ETag     string `header:"ETag" doc:"Names the state of the hodl, for If-Match"`
	Body     hodlBody
}

func replyHodl(h *hodl.Hodl) *hodlReply {
	h.DeepLink = capture.Link(h)
	return &hodlReply{ETag: etag(h.Revision()), Body: hodlBody{Hodl: *h}}
}

// replyCaptured is the reply to a capture that dropped something of its request.
func replyCaptured(dropped []string) func(*hodl.Hodl) *hodlReply {
	return func(h *hodl.Hodl) *hodlReply {
		out := replyHodl(h)
		out.Location, out.Body.Warnings = "/v1/hodls/"+string(h.ID), dropped
		return out
	}
}

func (s *server) hodlCapture(ctx context.Context, in *struct {
	Body lenient[hodl.HodlDraft]
},
) (*hodlReply, error) {
	d, err := in.Body.get()
	if err != nil {
		return nil, err
	}
	return answer(ctx, replyCaptured(in.Body.Unknown))(s.Capture.Hodl(ctx, principal(ctx), *d))
}

type hodlListReply struct {
	Body struct {
		Hodls []*hodl.Hodl `json:"hodls" doc:"A page of hodls"`
		Next  *string      `json:"next_cursor" doc:"Cursor of the next page; null at the end"`
	}
}

type HodlQuery struct {
	Paging
	Q       string         `query:"q" doc:"What to look for: words, \"phrases\", -not, or, tag: source: repo: file: url: is: after: before: (docs/search.md); at most 1 KiB"`
	Tag     string         `query:"tag" doc:"Only hodls with this tag, whatever its case and accents"`
	Source  hodl.Source    `query:"source" enum:"editor,browser,node,python,rest,mcp,cli" doc:"Only hodls from this kind of client"`
	Session hodl.SessionID `query:"session_id" doc:"Only hodls of this session"`
	Until   string         `query:"until" doc:"Only what came before this time (RFC 3339)"`
}

// filter is what the parameters ask for, all of it at once.
func (in *HodlQuery) filter(p *hodl.Principal) (f store.HodlFilter, err error) {
	f = store.HodlFilter{Workspace: p.Workspace, Mode: p.Mode, User: p.User, Session: in.Session, Limit: in.limit()}
	q, err := query.Parse(in.Q)
	if err != nil {
		return f, err
	}
	if f.Query = *q; in.Tag != "" {
		f.Query.And(query.TagKey(in.Tag))
	}
	if in.Source != "" {
		f.Query.And(query.SourceKey(in.Source))
	}
	if f.Since, err = in.since(); err != nil {
		return f, err
	}
	if f.Until, err = parseTime("until", in.Until); err != nil || in.Cursor == "" {
		return f, err
	}
	parts, err := decodeCursor(in.Cursor, 1)
	if err == nil {
		f.Before = hodl.HodlID(parts[0])
	}
	return f, err
}

func (s *server) hodlList(ctx context.Context, in *HodlQuery) (*hodlListReply, error) {
	f, err := in.filter(principal(ctx))
	if err != nil {
		return nil, err
	}
	list, err := s.Store.Hodls(ctx, f)
	if err != nil {
		return nil, err
	}
	out := &hodlListReply{}
	out.Body.Hodls = withLinks(list)
	out.Body.Next = more(list, f.Limit, func(h *hodl.Hodl) string { return encodeCursor(string(h.ID)) })
	return out, nil
}

func withLinks(list []*hodl.Hodl) []*hodl.Hodl {
	for _, h := range list {
		h.DeepLink = capture.Link(h)
	}
	return list
}

// byID is a page of a list that is ordered by id.
func (p *Paging) byID() (store.Page, error) {
	since, err := p.since()
	page := store.Page{Limit: p.limit(), Since: since}
	if err != nil || p.Cursor == "" {
		return page, err
	}
	parts, err := decodeCursor(p.Cursor, 1)
	if err == nil {
		page.BeforeID = parts[0]
	}
	return page, err
}

func (s *server) hodlLatest(ctx context.Context, _ *struct{}) (*hodlReply, error) {
	p := principal(ctx)
	list, err := s.Store.Hodls(ctx, store.HodlFilter{Workspace: p.Workspace, Mode: p.Mode, User: p.User, Limit: 1})
	if err == nil && len(list) == 0 {
		err = hodl.Errorf(hodl.NotFound, "there is no hodl yet").WithHint("capture one: POST /v1/hodls")
	}
	if err != nil {
		return nil, err
	}
	return replyHodl(list[0]), nil
}

func (s *server) hodlGet(ctx context.Context, in *HodlPath) (*hodlReply, error) {
	p := principal(ctx)
	return answer(ctx, replyHodl)(s.Store.Hodl(ctx, p.Workspace, p.Mode, p.User, in.ID))
}

func (s *server) hodlChange(ctx context.Context, in *struct {
	HodlPath
	HodlMatch
	Body hodl.HodlChange
},
) (*hodlReply, error) {
	return answer(ctx, replyHodl)(s.Capture.ChangeHodl(ctx, principal(ctx), in.ID, in.Body, ifMatch(in.IfMatch)))
}

type HodlMatch struct {
	IfMatch string `header:"If-Match" doc:"Write only if the hodl is still what this ETag names"`
}

type deletedReply struct {
	Body struct {
		Deleted bool   `json:"deleted" doc:"Always true"`
		ID      string `json:"id" doc:"What was deleted"`
	}
}

func replyDeleted(id string) func(nothing) *deletedReply {
	return func(nothing) *deletedReply {
		out := &deletedReply{}
		out.Body.Deleted, out.Body.ID = true, id
		return out
	}
}

func (s *server) hodlDelete(ctx context.Context, in *struct {
	HodlPath
	HodlMatch
},
) (*deletedReply, error) {
	return answer(ctx, replyDeleted(string(in.ID)))(done(s.Capture.DeleteHodl(ctx, principal(ctx), in.ID, ifMatch(in.IfMatch))))
}

func (s *server) hodlRestore(ctx context.Context, in *HodlPath) (*hodlReply, error) {
	return answer(ctx, replyHodl)(s.Capture.RestoreHodl(ctx, principal(ctx), in.ID))
}
