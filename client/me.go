package client

import (
	"context"
	"net/url"
	"time"

	"hodl"
)

// Me is who a key belongs to.
type Me struct {
	Workspace     hodl.WorkspaceID `json:"workspace_id"`
	WorkspaceName string           `json:"workspace_name"`
	User          hodl.UserID      `json:"user_id"`
	Name          string           `json:"name"`
	KeyID         hodl.KeyID       `json:"key_id"`
	Key           Key              `json:"key"`
	Mode          hodl.Mode        `json:"mode"`
	Role          hodl.Role        `json:"role"`
	Plan          hodl.PlanName    `json:"plan"`
	Scopes        []string         `json:"scopes"`
	Workspaces    []Joined         `json:"workspaces"` // all the person is a member of, newest first
}

// Usage is how many hydrations the workspace made this month, and how fast it may go.
type Usage struct {
	Month      string        `json:"month"` // UTC, as 2026-11
	Mode       hodl.Mode     `json:"mode"`
	Plan       hodl.PlanName `json:"plan"`
	Hydrations int64         `json:"hydrations"`
	Quota      *int64        `json:"quota"` // nil for no bound
	ResetsAt   time.Time     `json:"resets_at"`
	Members    []MemberUsage `json:"members"`     // of UsageByMember alone
	Rates      []Rate        `json:"rate_limits"` // none for no bound
}

// MemberUsage is how many hydrations of a member's sessions there were.
type MemberUsage struct {
	User       hodl.UserID `json:"user_id"`
	Name       string      `json:"name"`
	Hydrations int64       `json:"hydrations"`
}

// Rate is how fast the workspace may go with one kind of request: default for
// requests, captures for those of capture-only keys, mints, hydrations.
type Rate struct {
	Name      string `json:"name"`
	PerSecond int    `json:"per_second"`
	Burst     int    `json:"burst"`
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

// UsageByMember tells the same, and by whose sessions they were, to an admin:
// GET /v1/usage?by=member.
func (c *Client) UsageByMember(ctx context.Context) (*Usage, error) {
	out := &Usage{}
	return out, c.do(ctx, call{method: "GET", path: "/v1/usage", query: url.Values{"by": {"member"}}}, out)
}
