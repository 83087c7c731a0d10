// Package policy keeps the redaction policies of workspaces: who may change them,
// which documents a plan allows, which version is the next. What they do is done by
// package redact, when they are applied by package resume.
package policy

import (
	"context"
	"reflect"
	"strconv"

	"hodl"
	"hodl/internal/redact"
	"hodl/internal/store"
)

// Store is where policies are kept.
type Store interface {
	Policies(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, p store.Page) ([]*hodl.Policy, error)
	Policy(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, name string, version int) (*hodl.Policy, error)
	PolicyVersions(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, name string, before, limit int) ([]*hodl.Policy, error)
	PolicyState(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode) (store.PolicyState, error)
	ChangePolicy(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, name string, author hodl.KeyID, change func(last *hodl.Policy) (*hodl.PolicyDocument, error)) (*hodl.Policy, error)
	UsePolicy(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, name string) error
	DeletePolicy(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, name string, admit func(last *hodl.Policy) error) error
}

// A Service keeps policies. It is safe for concurrent use.
type Service struct{ store Store }

// New returns a Service.
func New(s Store) *Service { return &Service{s} }

// Presets lists the policies that every workspace has.
func Presets(current string) []*hodl.Policy {
	out := make([]*hodl.Policy, len(hodl.Presets))
	for i, name := range hodl.Presets {
		out[i] = preset(name, current)
	}
	return out
}

func preset(name, current string) *hodl.Policy {
	p, _ := redact.Lookup(name)
	d, _ := redact.Preset(name)
	return &hodl.Policy{Name: name, Version: p.Use().Version, Current: name == current, Preset: true, Document: d}
}

// A List is a page of a workspace's own policies, last changed first, and the
// presets.
type List struct {
	Policies []*hodl.Policy
	Presets  []*hodl.Policy
	Current  string
}

// List lists the policies of a workspace.
func (s *Service) List(ctx context.Context, p *hodl.Principal, page store.Page) (*List, error) {
	state, err := s.store.PolicyState(ctx, p.Workspace, p.Mode)
	if err != nil {
		return nil, err
	}
	own, err := s.store.Policies(ctx, p.Workspace, p.Mode, page)
	for _, x := range own {
		x.Current = x.Name == state.Current
	}
	return &List{own, Presets(state.Current), state.Current}, err
}

// Get returns a version of a policy, the last one when version is 0.
func (s *Service) Get(ctx context.Context, p *hodl.Principal, name string, version int) (*hodl.Policy, error) {
	state, err := s.store.PolicyState(ctx, p.Workspace, p.Mode)
	if err != nil {
		return nil, err
	}
	if hodl.IsPreset(name) {
		x := preset(name, state.Current)
		if version != 0 && version != x.Version {
			return nil, hodl.Errorf(hodl.NotFound, "no version %d of the preset %s", version, name).WithHint("leave the version out; this server has version %d", x.Version)
		}
		return x, nil
	}
	x, err := s.store.Policy(ctx, p.Workspace, p.Mode, name, version)
	if err == nil {
		x.Current = name == state.Current
	}
	return x, err
}

// Versions lists the versions of a policy before one, the last first; before 0 lists
// from the last.
func (s *Service) Versions(ctx context.Context, p *hodl.Principal, name string, before, limit int) ([]*hodl.Policy, error) {
	last, err := s.Get(ctx, p, name, 0)
	switch {
	case err != nil:
		return nil, err
	case last.Preset:
		return []*hodl.Policy{last}, nil
	}
	list, err := s.store.PolicyVersions(ctx, p.Workspace, p.Mode, name, before, limit)
	for _, x := range list {
		x.Current = last.Current && x.Version == last.Version
	}
	return list, err
}

// Put makes the next version of a policy, or none when the document is that of the
// last. With ifMatch the last version must be that one. It refuses with
// [hodl.ValidationFailed], which names the path of each fault, [hodl.Forbidden],
// [hodl.PlanRequired] and [hodl.Stale].
func (s *Service) Put(ctx context.Context, p *hodl.Principal, name string, d hodl.PolicyDocument, ifMatch string) (*hodl.Policy, error) {
	if err := mayChange(p, name); err != nil {
		return nil, err
	}
	if err := redact.Validate(&d); err != nil {
		return nil, err
	}
	if err := d.Within(p.Plan); err != nil {
		return nil, err
	}
	return s.store.ChangePolicy(ctx, p.Workspace, p.Mode, name, p.Key, func(last *hodl.Policy) (*hodl.PolicyDocument, error) {
		if err := match(name, last, ifMatch); err != nil {
			return nil, err
		}
		if last != nil && reflect.DeepEqual(last.Document, d) {
			return nil, nil
		}
		return &d, nil
	})
}

// Rollback makes a new version that says what an older one said. It refuses as Put
// does, and with [hodl.NotFound].
func (s *Service) Rollback(ctx context.Context, p *hodl.Principal, name string, version int, ifMatch string) (*hodl.Policy, error) {
	if err := mayChange(p, name); err != nil {
		return nil, err
	}
	if version < 1 {
		return nil, hodl.Invalid("version", "must be 1 or more")
	}
	old, err := s.store.Policy(ctx, p.Workspace, p.Mode, name, version)
	if err != nil {
		return nil, err
	}
	return s.Put(ctx, p, name, old.Document, ifMatch)
}

// Use makes a policy the current one: it applies to every hydration from then on.
func (s *Service) Use(ctx context.Context, p *hodl.Principal, name string) (*hodl.Policy, error) {
	if err := isAdmin(p); err != nil {
		return nil, err
	}
	x, err := s.Get(ctx, p, name, 0)
	if err != nil {
		return nil, err
	}
	x.Current = true
	store.Result(ctx, x)
	return x, s.store.UsePolicy(ctx, p.Workspace, p.Mode, name)
}

// Delete erases a policy and its history. Tokens that name it are good for nothing
// from then on. The current policy is not deleted: [hodl.Conflict].
func (s *Service) Delete(ctx context.Context, p *hodl.Principal, name, ifMatch string) error {
	if err := mayChange(p, name); err != nil {
		return err
	}
	return s.store.DeletePolicy(ctx, p.Workspace, p.Mode, name, func(last *hodl.Policy) error { return match(name, last, ifMatch) })
}

func mayChange(p *hodl.Principal, name string) error {
	if err := isAdmin(p); err != nil {
		return err
	}
	return hodl.CheckPolicyName(name)
}

func isAdmin(p *hodl.Principal) error {
	if p.Role != hodl.Admin {
		return hodl.Errorf(hodl.Forbidden, "redaction policies are changed by an admin's key only").WithHint("ask an admin of the workspace")
	}
	return nil
}

// match holds the last version against an If-Match.
func match(name string, last *hodl.Policy, ifMatch string) error {
	if ifMatch == "" || last != nil && (ifMatch == hodl.AnyVersion || ifMatch == strconv.Itoa(last.Version)) {
		return nil
	}
	return hodl.Errorf(hodl.Stale, "the redaction policy %s does not stand at the version in If-Match", name).WithHint("get it again and repeat the change on the version that is there")
}
