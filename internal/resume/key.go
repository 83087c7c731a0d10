package resume

import (
	"context"
	"time"

	"hodl"
	"hodl/internal/redact"
	"hodl/internal/store"
)

// Local is the audience of an agent that speaks MCP with a program on the person's
// own machine.
const Local = "mcp:local"

// keyScopes is what an agent receives that comes with a person's key: never what a
// policy would strip.
var keyScopes = []hodl.Scope{hodl.ReadContext, hodl.ReadReasoning}

// Present makes the checks of a call that come before the rows, and returns the call
// as one that need not make them again: the proof it came with is used up. A refusal
// is recorded as that of any use.
// Whether a token was revoked is seen by what is done with it.
func (s *Service) Present(ctx context.Context, c Call) (Call, *hodl.Claims, error) {
	u, err := s.begin(ctx, c, func(*hodl.Claims) error { return nil })
	if err == nil {
		err = s.spend(ctx, u)
	}
	if err != nil {
		return c, nil, s.refuse(ctx, u, err)
	}
	if c.Key == nil {
		c.claims = u.claims
	}
	return c, u.claims, nil
}

// Standing tells where the session of a call stands, whether or not it may be
// hydrated: its fingerprint changes with its content. It makes every check of a use
// and leaves no record, but of a refusal.
func (s *Service) Standing(ctx context.Context, c Call) (store.SessionState, error) {
	u, err := s.begin(ctx, c, func(*hodl.Claims) error { return nil })
	if err != nil {
		return store.SessionState{}, s.refuse(ctx, u, err)
	}
	a, err := s.store.Admission(ctx, u.rows)
	if err == nil {
		err = u.admit(a)
	}
	if err != nil {
		return store.SessionState{}, s.refuse(ctx, u, err)
	}
	return *a.Session, nil
}

// byKey is the use of a person's key by an agent. A key is for people and opens
// nothing but the MCP door, as the audience of that door.
func (s *Service) byKey(c Call, now time.Time) (*use, error) {
	audience := c.Audience
	if audience == "" {
		audience = s.options.Resource
	}
	u := useOf(&hodl.Claims{
		Subject: string(c.Key.Workspace) + ":" + string(c.Key.User), Audience: audience, Mode: c.Key.Mode,
		Scopes: keyScopes, Session: c.Session, RedactionPolicy: redact.Off,
	}, now)
	u.Call = c
	if c.Surface != MCP || audience != s.options.Resource && audience != Local {
		return u, hodl.Errorf(hodl.AudienceMismatch, "an API key is not for %s", audience).WithHint("leave Hodl-Audience out, or mint a token for that audience")
	}
	if err := u.may("sessions:read"); err != nil {
		return u, err
	}
	return u, s.slow(u, c.Key.Plan)
}

func (u *use) may(scope string) error {
	if u.Key.May(scope) {
		return nil
	}
	return hodl.Errorf(hodl.InsufficientScope, "this key does not carry %s", scope).WithHint("use a key with that scope")
}

// asWriter makes the use of a key one that writes. What an agent writes so is the
// agent's, as with a token.
func (u *use) asWriter(scope hodl.Scope) error {
	if u.Key == nil {
		return nil
	}
	u.claims.Scopes = []hodl.Scope{scope}
	return u.may("sessions:write")
}

// credential names what the use was made with.
func (u *use) credential() string {
	if u.Key != nil {
		return string(u.Key.Key)
	}
	return string(u.claims.ID)
}
