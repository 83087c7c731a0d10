package resume

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"hodl"
	"hodl/internal/redact"
	"hodl/internal/store"
)

// Policies is where the redaction policies of workspaces are kept.
type Policies interface {
	PoliciesNamed(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, names ...string) (store.Policies, error)
}

// A policyKey names all that decides which rules a use is redacted by: how the
// policies of the workspace stand, those its token and the tokens it comes from name,
// and whether it may read what they remove.
type policyKey struct {
	workspace hodl.WorkspaceID
	mode      hodl.Mode
	store.PolicyState
	named    string
	redacted bool
}

func policyKeyOf(u *use, at store.SessionState) policyKey {
	return policyKey{u.rows.Workspace, u.rows.Mode, at.Policy, u.claims.RedactionPolicy, u.claims.Has(hodl.ReadRedacted)}
}

// names lists the policies, the current one first. Off removes nothing and is left
// out where it is not the current one.
func (k *policyKey) names() []string {
	names := []string{k.Current}
	for name := range strings.FieldsSeq(k.named) {
		if name != redact.Off && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// inForce is what redacts a use: the workspace's current policy and those its token
// names, together.
type inForce struct {
	policy *redact.Policy
	key    string // of the policy when none of its allowances ends
	weight int
}

// at returns the policy as it stands then, and the name of everything it does.
func (f *inForce) at(now time.Time) (*redact.Policy, string) {
	if p := f.policy.At(now); p != f.policy {
		return p, p.Key()
	}
	return f.policy, f.key
}

// errPoliciesMoved tells that a policy was changed between two reads.
var errPoliciesMoved = errors.New("the policies moved")

// inForce returns what redacts a use, from the cache or the store: the presets are
// known without asking. A policy that is no longer there is refused as
// [hodl.Forbidden], and so is read:redacted without the current policy's consent.
func (s *Service) inForce(ctx context.Context, k policyKey) (*inForce, error) {
	if f, ok := s.cache.policies.GetIfPresent(k); ok {
		return f, nil
	}
	names, kept := k.names(), store.Policies{PolicyState: k.PolicyState}
	if slices.ContainsFunc(names, func(name string) bool { return !hodl.IsPreset(name) }) {
		var err error
		if kept, err = s.store.PoliciesNamed(ctx, k.workspace, k.mode, names...); err != nil {
			return nil, err
		}
	}
	if kept.PolicyState != k.PolicyState {
		return nil, errPoliciesMoved
	}
	all := make([]*redact.Policy, len(names))
	f := &inForce{weight: 512}
	for i, name := range names {
		p, consents, err := compiled(name, kept.ByName[name])
		if err != nil {
			return nil, err
		}
		if k.redacted && i == 0 && !consents {
			return nil, noConsent(name)
		}
		if k.redacted && consents {
			p = p.SecretsOnly()
		}
		all[i] = p
		f.weight += weigh(kept.ByName[name])
	}
	f.policy = redact.Join(all...)
	f.key = f.policy.Key()
	s.cache.policies.Set(k, f)
	return f, nil
}

// current returns what redacts a use that begins now: the workspace's current policy and
// those that a token names ("" for none).
func (s *Service) current(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, named string) (*redact.Policy, error) {
	for range attempts {
		kept, err := s.store.PoliciesNamed(ctx, ws, m)
		if err != nil {
			return nil, err
		}
		f, err := s.inForce(ctx, policyKey{ws, m, kept.PolicyState, named, false})
		if err == nil {
			p, _ := f.at(s.store.Now())
			return p, nil
		}
		if !errors.Is(err, errPoliciesMoved) {
			return nil, err
		}
	}
	return nil, hodl.Errorf(hodl.Unavailable, "the redaction policies change faster than they can be read").WithHint("try again")
}

func noConsent(name string) error {
	return hodl.Errorf(hodl.Forbidden, "the redaction policy %q does not consent to %s", name, hodl.ReadRedacted).
		WithHint("mint a token without that scope, or have an admin set read_redacted in the policy")
}

// compiled makes a policy ready: a preset, or the last version of a workspace's own.
// It tells whether the policy lets a token with read:redacted read what it removes.
func compiled(name string, own *hodl.Policy) (p *redact.Policy, consents bool, err error) {
	if p, ok := redact.Lookup(name); ok {
		return p, name == redact.Off, nil
	}
	if own == nil {
		return nil, false, hodl.Errorf(hodl.Forbidden, "the redaction policy %q is no longer there", name).WithHint("mint a token that names another, or none")
	}
	p, err = redact.Compile(name, own.Version, own.Document)
	if err != nil {
		err = hodl.Errorf(hodl.Internal, "version %d of the redaction policy %q cannot be applied", own.Version, name)
	}
	return p, own.Document.ReadRedacted, err
}

// weigh estimates what a compiled policy takes, in bytes.
func weigh(own *hodl.Policy) int {
	if own == nil {
		return 0
	}
	n := 4096
	for _, d := range own.Document.Dictionaries {
		n += 64 * len(d.Words)
	}
	return n + 4096*len(own.Document.Patterns)
}

// checkPolicy refuses a name that is no policy of the workspace.
func (s *Service) checkPolicy(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, name string) error {
	if hodl.IsPreset(name) {
		return nil
	}
	kept, err := s.store.PoliciesNamed(ctx, ws, m, name)
	if err == nil && kept.ByName[name] == nil {
		err = hodl.Invalid("redaction_policy", "names no policy of this workspace; every workspace has "+strings.Join(hodl.Presets, ", "))
	}
	return err
}

// errEngine is part of every failure of the redaction engine: it is recorded, like a
// refusal.
var errEngine = errors.New("redaction failed")

// Learn looks through the texts of a version that was captured, so that the first
// hydration finds them looked through. It hands nothing over.
func (s *Service) Learn(ws hodl.WorkspaceID, id hodl.SessionID, c *hodl.Content) {
	p, _ := redact.Lookup(hodl.DefaultPolicy)
	_, _ = s.redacted(p, ws, id, store.SessionState{}, &store.VersionBody{Content: *c}) // what fails here fails again where it is told
}

// redacted applies a policy to a version of a session.
func (s *Service) redacted(p *redact.Policy, ws hodl.WorkspaceID, id hodl.SessionID, at store.SessionState, body *store.VersionBody) (redact.Redacted, error) {
	out, err := s.memory.Apply(p, ws, hodl.Session{ID: id, Fingerprint: at.Fingerprint, CapturedAt: at.CapturedAt}, body.Content, historyOf(body))
	if err != nil {
		return out, fmt.Errorf("%w: %w", errEngine, err)
	}
	return out, nil
}

func historyOf(body *store.VersionBody) redact.History {
	return redact.History{Salt: body.Salt, Numbers: body.Numbers}
}

// Number returns the numbers that placeholders of a session keep after a version of it,
// for the version after it, hashed under salt. Where the policy in force cannot be
// applied nothing is handed over either, and they are what they were.
func (s *Service) Number(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, body *store.VersionBody, salt []byte) map[string][]uint64 {
	p, err := s.current(ctx, ws, m, "")
	if err == nil {
		return s.number(ctx, p, ws, body, salt)
	}
	return s.unnumbered(ctx, err, body, salt)
}

func (s *Service) number(ctx context.Context, p *redact.Policy, ws hodl.WorkspaceID, body *store.VersionBody, salt []byte) map[string][]uint64 {
	numbers, err := s.memory.Number(p, ws, body.Content, historyOf(body), salt)
	if err == nil {
		return numbers
	}
	return s.unnumbered(ctx, err, body, salt)
}

func (s *Service) unnumbered(ctx context.Context, err error, body *store.VersionBody, salt []byte) map[string][]uint64 {
	s.options.Log.WarnContext(ctx, "new values of a session were not numbered", slog.Any("error", err))
	if bytes.Equal(salt, body.Salt) {
		return body.Numbers
	}
	return nil
}
