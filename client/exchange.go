package client

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"hodl"
)

// Introspection tells of a token whether it can be used now, and if the caller may
// know, what it says (RFC 7662).
type Introspection struct {
	Active          bool             `json:"active"`
	Scope           string           `json:"scope"` // separated by spaces
	Type            string           `json:"token_type"`
	Subject         string           `json:"sub"`
	Audience        string           `json:"aud"`
	ID              hodl.TokenID     `json:"jti"`
	IssuedAt        int64            `json:"iat"` // Unix seconds, as the next
	Expires         int64            `json:"exp"`
	Session         hodl.SessionID   `json:"session_id"`
	RedactionPolicy string           `json:"redaction_policy"`
	MaxHydrations   int              `json:"max_hydrations"`
	HydrationsLeft  int              `json:"hydrations_left"`
	Delegator       string           `json:"delegator"`
	Mode            hodl.Mode        `json:"mode"`
	Actor           *hodl.Actor      `json:"act"`
	Confirm         *hodl.Thumbprint `json:"cnf"`
}

// TokensOf names whose tokens to revoke: exactly one of the first four.
type TokensOf struct {
	Session hodl.SessionID `json:"session_id,omitempty"`
	Key     hodl.KeyID     `json:"api_key_id,omitempty"`
	User    hodl.UserID    `json:"user_id,omitempty"`
	All     bool           `json:"all,omitempty"` // of the workspace; for admins only
	Reason  string         `json:"reason,omitempty"`
}

// HandedOff is a token for another principal and the link that tells of it.
type HandedOff struct {
	Minted
	URL string `json:"handoff_url"`
}

// Exchange makes a narrower token from the agent's own, for another audience:
// POST /v1/resume_tokens/exchange. The agent's token carries session:hand_off.
func (a *Agent) Exchange(ctx context.Context, d hodl.ExchangeDraft) (*Minted, error) {
	out := &Minted{}
	return out, a.do(ctx, call{method: "POST", path: "/v1/resume_tokens/exchange", in: d}, out)
}

// Introspect asks whether a token can be used now, and what it says:
// POST /v1/resume_tokens/introspect.
func (c *Client) Introspect(ctx context.Context, token string) (*Introspection, error) {
	out := &Introspection{}
	return out, c.do(ctx, call{method: "POST", path: "/v1/resume_tokens/introspect", in: map[string]string{"token": token}}, out)
}

// RevokeAll ends every token of a session, key, user or workspace that was minted
// before, and what came from them: POST /v1/resume_tokens/revoke.
func (c *Client) RevokeAll(ctx context.Context, of TokensOf) error {
	return c.do(ctx, call{method: "POST", path: "/v1/resume_tokens/revoke", in: of}, nil)
}

// HandOff gives a session to another principal: POST /v1/sessions/{id}/handoff.
// confirmed is when the person said so, at most 300 seconds ago.
func (c *Client) HandOff(ctx context.Context, id hodl.SessionID, confirmed time.Time, d hodl.HandOffDraft) (*HandedOff, error) {
	out := &HandedOff{}
	stepUp := func(h http.Header) { h.Set("X-Unihodl-StepUp", strconv.FormatInt(confirmed.Unix(), 10)) }
	return out, c.do(ctx, call{method: "POST", path: "/v1/sessions/" + segment(id) + "/handoff", in: d, options: []CallOption{stepUp}}, out)
}
