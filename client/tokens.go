package client

import (
	"context"
	"time"

	"hodl"
)

// Minted is a new resume token. The server shows it this once.
type Minted struct {
	Token     string         `json:"token"`
	ID        hodl.TokenID   `json:"jti"`
	ExpiresAt time.Time      `json:"expires_at"`
	Audience  string         `json:"audience"`
	Scopes    []hodl.Scope   `json:"scopes"`
	Session   hodl.SessionID `json:"session_id"`
	Mode      hodl.Mode      `json:"mode"`
}

// Token is what the server keeps of a resume token: never the token.
type Token struct {
	ID              hodl.TokenID   `json:"jti"`
	Session         hodl.SessionID `json:"session_id"`
	Audience        string         `json:"audience"`
	Scopes          []hodl.Scope   `json:"scopes"`
	RedactionPolicy string         `json:"redaction_policy"`
	MaxHydrations   int            `json:"max_hydrations"`
	HydrationsLeft  int            `json:"hydrations_left"`
	Parent          hodl.TokenID   `json:"parent"`   // the token it was exchanged for; "" when a key minted it
	Depth           int            `json:"depth"`    // how many times it was handed on
	Children        int            `json:"children"` // how many tokens were exchanged for it
	Mode            hodl.Mode      `json:"mode"`
	IssuedAt        time.Time      `json:"issued_at"`
	ExpiresAt       time.Time      `json:"expires_at"`
	RevokedAt       *time.Time     `json:"revoked_at"` // nil while it is not
	Reason          string         `json:"reason"`     // why it was revoked
}

// TokenPage is a page of tokens. Next is empty at the end of the list.
type TokenPage struct {
	Tokens []Token `json:"resume_tokens"`
	Next   string  `json:"next_cursor"`
}

// TokenFilter picks tokens.
type TokenFilter struct {
	Page
	Session hodl.SessionID // empty for every session
}

// Revoked tells that a token is revoked, and the reason that stands: the first one
// given.
type Revoked struct {
	ID     hodl.TokenID `json:"jti"`
	Reason string       `json:"reason"`
}

// Mint makes a resume token: POST /v1/resume_tokens.
func (c *Client) Mint(ctx context.Context, d hodl.TokenDraft) (*Minted, error) {
	out := &Minted{}
	return out, c.do(ctx, call{method: "POST", path: "/v1/resume_tokens", in: d}, out)
}

// Tokens lists resume tokens: GET /v1/resume_tokens.
func (c *Client) Tokens(ctx context.Context, f TokenFilter) (*TokenPage, error) {
	out, q := &TokenPage{}, f.query()
	set(q, "session_id", f.Session)
	return out, c.do(ctx, call{method: "GET", path: "/v1/resume_tokens", query: q}, out)
}

// Token returns what is kept of a resume token: GET /v1/resume_tokens/{jti}.
func (c *Client) Token(ctx context.Context, id hodl.TokenID) (*Token, error) {
	out := &Token{}
	return out, c.do(ctx, call{method: "GET", path: "/v1/resume_tokens/" + segment(id)}, out)
}

// Revoke ends a resume token, at once and everywhere:
// POST /v1/resume_tokens/{jti}/revoke. An empty reason is none.
func (c *Client) Revoke(ctx context.Context, id hodl.TokenID, reason string) (*Revoked, error) {
	k := call{method: "POST", path: "/v1/resume_tokens/" + segment(id) + "/revoke"}
	if reason != "" {
		k.in = map[string]string{"reason": reason}
	}
	out := &Revoked{}
	return out, c.do(ctx, k, out)
}
