package client

import (
	"context"
	"time"

	"hodl"
)

// Member is a person in a workspace.
type Member struct {
	User      hodl.UserID `json:"user_id"`
	Name      string      `json:"name"`
	Role      hodl.Role   `json:"role"`
	CreatedAt time.Time   `json:"created_at"`
}

// Invited is a new member and what they trade for their first key, which is shown
// this once.
type Invited struct {
	Member
	Invitation string    `json:"invitation"`
	ExpiresAt  time.Time `json:"invitation_expires_at"`
}

// MemberPage is a page of members. Next is empty at the end of the list.
type MemberPage struct {
	Members []Member `json:"members"`
	Next    string   `json:"next_cursor"`
}

// MemberDraft is what an admin sends to invite somebody.
type MemberDraft struct {
	Name string    `json:"name"`
	Role hodl.Role `json:"role,omitempty"` // member when empty
}

// MemberChange is a partial update: a nil field stays as it is.
type MemberChange struct {
	Name *string    `json:"name,omitempty"`
	Role *hodl.Role `json:"role,omitempty"`
}

// Members lists the members of the workspace: GET /v1/members.
func (c *Client) Members(ctx context.Context, p Page) (*MemberPage, error) {
	out := &MemberPage{}
	return out, c.do(ctx, call{method: "GET", path: "/v1/members", query: p.query()}, out)
}

// AddMember invites a new member, as an admin: POST /v1/members.
func (c *Client) AddMember(ctx context.Context, d MemberDraft) (*Invited, error) {
	out := &Invited{}
	return out, c.do(ctx, call{method: "POST", path: "/v1/members", in: d}, out)
}

// Join trades an invitation, which this client was made with, for a first key:
// POST /v1/members/join.
func (c *Client) Join(ctx context.Context) (*Key, error) {
	return c.key(ctx, call{method: "POST", path: "/v1/members/join"})
}

// Member gets a member: GET /v1/members/{id}.
func (c *Client) Member(ctx context.Context, id hodl.UserID) (*Member, error) {
	out := &Member{}
	return out, c.do(ctx, call{method: "GET", path: "/v1/members/" + segment(id)}, out)
}

// ChangeMember renames a member or changes their role, as an admin:
// PATCH /v1/members/{id}.
func (c *Client) ChangeMember(ctx context.Context, id hodl.UserID, change MemberChange) (*Member, error) {
	out := &Member{}
	return out, c.do(ctx, call{method: "PATCH", path: "/v1/members/" + segment(id), in: change}, out)
}

// RemoveMember ends a membership and with it the member's keys and tokens, as an
// admin: DELETE /v1/members/{id}.
func (c *Client) RemoveMember(ctx context.Context, id hodl.UserID) error {
	return c.do(ctx, call{method: "DELETE", path: "/v1/members/" + segment(id)}, nil)
}
