package httpapi

import (
	"context"
	"time"

	"hodl"
	"hodl/internal/store"
)

type meReply struct {
	Body struct {
		Workspace     hodl.WorkspaceID `json:"workspace_id" doc:"The workspace"`
		WorkspaceName string           `json:"workspace_name" doc:"What the workspace is called"`
		User          hodl.UserID      `json:"user_id" doc:"The person"`
		Name          string           `json:"name" doc:"What the person is called here"`
		KeyID         hodl.KeyID       `json:"key_id" doc:"The key"`
		Key           keyBody          `json:"key" doc:"What is kept of the key"`
		Mode          hodl.Mode        `json:"mode" enum:"live,sandbox" doc:"Live or sandbox data"`
		Role          hodl.Role        `json:"role" enum:"admin,member" doc:"The person's role"`
		Plan          hodl.PlanName    `json:"plan" enum:"developer,startup,scale,enterprise" doc:"The workspace's plan"`
		Scopes        []string         `json:"scopes" doc:"What the key may do; * for everything"`
		Workspaces    []joinedBody     `json:"workspaces" doc:"All workspaces the person is a member of, newest first"`
	}
}

func (s *server) me(ctx context.Context, _ *struct{}) (*meReply, error) {
	p := principal(ctx)
	m, err := s.Store.Member(ctx, p.Workspace, p.User)
	if err != nil {
		return nil, err
	}
	k, err := s.Store.Key(ctx, p.Workspace, p.Key)
	if err != nil {
		return nil, err
	}
	out := &meReply{}
	b := &out.Body
	if b.Workspaces, err = s.joined(ctx); err != nil {
		return nil, err
	}
	for _, w := range b.Workspaces {
		if w.ID == p.Workspace {
			b.WorkspaceName = w.Name
		}
	}
	b.Workspace, b.User, b.Name, b.KeyID, b.Key = p.Workspace, p.User, m.Name, p.Key, keyOf(k)
	b.Mode, b.Role, b.Plan, b.Scopes = p.Mode, p.Role, p.Plan, p.Scopes
	return out, nil
}

// UsageQuery picks a count.
type UsageQuery struct {
	By string `query:"by" enum:"member" doc:"With an admin's key: member, to count by whose sessions they were"`
}

type memberUsage struct {
	User       hodl.UserID `json:"user_id" doc:"The person; members who were removed are counted too"`
	Name       string      `json:"name" doc:"What they are called"`
	Hydrations int64       `json:"hydrations" doc:"Hydrations of their sessions so far"`
}

type usageReply struct {
	Body struct {
		Month      string        `json:"month" doc:"The calendar month (UTC), as 2026-11"`
		Mode       hodl.Mode     `json:"mode" enum:"live,sandbox" doc:"Live or sandbox data"`
		Plan       hodl.PlanName `json:"plan" enum:"developer,startup,scale,enterprise" doc:"The workspace's plan"`
		Hydrations int64         `json:"hydrations" doc:"Hydrations so far"`
		Quota      *int64        `json:"quota" doc:"How many there may be; null for no bound"`
		ResetsAt   time.Time     `json:"resets_at" doc:"When the count starts anew (RFC 3339, UTC)"`
		Rates      []rateBody    `json:"rate_limits" doc:"How fast the workspace may go; empty for no bound"`
		Members    []memberUsage `json:"members,omitempty" doc:"By member, most first, where that was asked for"`
	}
}

func (s *server) usage(ctx context.Context, in *UsageQuery) (*usageReply, error) {
	p, now := principal(ctx), s.Store.Now()
	plan, err := hodl.PlanOf(p.Plan)
	if err != nil {
		return nil, err
	}
	used, err := s.Store.Used(ctx, p.Workspace, p.Mode, hodl.Month(now))
	if err != nil {
		return nil, err
	}
	out := &usageReply{}
	b := &out.Body
	b.Month, b.Mode, b.Plan, b.Hydrations, b.ResetsAt = hodl.Month(now), p.Mode, p.Plan, used, hodl.NextMonth(now)
	b.Rates = ratesOf(plan, p.Mode)
	if quota := plan.Quota(p.Mode); quota > 0 {
		b.Quota = &quota
	}
	if in.By == "" {
		return out, nil
	}
	if _, err := whose(p, "all"); err != nil {
		return nil, err
	}
	list, err := s.Store.UsedByMember(ctx, p.Workspace, p.Mode, hodl.ThisMonth(now))
	b.Members = usageOf(list)
	return out, err
}

func usageOf(list []store.MemberUsage) []memberUsage {
	out := make([]memberUsage, len(list))
	for i, u := range list {
		out[i] = memberUsage{u.User, u.Name, u.Hydrations}
	}
	return out
}
