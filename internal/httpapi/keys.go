package httpapi

import (
	"context"
	"slices"
	"time"

	"hodl"
	"hodl/internal/auth"
)

type keyBody struct {
	ID         hodl.KeyID  `json:"id" doc:"The key's id"`
	Key        string      `json:"key,omitempty" doc:"The key itself, when it was just made; it is shown this once"`
	Name       string      `json:"name" doc:"What it is for"`
	Mode       hodl.Mode   `json:"mode" enum:"live,sandbox" doc:"Live or sandbox data"`
	LastFour   string      `json:"last_four" doc:"Its last four characters"`
	Scopes     []string    `json:"scopes" doc:"What it may do; * for everything"`
	User       hodl.UserID `json:"user_id" doc:"Whose it is"`
	CreatedAt  time.Time   `json:"created_at" doc:"When it was made (RFC 3339, UTC)"`
	LastUsedAt *time.Time  `json:"last_used_at" doc:"When it was last used, to the minute; null when never"`
	RevokedAt  *time.Time  `json:"revoked_at" doc:"When it was revoked; null while it is not"`
}

func keyOf(k *hodl.APIKey) keyBody {
	return keyBody{k.ID, "", k.Name, k.Mode, k.LastFour, k.Scopes, k.User, k.CreatedAt, timeOrNull(k.LastUsedAt), timeOrNull(k.RevokedAt)}
}

type keyReply struct{ Body keyBody }

func (s *server) keyCreate(ctx context.Context, in *struct {
	Body struct {
		Name string    `json:"name" doc:"What it is for; at most 256 bytes"`
		Mode hodl.Mode `json:"mode,omitempty" enum:"live,sandbox" doc:"The mode of the calling key when absent; a sandbox key makes no live one"`
	}
},
) (*keyReply, error) {
	p := principal(ctx)
	if in.Body.Mode == "" {
		in.Body.Mode = p.Mode
	}
	if err := hodl.CheckName("name", in.Body.Name); err != nil {
		return nil, err
	}
	if in.Body.Mode == hodl.Live && p.Mode == hodl.Sandbox {
		return nil, hodl.Errorf(hodl.Forbidden, "a sandbox key makes no live key").WithHint("use a live key, or: hodl key create --mode live")
	}
	key := auth.NewKey(in.Body.Mode)
	k := hodl.APIKey{
		ID: hodl.KeyID(s.Store.NewID("key")), Workspace: p.Workspace, User: p.User, Mode: in.Body.Mode, Name: in.Body.Name,
		LastFour: auth.LastFour(key), Scopes: slices.Clone(p.Scopes), CreatedAt: s.Store.Now(),
	}
	if err := s.Store.AddKey(ctx, k, auth.Digest(key)); err != nil {
		return nil, err
	}
	out := &keyReply{keyOf(&k)}
	out.Body.Key = key
	return out, nil
}

// manages reports whether a caller may see and end a key: one of their own, and a
// live one only with a live key.
func manages(p *hodl.Principal, k *hodl.APIKey) bool {
	return k.User == p.User && (p.Mode == hodl.Live || k.Mode == hodl.Sandbox)
}

type keyListReply struct {
	Body struct {
		Keys []keyBody `json:"api_keys" doc:"A page of keys"`
		Next *string   `json:"next_cursor" doc:"Cursor of the next page; null at the end"`
	}
}

func (s *server) keyList(ctx context.Context, in *Paging) (*keyListReply, error) {
	page, err := in.byID()
	if err != nil {
		return nil, err
	}
	p := principal(ctx)
	list, err := s.Store.Keys(ctx, p.Workspace, p.User, page)
	out := &keyListReply{}
	for _, k := range list {
		if manages(p, k) {
			out.Body.Keys = append(out.Body.Keys, keyOf(k))
		}
	}
	out.Body.Next = more(list, page.Limit, func(k *hodl.APIKey) string { return encodeCursor(string(k.ID)) })
	return out, err
}

func (s *server) keyRevoke(ctx context.Context, in *struct {
	ID hodl.KeyID `path:"id" doc:"The key's id"`
},
) (*keyReply, error) {
	p := principal(ctx)
	k, err := s.Store.Key(ctx, p.Workspace, in.ID)
	if err == nil && !manages(p, k) {
		err = hodl.Errorf(hodl.NotFound, "no key %s", in.ID).WithHint("check the id; list yours to see what there is")
	}
	if err != nil {
		return nil, err
	}
	if err := s.Store.RevokeKey(ctx, p.Workspace, in.ID); err != nil {
		return nil, err
	}
	s.Keys.Forget()
	k, err = s.Store.Key(ctx, p.Workspace, in.ID)
	if err != nil {
		return nil, err
	}
	return &keyReply{keyOf(k)}, nil
}

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
