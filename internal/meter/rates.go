package meter

import (
	"time"

	"hodl"
)

// What is limited for each workspace, as fast as its plan goes: each kind has a
// bucket of its own, so that a mint and the hydration it is for do not count twice.
const (
	Requests   = "default"
	Captures   = "captures" // requests of capture-only keys
	Mints      = "mints"
	Hydrations = "hydrations" // and typed writes: every use of a resume token
)

// Kinds lists them.
var Kinds = []string{Requests, Captures, Mints, Hydrations}

// Rates lets every workspace do one kind of thing as fast as its plan goes. It is
// safe for concurrent use.
type Rates struct {
	sandbox *Limiter
	live    map[hodl.PlanName]*Limiter
}

// NewRates returns Rates for a kind.
func NewRates(kind string) *Rates {
	r := &Rates{live: map[hodl.PlanName]*Limiter{}}
	for _, name := range hodl.PlanNames {
		p, _ := hodl.PlanOf(name) // it is one of them
		r.live[name] = NewLimiter(kind, float64(p.PerSecond), p.Burst)
		s := p.Paced(hodl.Sandbox)
		r.sandbox = NewLimiter(kind, float64(s.PerSecond), s.Burst)
	}
	return r
}

// Take counts one for a workspace, live and sandbox apart. A plan there is not is
// not bounded.
func (r *Rates) Take(ws hodl.WorkspaceID, plan hodl.PlanName, m hodl.Mode, now time.Time) (hodl.Limit, bool) {
	l := r.live[plan]
	if m == hodl.Sandbox {
		l = r.sandbox
	}
	if l == nil {
		return hodl.Limit{}, true
	}
	return l.Take(string(ws), now)
}
