package hodl

import (
	"cmp"
	"time"
)

// A Workspace is the tenant: everything belongs to exactly one.
type Workspace struct {
	ID        WorkspaceID
	Name      string // unique on the server, for its operator
	Label     string // what its members call it; "" for the name
	Plan      PlanName
	Limits    TokenLimits
	Receipts  bool // whether resume tokens get a receipt, which tells the size of the log
	CreatedAt time.Time
}

// TokenLimits is how far a workspace lets its resume tokens go. They bind tokens
// minted from then on; the cap binds at once.
type TokenLimits struct {
	TTL           time.Duration // the longest life of a token; at most [MaxTTL]
	MaxHydrations int           // the most a token is good for; at most [MaxHydrations]
	Hourly        int           // hydrations of one session in an hour of the clock (UTC); 0 for no cap
}

// DefaultLimits are those of a workspace that has set none.
var DefaultLimits = TokenLimits{TTL: MaxTTL, MaxHydrations: MaxHydrations}

// Check reports every fault of the limits, or nil, by the names the API gives them.
func (l TokenLimits) Check() error {
	var f faults
	if l.TTL < MinTTL || l.TTL > MaxTTL || l.TTL%time.Second != 0 {
		f.add("max_ttl_seconds", "is %v; it must be whole seconds from %d to %d", l.TTL.Seconds(), int(MinTTL.Seconds()), int(MaxTTL.Seconds()))
	}
	if l.MaxHydrations < 1 || l.MaxHydrations > MaxHydrations {
		f.add("max_hydrations", "is %d; it must be from 1 to %d", l.MaxHydrations, MaxHydrations)
	}
	if l.Hourly < 0 {
		f.add("hydrations_an_hour", "is %d; it must be 0, for no cap, or more", l.Hourly)
	}
	return f.err()
}

// Allow refuses a token that goes further than a limit the workspace has lowered.
// The largest are for whoever makes the token to keep.
func (l TokenLimits) Allow(t *Token) error {
	var f faults
	if ttl := t.ExpiresAt.Sub(t.IssuedAt.Truncate(time.Second)); l.TTL < MaxTTL && ttl > l.TTL {
		f.add("ttl_seconds", "is %d; this workspace allows at most %d", int(ttl.Seconds()), int(l.TTL.Seconds()))
	}
	if l.MaxHydrations < MaxHydrations && t.MaxHydrations > l.MaxHydrations {
		f.add("max_hydrations", "is %d; this workspace allows at most %d", t.MaxHydrations, l.MaxHydrations)
	}
	return f.err()
}

// Role is what a member may do in a workspace.
type Role string

const (
	Admin  Role = "admin"
	Member Role = "member"
)

// Called is what the members call the workspace. Other workspaces may be called the
// same: a name that is taken would tell of them.
func (w *Workspace) Called() string { return cmp.Or(w.Label, w.Name) }

// A Membership is a user in a workspace. A user id is the same person in every
// workspace.
type Membership struct {
	Workspace WorkspaceID
	User      UserID
	Name      string
	Role      Role
	CreatedAt time.Time
	RemovedAt time.Time // zero while they are a member
}

// CheckRole reports what is wrong with a role, or nil.
func CheckRole(r Role) error {
	var f faults
	f.oneOf("role", string(r), string(Admin), string(Member))
	return f.err()
}
