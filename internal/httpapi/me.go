package httpapi

import (
	"context"
	"time"

	"hodl"
)

type meReply struct {
	Body struct {
		Workspace hodl.WorkspaceID `json:"workspace_id" doc:"The workspace"`
		User      hodl.UserID      `json:"user_id" doc:"The person"`
		Key       hodl.KeyID       `json:"key_id" doc:"The key"`
		Mode      hodl.Mode        `json:"mode" enum:"live,sandbox" doc:"Live or sandbox data"`
		Role      hodl.Role        `json:"role" enum:"admin,member" doc:"The person's role"`
		Plan      hodl.PlanName    `json:"plan" enum:"developer,startup,scale,enterprise" doc:"The workspace's plan"`
		Scopes    []string         `json:"scopes" doc:"What the key may do; * for everything"`
	}
}

func (s *server) me(ctx context.Context, _ *struct{}) (*meReply, error) {
	p := principal(ctx)
	out := &meReply{}
	b := &out.Body
	b.Workspace, b.User, b.Key, b.Mode, b.Role, b.Plan, b.Scopes = p.Workspace, p.User, p.Key, p.Mode, p.Role, p.Plan, p.Scopes
	return out, nil
}

type usageReply struct {
	Body struct {
		Month      string        `json:"month" doc:"The calendar month (UTC), as 2026-11"`
		Mode       hodl.Mode     `json:"mode" enum:"live,sandbox" doc:"Live or sandbox data"`
		Plan       hodl.PlanName `json:"plan" enum:"developer,startup,scale,enterprise" doc:"The workspace's plan"`
		Hydrations int64         `json:"hydrations" doc:"Hydrations so far"`
		Quota      *int64        `json:"quota" doc:"How many there may be; null for no bound"`
		ResetsAt   time.Time     `json:"resets_at" doc:"When the count starts anew (RFC 3339, UTC)"`
	}
}

func (s *server) usage(ctx context.Context, _ *struct{}) (*usageReply, error) {
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
	if quota := plan.Quota(p.Mode); quota > 0 {
		b.Quota = &quota
	}
	return out, nil
}
