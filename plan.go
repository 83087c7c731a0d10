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
	PerSecond  int   // requests; mints and hydrations, each
	Burst      int
	First      bool // served first when the writer is busy
}

// SandboxHydrations is what sandbox keys may do in a month, whatever the plan.
const SandboxHydrations = 10_000

var plans = map[PlanName]Plan{
	Developer:  {Developer, 10_000, 10, 40, false},
	Startup:    {Startup, 1_000_000, 100, 400, false},
	Scale:      {Scale, 0, 1_000, 4_000, true},
	Enterprise: {Enterprise, 0, 0, 0, true},
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

// Paced returns the plan that says how fast a mode may go and who is served first:
// the sandbox goes as Developer, whatever the workspace's plan.
func (p Plan) Paced(m Mode) Plan {
	if m == Sandbox {
		return plans[Developer]
	}
	return p
}

// A Limit is where a caller stands under a bound on how much may be done in a time.
// One whose quota is zero bounds nothing.
type Limit struct {
	Name   string        // of the bound: default, captures, mints, hydrations, token, address, month, hour
	Quota  int64         // how much may be done at once
	Window time.Duration // in which a quota that was used up comes back
	Left   int64         // how much may be done now
	Wait   time.Duration // until there is more than that
}

// TooFast returns a [RateLimited] refusal that tells where the caller stands.
func TooFast(l Limit, message string) *Error {
	e := Errorf(RateLimited, "%s", message).WithHint("wait for the time in Retry-After")
	e.RetryAfter, e.Limit = l.Wait, &l
	return e
}

// Busy returns the [Unavailable] refusal of a write that gives way to those of
// larger plans.
func Busy() *Error {
	e := Errorf(Unavailable, "too many writes are waiting, and larger plans go first").WithHint("send the request again after the time in Retry-After")
	e.RetryAfter = time.Second
	return e
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
