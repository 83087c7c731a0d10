package hodl

import "time"

// PlanName is a plan's name on the wire.
type PlanName string

const (
	Developer  PlanName = "developer"
	Startup    PlanName = "startup"
	Scale      PlanName = "scale"
	Enterprise PlanName = "enterprise"
)

// A Plan bounds what a workspace may do. A zero bound is no bound.
type Plan struct {
	Name       PlanName
	Hydrations int64 // a calendar month (UTC), live keys
	PerSecond  int   // requests
	Burst      int
}

// SandboxHydrations is what sandbox keys may do in a month, whatever the plan.
const SandboxHydrations = 10_000

var plans = map[PlanName]Plan{
	Developer:  {Developer, 10_000, 10, 40},
	Startup:    {Startup, 1_000_000, 100, 400},
	Scale:      {Scale, 0, 1_000, 4_000},
	Enterprise: {Enterprise, 0, 0, 0},
}

// PlanNames lists every plan, smallest first.
var PlanNames = []PlanName{Developer, Startup, Scale, Enterprise}

// PlanOf returns the plan called name.
func PlanOf(name PlanName) (Plan, error) {
	p, ok := plans[name]
	if !ok {
		return Plan{}, Invalid("plan", "is not one of developer, startup, scale, enterprise")
	}
	return p, nil
}

// Quota returns how many hydrations a month the plan allows in a mode; 0 is no
// bound.
func (p Plan) Quota(m Mode) int64 {
	if m == Sandbox {
		return SandboxHydrations
	}
	return p.Hydrations
}

// Month names the calendar month (UTC) a hydration at t counts in, as 2026-11.
func Month(t time.Time) string { return t.UTC().Format("2006-01") }

// ThisMonth returns when the quota of the month of t started.
func ThisMonth(t time.Time) time.Time {
	y, m, _ := t.UTC().Date()
	return time.Date(y, m, 1, 0, 0, 0, 0, time.UTC)
}

// NextMonth returns when the quota of the month of t starts anew.
func NextMonth(t time.Time) time.Time {
	y, m, _ := t.UTC().Date()
	return time.Date(y, m+1, 1, 0, 0, 0, 0, time.UTC)
}
