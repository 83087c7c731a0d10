package client

import (
	"context"
	"net/url"
	"time"

	"hodl"
)

// Captured is a hodl as it was captured, and what the server dropped of the draft.
type Captured struct {
	hodl.Hodl
	Warnings []string `json:"warnings"`
}

// HodlPage is a page of hodls. Next is empty at the end of the list.
type HodlPage struct {
	Hodls []hodl.Hodl `json:"hodls"`
	Next  string      `json:"next_cursor"`
}

// HodlQuery says which hodls are wanted, all of it at once.
type HodlQuery struct {
	Page
	Q       string // words, "phrases", -not, or, tag: and more: docs/search.md
	Tag     string
	Source  hodl.Source
	Session hodl.SessionID
	Until   time.Time // only what came before it; zero for all
}

func (h HodlQuery) query() url.Values {
	q := h.Page.query()
	set(q, "q", h.Q)
	set(q, "tag", h.Tag)
	set(q, "source", h.Source)
	set(q, "session_id", h.Session)
	setTime(q, "until", h.Until)
	return q
}

// HodlResult is what became of one hodl of a batch: it, or why not.
type HodlResult struct {
	Status int        `json:"status"` // that it would have got by itself
	Hodl   *hodl.Hodl `json:"hodl"`
	Error  *struct {
		Code    hodl.Code         `json:"code"`
		Message string            `json:"message"`
		Hint    string            `json:"hint"`
		Fields  []hodl.FieldError `json:"fields"`
	} `json:"error"`
}

// Err is why the hodl was not captured, nil when it was.
func (r *HodlResult) Err() error {
	if e := r.Error; e != nil {
		return &hodl.Error{Code: e.Code, Message: e.Message, Hint: e.Hint, Fields: e.Fields}
	}
	return nil
}

// Known tells whether a page is known already.
type Known struct {
	Known bool        `json:"known"`
	URL   string      `json:"url"` // the form of the address that was compared
	Hodls []hodl.Hodl `json:"hodls"`
}

// Opening says how a person wants a place in a file to be opened.
type Opening struct {
	Editor string `json:"editor,omitempty"` // vscode when empty
	Root   string `json:"root,omitempty"`   // the folder of the repository on this machine
}

// Resumed is a hodl and what opens it at its place.
type Resumed struct {
	DeepLink string    `json:"deep_link"`
	Hodl     hodl.Hodl `json:"hodl"`
}

// CaptureHodl captures a hodl: POST /v1/hodls.
func (c *Client) CaptureHodl(ctx context.Context, d hodl.HodlDraft, options ...CallOption) (*Captured, error) {
	out := &Captured{}
	return out, c.do(ctx, call{method: "POST", path: "/v1/hodls", in: d, options: options}, out)
}

// CaptureHodls captures up to 1,000 hodls, each for itself: POST /v1/hodls/batch.
// The results stand in the order of the drafts.
func (c *Client) CaptureHodls(ctx context.Context, drafts []hodl.HodlDraft, options ...CallOption) ([]HodlResult, error) {
	in := struct {
		Hodls []hodl.HodlDraft `json:"hodls"`
	}{drafts}
	var out struct {
		Results []HodlResult `json:"results"`
	}
	err := c.do(ctx, call{method: "POST", path: "/v1/hodls/batch", in: in, options: options}, &out)
	return out.Results, err
}

// Hodls lists hodls, newest first: GET /v1/hodls.
func (c *Client) Hodls(ctx context.Context, p Page) (*HodlPage, error) {
	return c.SearchHodls(ctx, HodlQuery{Page: p})
}

// SearchHodls finds hodls, newest first: GET /v1/hodls?q=….
func (c *Client) SearchHodls(ctx context.Context, q HodlQuery) (*HodlPage, error) {
	out := &HodlPage{}
	return out, c.do(ctx, call{method: "GET", path: "/v1/hodls", query: q.query()}, out)
}

// LatestHodl returns the last hodl: GET /v1/hodls/latest.
func (c *Client) LatestHodl(ctx context.Context) (*hodl.Hodl, error) {
	return c.hodl(ctx, call{method: "GET", path: "/v1/hodls/latest"})
}

// CheckHodl tells whether a page is known already: GET /v1/hodls/check.
func (c *Client) CheckHodl(ctx context.Context, address string) (*Known, error) {
	out := &Known{}
	return out, c.do(ctx, call{method: "GET", path: "/v1/hodls/check", query: url.Values{"url": {address}}}, out)
}

// Hodl returns a hodl: GET /v1/hodls/{id}.
func (c *Client) Hodl(ctx context.Context, id hodl.HodlID) (*hodl.Hodl, error) {
	return c.hodl(ctx, call{method: "GET", path: "/v1/hodls/" + segment(id)})
}

// ChangeHodl changes the fields that are set: PATCH /v1/hodls/{id}. With [IfMatch]
// and [hodl.Hodl.Revision] it does so only while the hodl is still what was read.
func (c *Client) ChangeHodl(ctx context.Context, id hodl.HodlID, change hodl.HodlChange, options ...CallOption) (*hodl.Hodl, error) {
	return c.hodl(ctx, call{method: "PATCH", path: "/v1/hodls/" + segment(id), in: change, options: options})
}

// DeleteHodl deletes a hodl, restorable for thirty days: DELETE /v1/hodls/{id}.
func (c *Client) DeleteHodl(ctx context.Context, id hodl.HodlID, options ...CallOption) error {
	return c.do(ctx, call{method: "DELETE", path: "/v1/hodls/" + segment(id), options: options}, nil)
}

// RestoreHodl takes the deletion of a hodl back: POST /v1/hodls/{id}/restore.
func (c *Client) RestoreHodl(ctx context.Context, id hodl.HodlID) (*hodl.Hodl, error) {
	return c.hodl(ctx, call{method: "POST", path: "/v1/hodls/" + segment(id) + "/restore"})
}

// ResumeHodl returns what opens a hodl at its place: POST /v1/hodls/{id}/resume.
func (c *Client) ResumeHodl(ctx context.Context, id hodl.HodlID, o Opening) (*Resumed, error) {
	out := &Resumed{}
	return out, c.do(ctx, call{method: "POST", path: "/v1/hodls/" + segment(id) + "/resume", in: o}, out)
}

func (c *Client) hodl(ctx context.Context, k call) (*hodl.Hodl, error) {
	out := &hodl.Hodl{}
	return out, c.do(ctx, k, out)
}
