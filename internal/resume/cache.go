package resume

import (
	"time"

	"github.com/maypok86/otter/v2"

	"hodl"
	"hodl/internal/render"
	"hodl/internal/store"
)

// cache keeps what may be kept: renderings, which depend on nothing but an
// immutable version, the policy's version, the scopes and what was asked; and where a
// session stood last, which is only a guess that every commit checks. Whether a
// token is revoked or used up, and the quota, are never here.
type cache struct {
	renderings *otter.Cache[renderKey, *rendered]
	standings  *otter.Cache[standingKey, store.SessionState]
	policies   *otter.Cache[policyKey, *inForce]
	limits     *otter.Cache[hodl.WorkspaceID, knownLimits] // of workspaces that allow less than they might
}

// knownLimits are what a workspace allowed, which is believed for a while: so long
// may a token be minted shorter than it must be, and never longer.
type knownLimits struct {
	hodl.TokenLimits
	until time.Time
}

const limitsFor = 10 * time.Second

// limitsOf is what a workspace is thought to allow.
func (c *cache) limitsOf(ws hodl.WorkspaceID, now time.Time) hodl.TokenLimits {
	if known, ok := c.limits.GetIfPresent(ws); ok && now.Before(known.until) {
		return known.TokenLimits
	}
	return hodl.DefaultLimits
}

type renderKey struct {
	workspace   hodl.WorkspaceID
	mode        hodl.Mode
	session     hodl.SessionID
	fingerprint string
	capturedAt  int64
	policy      string
	scopes      string
	format      render.Format
	maxTokens   int
	since       string
}

type standingKey struct {
	workspace hodl.WorkspaceID
	mode      hodl.Mode
	session   hodl.SessionID
}

type rendered struct {
	fitted    *render.Fitted
	delta     bool // it is the changes since a hydration
	unchanged bool // of which there are none
	policies  []hodl.PolicyUse
	uses      []hodl.RedactionUse
}

const (
	mostStandings   = 1 << 16
	mostPolicyBytes = 64 << 20
)

func newCache(bytes int) *cache {
	return &cache{
		renderings: otter.Must(&otter.Options[renderKey, *rendered]{
			MaximumWeight: uint64(max(bytes, 1)), // one byte holds no rendering
			Weigher:       func(_ renderKey, r *rendered) uint32 { return uint32(r.fitted.Size() + 512) },
		}),
		standings: otter.Must(&otter.Options[standingKey, store.SessionState]{MaximumSize: mostStandings}),
		policies: otter.Must(&otter.Options[policyKey, *inForce]{
			MaximumWeight: mostPolicyBytes,
			Weigher:       func(_ policyKey, f *inForce) uint32 { return uint32(f.weight) },
		}),
		limits: otter.Must(&otter.Options[hodl.WorkspaceID, knownLimits]{MaximumSize: mostStandings}),
	}
}

func keyOf(u *use, at store.SessionState, policy string, w want) renderKey {
	scopes := ""
	for _, s := range u.claims.Scopes {
		scopes += string(s) + " "
	}
	return renderKey{u.rows.Workspace, u.rows.Mode, u.rows.Session, at.Fingerprint, at.CapturedAt.UnixMicro(), policy, scopes, w.Format, w.MaxTokens, w.fingerprint()}
}

func (c *cache) rendering(k renderKey) (*rendered, bool) { return c.renderings.GetIfPresent(k) }

func (c *cache) keep(k renderKey, r *rendered) { c.renderings.Set(k, r) }

func (c *cache) standing(u store.TokenUse) (store.SessionState, bool) {
	return c.standings.GetIfPresent(standingKey{u.Workspace, u.Mode, u.Session})
}

func (c *cache) stands(u store.TokenUse, at store.SessionState) {
	c.standings.Set(standingKey{u.Workspace, u.Mode, u.Session}, at)
}
