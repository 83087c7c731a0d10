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
	Key        string      `json:"key"` // of CreateKey alone; shown this once
	Name       string      `json:"name"`
	Mode       hodl.Mode   `json:"mode"`
	LastFour   string      `json:"last_four"`
	Scopes     []string    `json:"scopes"`
	User       hodl.UserID `json:"user_id"`
	CreatedAt  time.Time   `json:"created_at"`
	LastUsedAt *time.Time  `json:"last_used_at"` // nil when never
	RevokedAt  *time.Time  `json:"revoked_at"`   // nil while it is not
}

// KeyPage is a page of keys. Next is empty at the end of the list.
type KeyPage struct {
	Keys []Key  `json:"api_keys"`
	Next string `json:"next_cursor"`
}

// KeyDraft is what a client sends to make an API key.
type KeyDraft struct {
	Name string    `json:"name"`
	Mode hodl.Mode `json:"mode,omitempty"` // that of the calling key when empty
}

// CreateKey makes an API key: POST /v1/api_keys.
func (c *Client) CreateKey(ctx context.Context, d KeyDraft) (*Key, error) {
	return c.key(ctx, call{method: "POST", path: "/v1/api_keys", in: d})
}

// Keys lists the caller's API keys: GET /v1/api_keys.
func (c *Client) Keys(ctx context.Context, p Page) (*KeyPage, error) {
	out := &KeyPage{}
	return out, c.do(ctx, call{method: "GET", path: "/v1/api_keys", query: p.query()}, out)
}

// RevokeKey ends an API key: POST /v1/api_keys/{id}/revoke.
func (c *Client) RevokeKey(ctx context.Context, id hodl.KeyID) (*Key, error) {
	return c.key(ctx, call{method: "POST", path: "/v1/api_keys/" + segment(id) + "/revoke"})
}

func (c *Client) key(ctx context.Context, k call) (*Key, error) {
	out := &Key{}
	return out, c.do(ctx, k, out)
}
