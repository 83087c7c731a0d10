package resume

import (
	"context"
	"sync"

	"hodl"
	"hodl/internal/meter"
	"hodl/internal/store"
)

// pace is how fast each workspace's tokens may be used. A token does not tell its
// workspace's plan, so it is remembered from the last commit: a warm hydration reads
// nothing, and a plan that changed counts from the use after.
type pace struct {
	rates *meter.Rates

	mu    sync.RWMutex
	plans map[hodl.WorkspaceID]hodl.PlanName
}

const mostPlans = 1 << 16

func newPace() *pace {
	return &pace{rates: meter.NewRates(meter.Hydrations), plans: map[hodl.WorkspaceID]hodl.PlanName{}}
}

func (p *pace) plan(ws hodl.WorkspaceID) (hodl.PlanName, bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	name, known := p.plans[ws]
	return name, known
}

func (p *pace) learn(ws hodl.WorkspaceID, name hodl.PlanName) {
	if was, known := p.plan(ws); known && was == name {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.plans) >= mostPlans {
		clear(p.plans)
	}
	p.plans[ws] = name
}

// slow counts a use, once, against its workspace's bucket, and lets it give way when
// the writer is busy: every use is a write.
func (s *Service) slow(u *use, name hodl.PlanName) error {
	if u.paced {
		return nil
	}
	u.paced = true
	if limit, ok := s.pace.rates.Take(u.rows.Workspace, name, u.rows.Mode, u.rows.At); !ok {
		return hodl.TooFast(limit, "this workspace's tokens are used faster than its plan allows")
	}
	if plan, err := hodl.PlanOf(name); err == nil && !plan.Paced(u.rows.Mode).First && s.store.Busy() {
		return hodl.Busy()
	}
	return nil
}

// admission reads the rows a use is decided on, and slows a use whose workspace's
// plan was not known before.
func (s *Service) admission(ctx context.Context, u *use) (store.Admission, error) {
	a, err := s.store.Prospect(ctx, u.rows)
	if err != nil {
		return a, err
	}
	s.pace.learn(u.rows.Workspace, a.Plan)
	return a, s.slow(u, a.Plan)
}
