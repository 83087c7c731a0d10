package hodl

import "time"

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
