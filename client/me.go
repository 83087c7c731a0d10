package client

import (
	"context"
	"time"

	"hodl"
)

// Me is who a key belongs to.
type Me struct {
	Workspace hodl.WorkspaceID `json:"workspace_id"`
	User      hodl.UserID      `json:"user_id"`
	Key       hodl.KeyID       `json:"key_id"`
	Mode      hodl.Mode        `json:"mode"`
	Role      hodl.Role        `json:"role"`
	Plan      hodl.PlanName    `json:"plan"`
	Scopes    []string         `json:"scopes"`
}

// Usage is how many hydrations the workspace made this month.
type Usage struct {
	Month      string        `json:"month"` // UTC, as 2026-11
	Mode       hodl.Mode     `json:"mode"`
	Plan       hodl.PlanName `json:"plan"`
	Hydrations int64         `json:"hydrations"`
	Quota      *int64        `json:"quota"` // nil for no bound
	ResetsAt   time.Time     `json:"resets_at"`
}

// Me tells who the key belongs to: GET /v1/me.
func (c *Client) Me(ctx context.Context) (*Me, error) {
	out := &Me{}
	return out, c.do(ctx, call{method: "GET", path: "/v1/me"}, out)
}

// Usage tells how many hydrations were made this month: GET /v1/usage.
func (c *Client) Usage(ctx context.Context) (*Usage, error) {
	out := &Usage{}
	return out, c.do(ctx, call{method: "GET", path: "/v1/usage"}, out)
}
