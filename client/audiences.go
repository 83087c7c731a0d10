package client

import (
	"context"

	"hodl"
)

// AudiencePage is a page of audiences: registered ones, newest first, and behind
// them the built-in ones. Next is empty at the end of the list.
type AudiencePage struct {
	Audiences []hodl.Audience `json:"audiences"`
	Next      string          `json:"next_cursor"`
}

// AddAudience registers an audience: POST /v1/audiences.
func (c *Client) AddAudience(ctx context.Context, d hodl.AudienceDraft) (*hodl.Audience, error) {
	return c.audience(ctx, call{method: "POST", path: "/v1/audiences", in: d})
}

// Audiences lists audiences: GET /v1/audiences.
func (c *Client) Audiences(ctx context.Context, p Page) (*AudiencePage, error) {
	out := &AudiencePage{}
	return out, c.do(ctx, call{method: "GET", path: "/v1/audiences", query: p.query()}, out)
}

// Audience returns an audience: GET /v1/audiences/{id}.
func (c *Client) Audience(ctx context.Context, id hodl.AudienceID) (*hodl.Audience, error) {
	return c.audience(ctx, call{method: "GET", path: "/v1/audiences/" + segment(id)})
}

// ChangeAudience changes what an audience is bound to: PATCH /v1/audiences/{id}.
func (c *Client) ChangeAudience(ctx context.Context, id hodl.AudienceID, change hodl.AudienceChange) (*hodl.Audience, error) {
	return c.audience(ctx, call{method: "PATCH", path: "/v1/audiences/" + segment(id), in: change})
}

// DeleteAudience takes an audience out of the registry: DELETE /v1/audiences/{id}.
func (c *Client) DeleteAudience(ctx context.Context, id hodl.AudienceID) error {
	return c.do(ctx, call{method: "DELETE", path: "/v1/audiences/" + segment(id)}, nil)
}

func (c *Client) audience(ctx context.Context, k call) (*hodl.Audience, error) {
	out := &hodl.Audience{}
	return out, c.do(ctx, k, out)
}
