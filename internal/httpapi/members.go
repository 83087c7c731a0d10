package httpapi

import (
	"context"
	"time"

	"hodl"
	"hodl/internal/auth"
	"hodl/internal/store"
)

// MemberBody is a member as told.
type MemberBody struct {
	User      hodl.UserID `json:"user_id" doc:"The person"`
	Name      string      `json:"name" doc:"What they are called"`
	Role      hodl.Role   `json:"role" enum:"admin,member" doc:"What they may do"`
	CreatedAt time.Time   `json:"created_at" doc:"When they became a member (RFC 3339, UTC)"`
}

func memberOf(m *hodl.Membership) MemberBody {
	return MemberBody{m.User, m.Name, m.Role, m.CreatedAt}
}

type memberReply struct{ Body MemberBody }

// MemberPath names a member.
type MemberPath struct {
	ID hodl.UserID `path:"id" doc:"The member's user id"`
}

// adminOf refuses who is no admin, and a sandbox key: who is a member and what a
// workspace is called are of both modes.
func adminOf(ctx context.Context) (*hodl.Principal, error) {
	p := principal(ctx)
	switch {
	case p.Role != hodl.Admin:
		return nil, hodl.Errorf(hodl.Forbidden, "only an admin does this").WithHint("ask an admin of the workspace; GET /v1/members lists them")
	case p.Mode != hodl.Live:
		return nil, hodl.Errorf(hodl.Forbidden, "a sandbox key changes neither members nor workspaces").WithHint("use a live key")
	}
	return p, nil
}

type memberListReply struct {
	Body struct {
		Members []MemberBody `json:"members" doc:"A page of members"`
		Next    *string      `json:"next_cursor" doc:"Cursor of the next page; null at the end"`
	}
}

func (s *server) memberList(ctx context.Context, in *Paging) (*memberListReply, error) {
	page, err := in.byID()
	if err != nil {
		return nil, err
	}
	list, err := s.Store.Members(ctx, principal(ctx).Workspace, page)
	out := &memberListReply{}
	for _, m := range list {
		out.Body.Members = append(out.Body.Members, memberOf(m))
	}
	out.Body.Next = more(list, page.Limit, func(m *hodl.Membership) string { return encodeCursor(string(m.User)) })
	return out, err
}

// goodFor is how long an invitation may be traded for a key.
const goodFor = 72 * time.Hour

type invitedReply struct {
	Body struct {
		MemberBody
		Invitation string    `json:"invitation" doc:"What they trade for their first key, once: POST /v1/members/join. It is shown this once"`
		ExpiresAt  time.Time `json:"invitation_expires_at" doc:"When the invitation ends (RFC 3339, UTC)"`
	}
}

func (s *server) memberAdd(ctx context.Context, in *struct {
	Body struct {
		Name string    `json:"name" doc:"What they are called; at most 256 bytes"`
		Role hodl.Role `json:"role,omitempty" enum:"admin,member" doc:"What they may do; member when absent"`
	}
},
) (*invitedReply, error) {
	p, err := adminOf(ctx)
	if err != nil {
		return nil, err
	}
	if in.Body.Role == "" {
		in.Body.Role = hodl.Member
	}
	if err := hodl.CheckName("name", in.Body.Name); err != nil {
		return nil, err
	}
	now, invitation := s.Store.Now(), auth.NewInvitation()
	m := hodl.Membership{Workspace: p.Workspace, User: hodl.UserID(s.Store.NewID("usr")), Name: in.Body.Name, Role: in.Body.Role, CreatedAt: now}
	k := hodl.APIKey{
		ID: hodl.KeyID(s.Store.NewID("key")), Workspace: p.Workspace, User: m.User, Mode: hodl.Live, Name: "invitation",
		LastFour: auth.LastFour(invitation), Scopes: []string{hodl.Joining}, CreatedAt: now, ExpiresAt: now.Add(goodFor),
	}
	return answer(ctx, func(nothing) *invitedReply {
		out := &invitedReply{}
		out.Body.MemberBody, out.Body.Invitation, out.Body.ExpiresAt = memberOf(&m), invitation, k.ExpiresAt
		return out
	})(done(s.Store.Invite(ctx, m, &store.NewKey{APIKey: k, Digest: auth.Digest(invitation)})))
}

// memberJoin trades an invitation for a first key. Who invited learns nothing of
// it, so that no admin holds a key to what is another's.
func (s *server) memberJoin(ctx context.Context, _ *struct{}) (*keyReply, error) {
	p, now, out := principal(ctx), s.Store.Now(), &keyReply{}
	err := s.Store.ChangeKey(ctx, p.Workspace, p.Key, func(k *hodl.APIKey) (*store.NewKey, error) {
		if len(k.Scopes) != 1 || k.Scopes[0] != hodl.Joining || !k.RevokedAt.IsZero() {
			return nil, hodl.Errorf(hodl.Forbidden, "only an invitation is traded for a key, and once").WithHint("ask an admin for an invitation: POST /v1/members")
		}
		key := auth.NewKey(hodl.Live)
		next := hodl.APIKey{
			ID: hodl.KeyID(s.Store.NewID("key")), Workspace: p.Workspace, User: p.User, Mode: hodl.Live, Name: "first key",
			LastFour: auth.LastFour(key), Scopes: []string{hodl.Everything}, CreatedAt: now,
		}
		k.RevokedAt, k.ReplacedBy = now, next.ID
		out.Body = keyOf(&next)
		out.Body.Key = key
		return &store.NewKey{APIKey: next, Digest: auth.Digest(key)}, nil
	})
	if err != nil {
		return nil, err
	}
	s.Keys.Forget()
	return out, nil
}

func noMember(id hodl.UserID) error {
	return hodl.Errorf(hodl.NotFound, "no member %s", id).WithHint("check the id; list yours to see what there is")
}

func (s *server) memberGet(ctx context.Context, in *MemberPath) (*memberReply, error) {
	m, err := s.Store.Member(ctx, principal(ctx).Workspace, in.ID)
	if err == nil && !m.RemovedAt.IsZero() {
		err = noMember(in.ID)
	}
	if err != nil {
		return nil, err
	}
	return &memberReply{memberOf(m)}, nil
}

func (s *server) memberChange(ctx context.Context, in *struct {
	MemberPath
	Body struct {
		Name *string    `json:"name,omitempty" doc:"New name"`
		Role *hodl.Role `json:"role,omitempty" enum:"admin,member" doc:"New role"`
	}
},
) (*memberReply, error) {
	p, err := adminOf(ctx)
	if err != nil {
		return nil, err
	}
	if name := in.Body.Name; name != nil {
		if err := hodl.CheckName("name", *name); err != nil {
			return nil, err
		}
	}
	reply := answer(ctx, func(m *hodl.Membership) *memberReply { return &memberReply{memberOf(m)} })
	m, err := s.Store.ChangeMember(ctx, p.Workspace, in.ID, func(m *hodl.Membership) error {
		if !m.RemovedAt.IsZero() {
			return noMember(in.ID)
		}
		if in.Body.Name != nil {
			m.Name = *in.Body.Name
		}
		if in.Body.Role != nil {
			m.Role = *in.Body.Role
		}
		store.Result(ctx, m)
		return nil
	})
	if err == nil {
		s.Keys.Forget()
	}
	return reply(m, err)
}

// memberRemove ends a member's keys and then their tokens. Removing them again ends
// the tokens that a fault left: so no single write of it keeps the answer.
func (s *server) memberRemove(ctx context.Context, in *MemberPath) (*deletedReply, error) {
	p, err := adminOf(ctx)
	if err != nil {
		return nil, err
	}
	ctx = store.WithOnce(ctx, nil)
	_, err = s.Store.ChangeMember(ctx, p.Workspace, in.ID, func(m *hodl.Membership) error {
		if m.RemovedAt.IsZero() {
			m.RemovedAt = s.Store.Now()
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.Keys.Forget()
	return answer(ctx, replyDeleted(string(in.ID)))(done(s.Resume.EndMember(ctx, caller(ctx), in.ID)))
}
