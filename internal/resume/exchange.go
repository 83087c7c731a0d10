package resume

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"hodl"
)

// Exchange makes a narrower token from the one of the call, for another audience
// (RFC 8693). The new one does no more, lives no longer and is good for no more
// hydrations; each of those counts for every token it comes from, and it ends with
// any of them. It refuses as a use of the token does, and with
// [hodl.ValidationFailed], [hodl.InsufficientScope] (a scope the token does not
// carry), [hodl.Forbidden] (read:redacted, or handed on too often) and
// [hodl.Conflict] (too many live tokens came from it). Scopes that are nil stand for
// all that can be handed on but the right to hand on.
func (s *Service) Exchange(ctx context.Context, c Call, d hodl.ExchangeDraft) (*Minted, error) {
	u, err := s.begin(ctx, c, needs(hodl.HandOff))
	if err != nil {
		return nil, s.refuse(ctx, u, err)
	}
	u.Session = u.claims.Session // the path names none
	end, err := s.once(ctx, u)
	if err != nil {
		return nil, s.refuseWrite(ctx, u, err)
	}
	defer end()
	m, err := s.exchange(ctx, u, d)
	return m, s.refuseWrite(ctx, u, err)
}

func (s *Service) exchange(ctx context.Context, u *use, d hodl.ExchangeDraft) (*Minted, error) {
	// What the rows refuse comes first: who holds a dead token learns nothing else.
	a, err := s.admission(ctx, u)
	if err == nil {
		err = u.admit(a)
	}
	if d.Scopes == nil {
		d.Scopes = handable(u.claims)
	}
	if err == nil {
		err = d.Check()
	}
	if err == nil {
		err = u.attenuates(&d)
	}
	if err != nil {
		return nil, err
	}
	confirm, err := s.mintable(ctx, u.rows.Workspace, u.rows.Mode, d.Audience)
	if err != nil {
		return nil, err
	}
	if u.claims.Confirm != nil && confirm == nil {
		return nil, hodl.Invalid("audience", "has no key; a token that is bound to a key is handed on only to an audience that has one")
	}
	if d.RedactionPolicy != "" {
		if err := s.checkPolicy(ctx, u.rows.Workspace, u.rows.Mode, d.RedactionPolicy); err != nil {
			return nil, err
		}
	}
	g := u.child(&d, confirm)
	g.token.ID = hodl.TokenID(s.store.NewID("rt"))
	rec := u.record(hodl.RecordID(s.store.NewID("acr")), hodl.KindExchange)
	rec.JTI, rec.Parent, rec.Scopes, rec.Chain = g.token.ID, u.claims.ID, g.token.Scopes, g.actor.Chain()
	return s.issue(ctx, g, func(t hodl.Token) error {
		return s.store.Exchange(ctx, u.rows, u.admit, t, rec, u.Detail)
	})
}

// attenuates refuses what goes beyond the token of the use.
func (u *use) attenuates(d *hodl.ExchangeDraft) error {
	for i, s := range d.Scopes {
		switch {
		case s == hodl.ReadRedacted:
			return hodl.Errorf(hodl.Forbidden, "the scope %s is never handed on", s).WithHint("leave the scope out; an admin's key mints it")
		case !u.claims.Has(s):
			return hodl.Errorf(hodl.InsufficientScope, "this token does not carry %s (scopes[%d]), so it cannot hand it on", s, i).WithHint("ask for scopes of this token alone")
		}
	}
	if len(u.claims.Actor.Chain()) >= hodl.MaxDepth {
		return hodl.Errorf(hodl.Forbidden, "this token was handed on %d times; it goes no further", hodl.MaxDepth).WithHint("mint a token for that audience with a key")
	}
	left := u.left()
	if left <= 0 {
		return hodl.Errorf(hodl.TokenExpired, "the token ends now").WithHint("ask whoever handed it over for a new one")
	}
	var fields []hodl.FieldError
	if d.TTLSeconds != nil && time.Duration(*d.TTLSeconds)*time.Second > left {
		fields = append(fields, hodl.FieldError{Path: "ttl_seconds", Message: fmt.Sprintf("is %d; the token it comes from ends in %d", *d.TTLSeconds, int(left.Seconds()))})
	}
	if d.MaxHydrations != nil && *d.MaxHydrations > u.claims.MaxHydrations {
		fields = append(fields, hodl.FieldError{Path: "max_hydrations", Message: fmt.Sprintf("is %d; the token it comes from is good for %d", *d.MaxHydrations, u.claims.MaxHydrations)})
	}
	if len(fields) > 0 {
		return hodl.InvalidFields(fields...)
	}
	return nil
}

// left is how long the token of the use lives, in whole seconds from the second of
// the use.
func (u *use) left() time.Duration {
	return time.Unix(u.claims.Expires, 0).Sub(u.rows.At.Truncate(time.Second))
}

// child is what may be made from the token of the use.
func (u *use) child(d *hodl.ExchangeDraft, confirm *hodl.Thumbprint) *grant {
	_, user := u.claims.Owner()
	return &grant{
		token: hodl.Token{
			Workspace: u.rows.Workspace, Mode: u.rows.Mode, Session: u.claims.Session, User: user,
			Audience: d.Audience, Scopes: hodl.SortScopes(d.Scopes), RedactionPolicy: hodl.JoinPolicies(u.claims.RedactionPolicy, d.RedactionPolicy), IssuedAt: u.rows.At,
		},
		ttl: d.TTLSeconds, uses: d.MaxHydrations, mostTTL: u.left(), mostHydrations: u.claims.MaxHydrations,
		delegator: hodl.UserID(u.claims.Delegator), actor: &hodl.Actor{Subject: u.claims.Audience, Actor: u.claims.Actor}, confirm: confirm,
	}
}

// handable is what a token hands on when it is not said: all it may but the right
// to hand on.
func handable(c *hodl.Claims) []hodl.Scope {
	return slices.DeleteFunc(slices.Clone(c.Scopes), func(s hodl.Scope) bool { return s == hodl.ReadRedacted || s == hodl.HandOff })
}

// An Introspection is what is told of a token to whom it concerns (RFC 7662).
type Introspection struct {
	Claims *hodl.Claims
	Left   int // hydrations
}

// Introspect tells whether a token can be used now, and what it says: to a key of
// the token's own user, or an admin's, in its workspace and mode. To all others, and
// of every token that cannot be used, it tells nothing: nil.
func (s *Service) Introspect(ctx context.Context, c Caller, signed string) (*Introspection, error) {
	now := s.store.Now()
	claims, err := s.verifier.Verify(signed, now)
	if err != nil {
		return nil, nil //nolint:nilerr // a token that is not good is not active
	}
	if ws, user := claims.Owner(); ws != c.Workspace || claims.Mode != c.Mode || user != c.User && c.Role != hodl.Admin {
		return nil, nil
	}
	return s.introspect(ctx, useOf(claims, now))
}

// IntrospectOwn is Introspect for the agent a token is for, if the token is bound to
// a key and the call proves possession of it. A call that lacks nothing but a nonce
// is refused with [hodl.InvalidProof].
func (s *Service) IntrospectOwn(ctx context.Context, c Call) (*Introspection, error) {
	u, err := s.begin(ctx, c, nil)
	var refusal *hodl.Error
	switch {
	case err == nil && u.rows.Proof == nil:
		return nil, nil
	case err == nil:
		err = s.spend(ctx, u)
	}
	if errors.As(err, &refusal) && !refusal.NeedsNonce && refusal.Code != hodl.RateLimited && refusal.Code != hodl.Unavailable {
		return nil, nil // to whom it does not concern, it is not active
	}
	if err != nil {
		return nil, err
	}
	return s.introspect(ctx, useOf(u.claims, u.rows.At))
}

func (s *Service) introspect(ctx context.Context, u *use) (*Introspection, error) {
	u.Session, u.scope = u.claims.Session, func(*hodl.Claims) error { return nil }
	a, err := s.store.Admission(ctx, u.rows)
	if err != nil {
		return nil, err
	}
	if err := u.admit(a); err != nil {
		return nil, nil //nolint:nilerr // as above
	}
	left := a.Token.Unused()
	for _, t := range a.Lineage {
		left = min(left, t.Unused())
	}
	return &Introspection{u.claims, left}, nil
}
