package hodl

import (
	"slices"
	"strings"
	"time"
)

// A Workspace is the tenant: everything belongs to exactly one.
type Workspace struct {
	ID        WorkspaceID
	Name      string
	Plan      PlanName
	CreatedAt time.Time
}

// Role is what a member may do in a workspace.
type Role string

const (
	Admin  Role = "admin"
	Member Role = "member"
)

// An APIKey is a long-lived credential of a user in a workspace. The key itself
// is shown once and kept only as a hash.
type APIKey struct {
	ID         KeyID
	Workspace  WorkspaceID
	User       UserID
	Mode       Mode
	Name       string
	LastFour   string
	Scopes     []string // resource:read or resource:write; "*" for all
	CreatedAt  time.Time
	LastUsedAt time.Time // zero when never
	RevokedAt  time.Time // zero while it is not
}

// A Principal is who is calling with an API key. It is made by the auth package
// alone, from the stored key.
type Principal struct {
	Workspace WorkspaceID
	User      UserID
	Key       KeyID
	Mode      Mode
	Role      Role
	Plan      PlanName
	Scopes    []string
}

// May reports whether the key carries scope, such as "sessions:read". A write
// scope implies the read of the same resource.
func (p *Principal) May(scope string) bool {
	if slices.Contains(p.Scopes, "*") || slices.Contains(p.Scopes, scope) {
		return true
	}
	resource, isRead := strings.CutSuffix(scope, ":read")
	return isRead && slices.Contains(p.Scopes, resource+":write")
}
