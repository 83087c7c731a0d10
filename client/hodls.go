package client

import (
	"context"

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

// CaptureHodl captures a hodl: POST /v1/hodls.
func (c *Client) CaptureHodl(ctx context.Context, d hodl.HodlDraft, options ...CallOption) (*Captured, error) {
	out := &Captured{}
	return out, c.do(ctx, call{method: "POST", path: "/v1/hodls", in: d, options: options}, out)
}

// Hodls lists hodls: GET /v1/hodls.
func (c *Client) Hodls(ctx context.Context, p Page) (*HodlPage, error) {
	out := &HodlPage{}
	return out, c.do(ctx, call{method: "GET", path: "/v1/hodls", query: p.query()}, out)
}

// LatestHodl returns the last hodl: GET /v1/hodls/latest.
func (c *Client) LatestHodl(ctx context.Context) (*hodl.Hodl, error) {
	return c.hodl(ctx, call{method: "GET", path: "/v1/hodls/latest"})
}

// Hodl returns a hodl: GET /v1/hodls/{id}.
func (c *Client) Hodl(ctx context.Context, id hodl.HodlID) (*hodl.Hodl, error) {
	return c.hodl(ctx, call{method: "GET", path: "/v1/hodls/" + segment(id)})
}

// ChangeHodl changes the fields that are set: PATCH /v1/hodls/{id}.
func (c *Client) ChangeHodl(ctx context.Context, id hodl.HodlID, change hodl.HodlChange) (*hodl.Hodl, error) {
	return c.hodl(ctx, call{method: "PATCH", path: "/v1/hodls/" + segment(id), in: change})
}

// DeleteHodl deletes a hodl: DELETE /v1/hodls/{id}.
func (c *Client) DeleteHodl(ctx context.Context, id hodl.HodlID) error {
	return c.do(ctx, call{method: "DELETE", path: "/v1/hodls/" + segment(id)}, nil)
}

func (c *Client) hodl(ctx context.Context, k call) (*hodl.Hodl, error) {
	out := &hodl.Hodl{}
	return out, c.do(ctx, k, out)
}
