// Package resume is the only place that knows the way of a resume token: verify →
// load → redact → render → commit → return. No byte of a session leaves before the
// access record of it is committed.
package resume

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"hodl"
	"hodl/internal/dpop"
	"hodl/internal/meter"
	"hodl/internal/redact"
	"hodl/internal/store"
)

// Verifier checks a token's form, signature, issuer and times. Its claims are not
// nil exactly when the signature was good.
type Verifier interface {
	Verify(token string, now time.Time) (*hodl.Claims, error)
}

// Signer signs a new token.
type Signer interface {
	Sign(c *hodl.Claims, now time.Time) (string, error)
}

// Store is what the way of a token needs of storage.
type Store interface {
	Admission(ctx context.Context, u store.TokenUse) (store.Admission, error)
	Prospect(ctx context.Context, u store.TokenUse) (store.Admission, error)
	Hydrate(ctx context.Context, u store.TokenUse, admit func(store.Admission) error, rec *hodl.Record, d hodl.RecordDetail) error
	Read(ctx context.Context, u store.TokenUse, admit func(store.Admission) error, rec *hodl.Record, d hodl.RecordDetail) error
	Record(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, id hodl.RecordID) (*hodl.Record, error)
	ListedVersion(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, id hodl.SessionID, fingerprint string) (hodl.Version, error)
	Append(ctx context.Context, rec *hodl.Record, d hodl.RecordDetail) error
	Version(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, id hodl.SessionID, fingerprint string) (*store.VersionBody, error)
	Session(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, id hodl.SessionID) (*hodl.Session, error)
	PutSession(ctx context.Context, w store.SessionWrite) error
	Once(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, credential string) (end func(), err error)
	Mint(ctx context.Context, t hodl.Token, rec *hodl.Record, d hodl.RecordDetail) error
	Exchange(ctx context.Context, u store.TokenUse, admit func(store.Admission) error, t hodl.Token, rec *hodl.Record, d hodl.RecordDetail) error
	Revoke(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, id hodl.TokenID, reason string, rec *hodl.Record, d hodl.RecordDetail) error
	RevokeAll(ctx context.Context, m hodl.Mode, member hodl.UserID, v hodl.Revocation, rec *hodl.Record, d hodl.RecordDetail) error
	Key(ctx context.Context, ws hodl.WorkspaceID, id hodl.KeyID) (*hodl.APIKey, error)
	Member(ctx context.Context, ws hodl.WorkspaceID, user hodl.UserID) (*hodl.Membership, error)
	Token(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, id hodl.TokenID) (*hodl.Token, error)
	Busy() bool
	Now() time.Time
	NewID(prefix string) string
	Spend(ctx context.Context, u store.TokenUse) error
	Tag(purpose string, message []byte) []byte
	Tagged(purpose string, message, tag []byte) bool
	Registry
	Policies
}

// Options says how tokens are made and judged.
type Options struct {
	Issuer     string // iss of every token
	Resource   string // this server's MCP address: an audience that works only there
	CacheBytes int    // renderings kept, and a quarter of that for what is found in texts; 64 MiB when 0
	Log        *slog.Logger
}

// A Service walks the way. It is safe for concurrent use.
type Service struct {
	store     Store
	verifier  Verifier
	signer    Signer
	options   Options
	strangers *meter.Limiter // refused credentials, by address
	bearers   *meter.Limiter // uses, by token
	pollers   *meter.Limiter // answers that nothing changed, by credential
	pace      *pace          // uses, by workspace
	denials   *denials
	cache     *cache
	memory    *redact.Memory
	audiences *audiences
	nonces    dpop.Nonces
}

// A token may be used in short bursts; an address that keeps sending credentials
// that are refused is stopped before a signature is checked for it.
const (
	usesPerSecond, usesBurst         = 50, 1000
	refusalsPerSecond, refusalsBurst = 100, 2000
	pollsPerSecond, pollsBurst       = 1, 30
)

// New returns a Service.
func New(s Store, v Verifier, sign Signer, o Options) *Service {
	if o.CacheBytes == 0 {
		o.CacheBytes = 64 << 20
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Service{
		store: s, verifier: v, signer: sign, options: o,
		strangers: meter.NewLimiter("address", refusalsPerSecond, refusalsBurst),
		bearers:   meter.NewLimiter("token", usesPerSecond, usesBurst), pace: newPace(),
		pollers: meter.NewLimiter("unchanged", pollsPerSecond, pollsBurst),
		denials: newDenials(), cache: newCache(o.CacheBytes), memory: redact.NewMemory(o.CacheBytes / 4), audiences: newAudiences(s), nonces: noncesOf(s),
	}
}

// A Call is one use of a resume token, or, at the MCP door, of a person's API key.
type Call struct {
	Token    string
	Key      *hodl.Principal // in place of a token
	Session  hodl.SessionID  // of the path
	Audience string          // who the caller says it is; "" when it does not
	Surface  Surface
	Presentation
	Detail hodl.RecordDetail

	claims *hodl.Claims // of a token that was presented before
}

// A Surface is a door of the server. A token for one does not open the other.
type Surface string

const (
	REST Surface = "rest"
	MCP  Surface = "mcp"
)

// use is a call whose token was verified.
type use struct {
	Call
	claims *hodl.Claims
	paced  bool // its workspace's bucket has counted it
	rows   store.TokenUse
	scope  func(*hodl.Claims) error
}

// begin makes the checks that come before the rows, in their order: address bucket,
// token, token bucket, the workspace's bucket where its plan is known, audience and
// proof. The rest are [use.admit].
func (s *Service) begin(ctx context.Context, c Call, scope func(*hodl.Claims) error) (*use, error) {
	now := s.store.Now()
	switch {
	case c.Key != nil:
		u, err := s.byKey(c, now)
		u.scope = scope
		return u, err
	case c.claims != nil:
		u := useOf(c.claims, now)
		u.Call, u.scope = c, scope
		return u, nil
	}
	if limit, ok := s.strangers.Peek(c.Detail.Address, now); !ok {
		return nil, hodl.TooFast(limit, "too many refused credentials came from this address")
	}
	claims, err := s.verifier.Verify(c.Token, now)
	if claims == nil {
		s.strangers.Take(c.Detail.Address, now)
		return nil, err
	}
	u := useOf(claims, now)
	u.Call, u.scope = c, scope
	if err != nil {
		return u, err
	}
	if limit, ok := s.bearers.Take(string(claims.ID), now); !ok {
		return u, hodl.TooFast(limit, "this token is used too often")
	}
	if plan, known := s.pace.plan(u.rows.Workspace); known {
		if err := s.slow(u, plan); err != nil {
			return u, err
		}
	}
	return u, s.checkAudience(ctx, u)
}

// useOf names the rows that a use of a token is decided on.
func useOf(claims *hodl.Claims, now time.Time) *use {
	ws, _ := claims.Owner()
	return &use{claims: claims, rows: store.TokenUse{
		Workspace: ws, Mode: claims.Mode, Token: claims.ID, Session: claims.Session, Delegated: claims.Actor != nil, At: now,
	}}
}

// admit makes the checks on the rows, in their order: not revoked, the path's
// session is the claim's, session not archived, scope. It is the same on rows that
// were only read and on rows that are locked.
func (u *use) admit(a store.Admission) error {
	if u.Key == nil {
		if err := alive(a); err != nil {
			return err
		}
	}
	_, user := u.claims.Owner()
	switch {
	case u.Session != u.claims.Session, a.Session == nil, a.Session.User != user:
		return u.noSession()
	case a.Session.State == hodl.Archived:
		_, _, err := a.Session.State.After(hodl.OpHandOff)
		return err
	}
	return u.scope(u.claims)
}

// alive refuses a token that the server does not know, or that was revoked.
func alive(a store.Admission) error {
	switch {
	case a.Token == nil:
		return hodl.Errorf(hodl.InvalidToken, "this server knows no such token").WithHint("mint a new one")
	case len(a.Lineage) < len(a.Token.Ancestors): // nothing removes a row; without all of them nothing is admitted
		return hodl.Errorf(hodl.InvalidToken, "this server does not know where this token comes from").WithHint("mint a new one")
	case !a.Token.RevokedAt.IsZero():
		return hodl.Errorf(hodl.TokenRevoked, "this token was revoked").WithHint("ask for a new one")
	case slices.ContainsFunc(a.Lineage, func(t *hodl.Token) bool { return !t.RevokedAt.IsZero() }):
		return hodl.Errorf(hodl.TokenRevoked, "a token that this one comes from was revoked").WithHint("ask for a new one")
	}
	return nil
}

func (u *use) noSession() error {
	e := hodl.Errorf(hodl.NotFound, "no session %s", u.Session)
	if u.Key != nil {
		return e.WithHint("list the sessions there are")
	}
	return e.WithHint("a token opens the one session in its session_id claim")
}

// admitHydration adds the checks only a hydration makes: hydrations left, quota.
func (u *use) admitHydration(a store.Admission) error {
	if err := u.admit(a); err != nil {
		return err
	}
	if a.Token != nil && a.Token.Unused() == 0 {
		return hodl.Errorf(hodl.HydrationsExhausted, "all %d hydrations of this token are used", a.Token.MaxHydrations).WithHint("mint a new token")
	}
	for _, t := range a.Lineage {
		if t.Unused() == 0 {
			return hodl.Errorf(hodl.HydrationsExhausted, "all %d hydrations of a token that this one comes from are used", t.MaxHydrations).WithHint("mint a new token")
		}
	}
	if err := u.admitHour(a); err != nil {
		return err
	}
	plan, err := hodl.PlanOf(a.Plan)
	if err != nil {
		return err
	}
	if quota := plan.Quota(u.rows.Mode); quota > 0 && a.Used >= quota {
		return overQuota(quota, u.rows.At)
	}
	return nil
}

// admitHour holds a hydration against the cap the workspace has set for a session.
func (u *use) admitHour(a store.Admission) error {
	if a.Hourly == 0 || a.ThisHour < a.Hourly {
		return nil
	}
	e := hodl.Errorf(hodl.QuotaExceeded, "the %d hydrations an hour that the workspace allows a session are used", a.Hourly).WithHint("they start anew with the hour (UTC)")
	e.RetryAfter = u.rows.At.Truncate(time.Hour).Add(time.Hour).Sub(u.rows.At)
	e.Limit = &hodl.Limit{Name: "hour", Quota: int64(a.Hourly), Window: time.Hour, Wait: e.RetryAfter}
	return e
}

func overQuota(quota int64, at time.Time) error {
	e := hodl.Errorf(hodl.QuotaExceeded, "the %d hydrations of this month are used", quota).WithHint("they start anew with the month (UTC); a larger plan has more")
	next := hodl.NextMonth(at)
	e.RetryAfter = next.Sub(at)
	e.Limit = &hodl.Limit{Name: "month", Quota: quota, Window: next.Sub(next.AddDate(0, -1, 0)), Wait: e.RetryAfter}
	return e
}

func needs(scopes ...hodl.Scope) func(*hodl.Claims) error {
	return func(c *hodl.Claims) error {
		for _, s := range scopes {
			if c.Has(s) {
				return nil
			}
		}
		return hodl.Errorf(hodl.InsufficientScope, "this token does not carry %s", scopes[0]).WithHint("mint a token with the scope %s", scopes[0])
	}
}

// record starts the access record of a use.
func (u *use) record(id hodl.RecordID, kind hodl.RecordKind) *hodl.Record {
	_, user := u.claims.Owner()
	if u.Key != nil {
		return &hodl.Record{
			ID: id, Kind: kind, At: u.rows.At, Actor: string(u.Key.Key), Audience: u.claims.Audience,
			Workspace: u.rows.Workspace, Mode: u.rows.Mode, User: user, Session: u.claims.Session, Scopes: u.claims.Scopes,
		}
	}
	return &hodl.Record{
		ID: id, Kind: kind, At: u.rows.At, Actor: u.claims.Audience, Bearer: u.claims.Confirm == nil, Chain: u.claims.Actor.Chain(), JTI: u.claims.ID,
		Workspace: u.rows.Workspace, Mode: u.rows.Mode, User: user, Session: u.claims.Session, Scopes: u.claims.Scopes,
	}
}
