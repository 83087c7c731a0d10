package resume

import (
	"context"
	"crypto/rand"
	"slices"
	"time"

	"hodl"
	"hodl/internal/redact"
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
}

// Mint makes a token for a session of the caller's own. It refuses with
// [hodl.ValidationFailed], [hodl.NotFound], [hodl.Forbidden] and
// [hodl.InvalidTransition] (an archived session).
func (s *Service) Mint(ctx context.Context, c Caller, d hodl.TokenDraft) (*Minted, error) {
	if err := s.checkDraft(c, &d); err != nil {
		return nil, err
	}
	now := s.store.Now()
	t := hodl.Token{
		ID: hodl.TokenID(s.store.NewID("rt")), Workspace: c.Workspace, Mode: c.Mode, Session: d.Session, User: c.User, Key: c.Key,
		Audience: d.Audience, Scopes: hodl.SortScopes(d.Scopes), RedactionPolicy: d.RedactionPolicy,
		MaxHydrations: valueOr(d.MaxHydrations, hodl.DefaultHydrations), IssuedAt: now,
	}
	// Claims count whole seconds: the token ends when its claim says.
	ttl := time.Duration(valueOr(d.TTLSeconds, int(hodl.DefaultTTL.Seconds()))) * time.Second
	t.ExpiresAt = now.Truncate(time.Second).Add(ttl)
	signed, err := s.signer.Sign(s.claims(&t), now)
	if err != nil {
		return nil, err
	}
	rec := &hodl.Record{
		ID: hodl.RecordID(s.store.NewID("acr")), Kind: hodl.KindMint, At: now, Actor: string(c.Key), JTI: t.ID,
		Workspace: c.Workspace, Mode: c.Mode, User: c.User, Session: t.Session, Scopes: t.Scopes,
	}
	if err := s.store.Mint(ctx, t, rec, c.Detail); err != nil {
		return nil, err
	}
	return &Minted{t, signed}, nil
}

func (s *Service) checkDraft(c Caller, d *hodl.TokenDraft) error {
	if err := d.Check(); err != nil {
		return err
	}
	if !slices.Contains(hodl.Audiences, d.Audience) && d.Audience != s.options.Resource {
		return hodl.Invalid("audience", "is not a built-in audience (docs/spec.md lists them), nor this server's MCP address "+s.options.Resource)
	}
	if d.RedactionPolicy == "" {
		d.RedactionPolicy = redact.Off
	}
	if _, ok := redact.Lookup(d.RedactionPolicy); !ok {
		return hodl.Invalid("redaction_policy", "names no policy of this workspace; the one there is: "+redact.Off)
	}
	if slices.Contains(d.Scopes, hodl.ReadRedacted) && c.Role != hodl.Admin {
		return hodl.Errorf(hodl.Forbidden, "the scope %s is minted by an admin's key only", hodl.ReadRedacted).WithHint("leave the scope out, or ask an admin")
	}
	return nil
}

func (s *Service) claims(t *hodl.Token) *hodl.Claims {
	iat := t.IssuedAt.Unix()
	c := &hodl.Claims{
		Issuer: s.options.Issuer, Subject: string(t.Workspace) + ":" + string(t.User), Audience: t.Audience, ID: t.ID,
		IssuedAt: iat, NotBefore: iat, Expires: t.ExpiresAt.Unix(), Scopes: t.Scopes, Session: t.Session,
		RedactionPolicy: t.RedactionPolicy, MaxHydrations: t.MaxHydrations, Mode: t.Mode,
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
	return reason, s.store.Revoke(ctx, c.Workspace, c.Mode, c.User, id, reason, rec, c.Detail)
}
