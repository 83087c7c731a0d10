package client

import (
	"context"
	"time"

	"hodl"
)

// Workspace is the tenant that a key belongs to.
type Workspace struct {
	ID   hodl.WorkspaceID `json:"workspace_id"`
	Name string           `json:"name"`
	Plan hodl.PlanName    `json:"plan"`

	MaxTTLSeconds    int `json:"max_ttl_seconds"`    // of a resume token
	MaxHydrations    int `json:"max_hydrations"`     // of a resume token
	HydrationsAnHour int `json:"hydrations_an_hour"` // of one session; 0 for no cap

	TokenReceipts bool `json:"token_receipts"` // whether resume tokens get receipts

	CreatedAt time.Time `json:"created_at"`
}

// Founded is a new workspace and its first key, which is shown this once.
type Founded struct {
	Workspace
	Key Key `json:"api_key"`
}

// Joined is a workspace that a person is a member of.
type Joined struct {
	ID   hodl.WorkspaceID `json:"workspace_id"`
	Name string           `json:"name"`
	Role hodl.Role        `json:"role"`
}

// WorkspacePage is a page of workspaces. Next is empty at the end of the list.
type WorkspacePage struct {
	Workspaces []Joined `json:"workspaces"`
	Next       string   `json:"next_cursor"`
}

// WorkspaceChange is a partial update: a nil field stays as it is.
type WorkspaceChange struct {
	Name *string `json:"name,omitempty"`

	MaxTTLSeconds    *int `json:"max_ttl_seconds,omitempty"`
	MaxHydrations    *int `json:"max_hydrations,omitempty"`
	HydrationsAnHour *int `json:"hydrations_an_hour,omitempty"`

	TokenReceipts *bool `json:"token_receipts,omitempty"`
}

// Workspaces lists the workspaces the caller is a member of: GET /v1/workspaces.
// Page.Since counts for nothing.
func (c *Client) Workspaces(ctx context.Context, p Page) (*WorkspacePage, error) {
	q, out := p.query(), &WorkspacePage{}
	q.Del("since")
	return out, c.do(ctx, call{method: "GET", path: "/v1/workspaces", query: q}, out)
}

// CreateWorkspace makes a workspace of the caller's own, as an admin:
// POST /v1/workspaces.
func (c *Client) CreateWorkspace(ctx context.Context, name string) (*Founded, error) {
	out := &Founded{}
	return out, c.do(ctx, call{method: "POST", path: "/v1/workspaces", in: map[string]string{"name": name}}, out)
}

// Workspace gets the key's workspace: GET /v1/workspaces/{id}.
func (c *Client) Workspace(ctx context.Context, id hodl.WorkspaceID) (*Workspace, error) {
	out := &Workspace{}
	return out, c.do(ctx, call{method: "GET", path: "/v1/workspaces/" + segment(id)}, out)
}

// ChangeWorkspace changes the key's workspace, as an admin:
// PATCH /v1/workspaces/{id}.
func (c *Client) ChangeWorkspace(ctx context.Context, id hodl.WorkspaceID, change WorkspaceChange) (*Workspace, error) {
	out := &Workspace{}
	return out, c.do(ctx, call{method: "PATCH", path: "/v1/workspaces/" + segment(id), in: change}, out)
}
