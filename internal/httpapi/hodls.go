package httpapi

import (
	"context"

	"hodl"
	"hodl/internal/capture"
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
	Body     hodlBody
}

func replyHodl(h *hodl.Hodl, err error) (*hodlReply, error) {
	if err != nil {
		return nil, err
	}
	h.DeepLink = capture.Link(h)
	return &hodlReply{Body: hodlBody{Hodl: *h}}, nil
}

func (s *server) hodlCapture(ctx context.Context, in *struct {
	Body lenient[hodl.HodlDraft]
},
) (*hodlReply, error) {
	d, err := in.Body.get()
	if err != nil {
		return nil, err
	}
	return s.captureHodl(ctx, *d, in.Body.Unknown)
}

func (s *server) captureHodl(ctx context.Context, d hodl.HodlDraft, dropped []string) (*hodlReply, error) {
	out, err := replyHodl(s.Capture.Hodl(ctx, principal(ctx), d))
	if err != nil {
		return nil, err
	}
	out.Location, out.Body.Warnings = "/v1/hodls/"+string(out.Body.ID), dropped
	return out, nil
}

type hodlListReply struct {
	Body struct {
		Hodls []*hodl.Hodl `json:"hodls" doc:"A page of hodls"`
		Next  *string      `json:"next_cursor" doc:"Cursor of the next page; null at the end"`
	}
}

func (s *server) hodlList(ctx context.Context, in *Paging) (*hodlListReply, error) {
	page, err := in.byID()
	if err != nil {
		return nil, err
	}
	p := principal(ctx)
	list, err := s.Store.Hodls(ctx, p.Workspace, p.Mode, p.User, page)
	if err != nil {
		return nil, err
	}
	for _, h := range list {
		h.DeepLink = capture.Link(h)
	}
	out := &hodlListReply{}
	out.Body.Hodls = list
	out.Body.Next = more(list, page.Limit, func(h *hodl.Hodl) string { return encodeCursor(string(h.ID)) })
	return out, nil
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
	list, err := s.Store.Hodls(ctx, p.Workspace, p.Mode, p.User, store.Page{Limit: 1})
	if err == nil && len(list) == 0 {
		err = hodl.Errorf(hodl.NotFound, "there is no hodl yet").WithHint("capture one: POST /v1/hodls")
	}
	if err != nil {
		return nil, err
	}
	return replyHodl(list[0], nil)
}

func (s *server) hodlGet(ctx context.Context, in *HodlPath) (*hodlReply, error) {
	p := principal(ctx)
	return replyHodl(s.Store.Hodl(ctx, p.Workspace, p.Mode, p.User, in.ID))
}

func (s *server) hodlChange(ctx context.Context, in *struct {
	HodlPath
	Body hodl.HodlChange
},
) (*hodlReply, error) {
	return replyHodl(s.Capture.ChangeHodl(ctx, principal(ctx), in.ID, in.Body))
}

type deletedReply struct {
	Body struct {
		Deleted bool   `json:"deleted" doc:"Always true"`
		ID      string `json:"id" doc:"What was deleted"`
	}
}

func replyDeleted(id string, err error) (*deletedReply, error) {
	out := &deletedReply{}
	out.Body.Deleted, out.Body.ID = true, id
	return out, err
}

func (s *server) hodlDelete(ctx context.Context, in *HodlPath) (*deletedReply, error) {
	return replyDeleted(string(in.ID), s.Capture.DeleteHodl(ctx, principal(ctx), in.ID))
}
