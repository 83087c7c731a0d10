package resume

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"time"

	"hodl"
	"hodl/internal/redact"
	"hodl/internal/store"
)

// Caller is who mints or revokes, and from where.
type Caller struct {
	*hodl.Principal
	Detail hodl.RecordDetail
}

// A Minted token, and the only sight of it there is.
type Minted struct {
	hodl.Token
	Signed string
	Type   string // how it is presented: Bearer or DPoP
	Link   string // of a hand-off: id of the link that tells the person of it; single-use, no token is in it
}

// Mint makes a token for a session of the caller's own. It refuses with
// [hodl.ValidationFailed], [hodl.NotFound], [hodl.Forbidden] and
// [hodl.InvalidTransition] (an archived session).
func (s *Service) Mint(ctx context.Context, c Caller, d hodl.TokenDraft) (*Minted, error) {
	confirm, err := s.checkDraft(ctx, c, &d)
	if err != nil {
		return nil, err
	}
	return s.mint(ctx, c, s.grant(c, d, confirm), hodl.KindMint, nil)
}

// A grant is a token to be: what was asked for, and what bounds it beside the
// limits of the workspace.
type grant struct {
	token          hodl.Token
	ttl, uses      *int // as asked for; nil when it was left open
	mostTTL        time.Duration
	mostHydrations int
	delegator      hodl.UserID
	actor          *hodl.Actor
	confirm        *hodl.Thumbprint
	link           string
}

// grant is what a key's draft asks for.
func (s *Service) grant(c Caller, d hodl.TokenDraft, confirm *hodl.Thumbprint) *grant {
	return &grant{
		token: hodl.Token{
			ID: hodl.TokenID(s.store.NewID("rt")), Workspace: c.Workspace, Mode: c.Mode, Session: d.Session, User: c.User, Key: c.Key,
			Audience: d.Audience, Scopes: hodl.SortScopes(d.Scopes), RedactionPolicy: d.RedactionPolicy, IssuedAt: s.store.Now(),
		},
		ttl: d.TTLSeconds, uses: d.MaxHydrations, mostTTL: hodl.MaxTTL, mostHydrations: hodl.MaxHydrations, confirm: confirm,
	}
}

// within is the token, with what was left open brought within the limits. Claims
// count whole seconds: it ends when its claim says.
func (g *grant) within(l hodl.TokenLimits) hodl.Token {
	t := g.token
	ttl := time.Duration(valueOr(g.ttl, int(min(hodl.DefaultTTL, l.TTL, g.mostTTL).Seconds()))) * time.Second
	t.MaxHydrations = valueOr(g.uses, min(hodl.DefaultHydrations, l.MaxHydrations, g.mostHydrations))
	t.ExpiresAt = t.IssuedAt.Truncate(time.Second).Add(ttl)
	return t
}

// mint makes the token of a grant by the caller's key.
func (s *Service) mint(ctx context.Context, c Caller, g *grant, kind hodl.RecordKind, up *hodl.StepUp) (*Minted, error) {
	rec := &hodl.Record{
		ID: hodl.RecordID(s.store.NewID("acr")), Kind: kind, At: g.token.IssuedAt, Actor: string(c.Key), JTI: g.token.ID,
		Workspace: c.Workspace, Mode: c.Mode, User: c.User, Session: g.token.Session, Scopes: g.token.Scopes, StepUp: up,
	}
	return s.issue(ctx, g, func(t hodl.Token) error { return s.store.Mint(ctx, t, rec, c.Detail) })
}

// issue signs the token of a grant and has it kept. The limits of the workspace are
// a guess that the commit checks, like where a session stands.
func (s *Service) issue(ctx context.Context, g *grant, keep func(hodl.Token) error) (*Minted, error) {
	limits := s.cache.limitsOf(g.token.Workspace, g.token.IssuedAt)
	for {
		t := g.within(limits)
		claims := s.claims(&t, g)
		signed, err := s.signer.Sign(claims, t.IssuedAt)
		if err != nil {
			return nil, err
		}
		out := &Minted{t, signed, claims.Type(), g.link}
		store.Result(ctx, out)
		if err = keep(t); err == nil {
			return out, nil
		}
		beyond, again := errors.AsType[*store.Beyond](err)
		if !again || beyond.Limits == limits {
			return nil, err
		}
		limits = beyond.Limits
		s.cache.limits.Set(t.Workspace, knownLimits{limits, t.IssuedAt.Add(limitsFor)})
	}
}

// checkDraft fills in what d leaves open and returns the key of whom it names.
func (s *Service) checkDraft(ctx context.Context, c Caller, d *hodl.TokenDraft) (*hodl.Thumbprint, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	if d.RedactionPolicy == "" {
		d.RedactionPolicy = redact.Off
	}
	if err := s.checkPolicy(ctx, c.Workspace, c.Mode, d.RedactionPolicy); err != nil {
		return nil, err
	}
	if slices.Contains(d.Scopes, hodl.ReadRedacted) && c.Role != hodl.Admin {
		return nil, hodl.Errorf(hodl.Forbidden, "the scope %s is minted by an admin's key only", hodl.ReadRedacted).WithHint("leave the scope out, or ask an admin")
	}
	return s.mintable(ctx, c.Workspace, c.Mode, d.Audience)
}

func (s *Service) claims(t *hodl.Token, g *grant) *hodl.Claims {
	iat := t.IssuedAt.Unix()
	c := &hodl.Claims{
		Issuer: s.options.Issuer, Subject: string(t.Workspace) + ":" + string(t.User), Audience: t.Audience, ID: t.ID,
		IssuedAt: iat, NotBefore: iat, Expires: t.ExpiresAt.Unix(), Scopes: t.Scopes, Session: t.Session,
		RedactionPolicy: t.RedactionPolicy, MaxHydrations: t.MaxHydrations, Mode: t.Mode,
		Delegator: string(g.delegator), Actor: g.actor, Confirm: g.confirm,
	}
	if hodl.Writes(t.Scopes) {
		c.Nonce = rand.Text()
	}
	return c
}

func valueOr(p *int, otherwise int) int {
	if p == nil {
		return otherwise
	}
	return *p
}

// Issuer is the server's public URL, which tokens and links begin with.
func (s *Service) Issuer() string { return s.options.Issuer }

// Revoke ends a token of the caller's own at once, on every server. Revoking it
// again changes nothing and returns the first reason.
func (s *Service) Revoke(ctx context.Context, c Caller, id hodl.TokenID, reason string) (string, error) {
	if err := hodl.CheckReason(reason); err != nil {
		return "", err
	}
	t, err := s.store.Token(ctx, c.Workspace, c.Mode, c.User, id)
	if err != nil {
		return "", err
	}
	if !t.RevokedAt.IsZero() {
		return t.RevokeReason, nil
	}
	now := s.store.Now()
	rec := &hodl.Record{
		ID: hodl.RecordID(s.store.NewID("acr")), Kind: hodl.KindRevoke, At: now, Actor: string(c.Key), JTI: id, Reason: reason,
		Workspace: c.Workspace, Mode: c.Mode, User: c.User, Session: t.Session,
	}
	store.Result(ctx, reason)
	return reason, s.store.Revoke(ctx, c.Workspace, c.Mode, c.User, id, reason, rec, c.Detail)
}
