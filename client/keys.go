package client

import (
	"context"
	"time"

	"hodl"
)

// Key is what the server keeps of an API key, and the key itself right after it
// was made.
type Key struct {
	ID         hodl.KeyID  `json:"id"`
	Key        string      `json:"key"` // of CreateKey and RotateKey alone; shown this once
	Name       string      `json:"name"`
	Mode       hodl.Mode   `json:"mode"`
	LastFour   string      `json:"last_four"`
	Scopes     []string    `json:"scopes"`
	Addresses  []string    `json:"addresses"` // CIDR ranges; empty for anywhere
	Origins    []string    `json:"origins"`   // of pages that may use it; empty for none
	User       hodl.UserID `json:"user_id"`
	CreatedAt  time.Time   `json:"created_at"`
	ExpiresAt  *time.Time  `json:"expires_at"`   // nil for never
	LastUsedAt *time.Time  `json:"last_used_at"` // nil when never
	RevokedAt  *time.Time  `json:"revoked_at"`   // nil while it is not
	ReplacedBy hodl.KeyID  `json:"replaced_by"`
}

// KeyPage is a page of keys. Next is empty at the end of the list.
type KeyPage struct {
	Keys []Key  `json:"api_keys"`
	Next string `json:"next_cursor"`
}

// KeyQuery picks keys. The zero value is the first page of one's own.
type KeyQuery struct {
	Page
	Status string // active, expired or revoked
	Mode   hodl.Mode
	User   string // with an admin's key: a user id, or all
}

// CreateKey makes an API key, no wider than the one it is made with:
// POST /v1/api_keys.
func (c *Client) CreateKey(ctx context.Context, d hodl.KeyDraft) (*Key, error) {
	return c.key(ctx, call{method: "POST", path: "/v1/api_keys", in: d})
}

// Keys lists API keys: GET /v1/api_keys.
func (c *Client) Keys(ctx context.Context, k KeyQuery) (*KeyPage, error) {
	q := k.query()
	set(q, "status", k.Status)
	set(q, "mode", k.Mode)
	set(q, "user", k.User)
	out := &KeyPage{}
	return out, c.do(ctx, call{method: "GET", path: "/v1/api_keys", query: q}, out)
}

// Key gets what is kept of an API key: GET /v1/api_keys/{id}.
func (c *Client) Key(ctx context.Context, id hodl.KeyID) (*Key, error) {
	return c.key(ctx, call{method: "GET", path: "/v1/api_keys/" + segment(id)})
}

// ChangeKey renames an API key, or bounds it anew: PATCH /v1/api_keys/{id}.
func (c *Client) ChangeKey(ctx context.Context, id hodl.KeyID, change hodl.KeyChange) (*Key, error) {
	return c.key(ctx, call{method: "PATCH", path: "/v1/api_keys/" + segment(id), in: change})
}

// RotateKey makes the key that takes the place of another, which ends after an
// overlap of whole seconds: POST /v1/api_keys/{id}/rotate.
func (c *Client) RotateKey(ctx context.Context, id hodl.KeyID, overlap time.Duration) (*Key, error) {
	in := map[string]int{"overlap_seconds": int(overlap / time.Second)}
	return c.key(ctx, call{method: "POST", path: "/v1/api_keys/" + segment(id) + "/rotate", in: in})
}

// RevokeKey ends an API key: POST /v1/api_keys/{id}/revoke.
func (c *Client) RevokeKey(ctx context.Context, id hodl.KeyID) (*Key, error) {
	return c.key(ctx, call{method: "POST", path: "/v1/api_keys/" + segment(id) + "/revoke"})
}

func (c *Client) key(ctx context.Context, k call) (*Key, error) {
	out := &Key{}
	return out, c.do(ctx, k, out)
}
