package resume

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/maypok86/otter/v2"

	"hodl"
	"hodl/internal/store"
)

// Registry is where the audiences of workspaces are kept.
type Registry interface {
	AddAudience(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, a *hodl.Audience) error
	Audience(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, id hodl.AudienceID) (*hodl.Audience, error)
	AudienceNamed(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, name string) (*hodl.Audience, error)
	Audiences(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, p store.Page) ([]*hodl.Audience, error)
	RegisteredNames(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, names []string) ([]string, error)
	ChangeAudience(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, id hodl.AudienceID, change func(*hodl.Audience) error) (*hodl.Audience, error)
	DeleteAudience(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, id hodl.AudienceID) (*hodl.Audience, error)
}

// audiences remembers, for a second, what the audiences of tokens are bound to: as
// long as a change takes to reach the other servers. The server that made it
// forgets at once.
type audiences struct {
	store Registry
	known *otter.Cache[audienceKey, knownAudience]
}

type audienceKey struct {
	workspace hodl.WorkspaceID
	mode      hodl.Mode
	name      string
}

type knownAudience struct {
	*hodl.Audience
	until time.Time
}

const (
	audienceFor   = time.Second
	mostAudiences = 1 << 14
)

func newAudiences(s Registry) *audiences {
	return &audiences{s, otter.Must(&otter.Options[audienceKey, knownAudience]{MaximumSize: mostAudiences})}
}

// named returns the audience of that name: the workspace's own, else the built-in
// one, else [hodl.NotFound]. What is not there is asked for every time, so that a
// new one works at once. Nobody may change what it returns.
func (r *audiences) named(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, name string, now time.Time) (*hodl.Audience, error) {
	k := audienceKey{ws, m, name}
	if a, ok := r.known.GetIfPresent(k); ok && now.Before(a.until) {
		return a.Audience, nil
	}
	a, err := r.store.AudienceNamed(ctx, ws, m, name)
	if errors.Is(err, &hodl.Error{Code: hodl.NotFound}) {
		if a = hodl.BuiltinAudience(name); a != nil {
			err = nil
		}
	}
	if err != nil {
		return nil, err
	}
	r.known.Set(k, knownAudience{a, now.Add(audienceFor)})
	return a, nil
}

func (r *audiences) forget(ws hodl.WorkspaceID, m hodl.Mode, name string) {
	r.known.Invalidate(audienceKey{ws, m, name})
}

// audience returns who a token of the workspace may be for. This server's
// MCP address is bound to nothing.
func (s *Service) audience(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, name string) (*hodl.Audience, error) {
	if name == s.options.Resource {
		return &hodl.Audience{Name: name}, nil
	}
	return s.audiences.named(ctx, ws, m, name, s.store.Now())
}

// mintable returns the key that a token for the audience of that name is bound to,
// nil for none. An audience that nobody knows is [hodl.ValidationFailed].
func (s *Service) mintable(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, name string) (*hodl.Thumbprint, error) {
	a, err := s.audience(ctx, ws, m, name)
	if errors.Is(err, &hodl.Error{Code: hodl.NotFound}) {
		return nil, hodl.Invalid("audience", "is neither built in (docs/spec.md lists those) nor registered in this workspace, nor this server's MCP address "+s.options.Resource)
	}
	if err != nil || a.JKT == "" {
		return nil, err
	}
	return &hodl.Thumbprint{JKT: a.JKT}, nil
}

// checkAudience holds a use against who the token is for: the door, the caller's
// own word, and what the audience is bound to now.
func (s *Service) checkAudience(ctx context.Context, u *use) error {
	if (u.claims.Audience == s.options.Resource) != (u.Surface == MCP) {
		return hodl.Errorf(hodl.AudienceMismatch, "this token is for %s and does not work here", u.claims.Audience).
			WithHint("a token whose audience is %s works only there, every other only on REST", s.options.Resource)
	}
	if u.Audience != "" && u.Audience != u.claims.Audience {
		return hodl.Errorf(hodl.AudienceMismatch, "this token is for %s, not for the audience named in Hodl-Audience", u.claims.Audience).
			WithHint("mint a token for that audience")
	}
	a, err := s.audience(ctx, u.rows.Workspace, u.rows.Mode, u.claims.Audience)
	if errors.Is(err, &hodl.Error{Code: hodl.NotFound}) {
		return hodl.Errorf(hodl.AudienceMismatch, "%s is no longer an audience of this workspace", u.claims.Audience).
			WithHint("an admin of the workspace can register it again")
	}
	if err != nil {
		return err
	}
	if !a.Admits(u.Detail.Address) {
		return hodl.Errorf(hodl.AudienceMismatch, "%s does not call from this address", u.claims.Audience).
			WithHint("the audience is pinned to other addresses; an admin of the workspace can change them")
	}
	return s.checkProof(u, a)
}

// AddAudience registers an audience, which takes an admin and the Startup plan. It
// refuses with [hodl.Forbidden], [hodl.PlanRequired], [hodl.ValidationFailed] and
// [hodl.Conflict].
func (s *Service) AddAudience(ctx context.Context, c Caller, d hodl.AudienceDraft) (*hodl.Audience, error) {
	if err := mayRegister(c); err != nil {
		return nil, err
	}
	a, err := hodl.NewAudience(d, s.options.Resource)
	if err != nil {
		return nil, err
	}
	now := s.store.Now()
	a.ID, a.CreatedAt, a.UpdatedAt = hodl.AudienceID(s.store.NewID("aud")), now, now
	store.Result(ctx, a)
	if err := s.store.AddAudience(ctx, c.Workspace, c.Mode, a); err != nil {
		return nil, err
	}
	s.audiences.forget(c.Workspace, c.Mode, a.Name)
	return a, nil
}

func mayRegister(c Caller) error {
	if err := mayChange(c); err != nil {
		return err
	}
	if c.Plan == hodl.Developer {
		return hodl.Errorf(hodl.PlanRequired, "the plan developer has the built-in audiences alone").WithHint("registering audiences takes the plan startup or a larger one")
	}
	return nil
}

func mayChange(c Caller) error {
	if c.Role != hodl.Admin {
		return hodl.Errorf(hodl.Forbidden, "audiences are changed by an admin's key only").WithHint("ask an admin of the workspace")
	}
	return nil
}

// Audience returns an audience: a registered one by its id, a built-in one by the
// id made from its name. A built-in one that the workspace has registered is shown
// as registered, under either id.
func (s *Service) Audience(ctx context.Context, c Caller, id hodl.AudienceID) (*hodl.Audience, error) {
	builtin := hodl.BuiltinAudienceOf(id)
	if builtin == nil {
		return s.store.Audience(ctx, c.Workspace, c.Mode, id)
	}
	a, err := s.store.AudienceNamed(ctx, c.Workspace, c.Mode, builtin.Name)
	if errors.Is(err, &hodl.Error{Code: hodl.NotFound}) {
		return builtin, nil
	}
	return a, err
}

// Audiences lists the registered audiences, newest first, and behind them the
// built-in ones that are not registered. A page that asks for what is new has none
// of those.
func (s *Service) Audiences(ctx context.Context, c Caller, p store.Page) ([]*hodl.Audience, error) {
	after := hodl.BuiltinAudienceOf(hodl.AudienceID(p.BeforeID))
	var out []*hodl.Audience
	if after == nil {
		var err error
		if out, err = s.store.Audiences(ctx, c.Workspace, c.Mode, p); err != nil {
			return nil, err
		}
	}
	if len(out) == p.Limit || !p.Since.IsZero() {
		return out, nil
	}
	registered, err := s.store.RegisteredNames(ctx, c.Workspace, c.Mode, hodl.Audiences)
	return appendBuiltin(out, after, registered, p.Limit), err
}

// appendBuiltin fills a page with the built-in audiences behind after (nil for all)
// that are not registered.
func appendBuiltin(page []*hodl.Audience, after *hodl.Audience, registered []string, limit int) []*hodl.Audience {
	names := hodl.Audiences
	if after != nil {
		names = names[slices.Index(names, after.Name)+1:]
	}
	for _, name := range names {
		if len(page) < limit && !slices.Contains(registered, name) {
			page = append(page, hodl.BuiltinAudience(name))
		}
	}
	return page
}

// ChangeAudience changes an audience; it holds for tokens that are out already, on
// other servers within a second. It refuses as AddAudience does, and with
// [hodl.NotFound].
func (s *Service) ChangeAudience(ctx context.Context, c Caller, id hodl.AudienceID, change hodl.AudienceChange) (*hodl.Audience, error) {
	if err := cmp.Or(mayRegister(c), notBuiltin(id)); err != nil {
		return nil, err
	}
	a, err := s.store.ChangeAudience(ctx, c.Workspace, c.Mode, id, func(a *hodl.Audience) error {
		a.UpdatedAt = s.store.Now()
		store.Result(ctx, a)
		return a.Change(change)
	})
	if err != nil {
		return nil, err
	}
	s.audiences.forget(c.Workspace, c.Mode, a.Name)
	return a, nil
}

// DeleteAudience takes an audience out of the registry. Its tokens work no more,
// unless it is a built-in one: that is then bound to nothing.
func (s *Service) DeleteAudience(ctx context.Context, c Caller, id hodl.AudienceID) error {
	if err := cmp.Or(mayChange(c), notBuiltin(id)); err != nil {
		return err
	}
	a, err := s.store.DeleteAudience(ctx, c.Workspace, c.Mode, id)
	if err == nil {
		s.audiences.forget(c.Workspace, c.Mode, a.Name)
	}
	return err
}

func notBuiltin(id hodl.AudienceID) error {
	if a := hodl.BuiltinAudienceOf(id); a != nil {
		return hodl.Errorf(hodl.Forbidden, "the built-in audience %s is every workspace's", a.Name).WithHint("register its name to bind it in this workspace, and change what was registered")
	}
	return nil
}
