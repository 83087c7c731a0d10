package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"hodl"
)

// FirstAdmin returns the member of a workspace who was first made an admin.
func (s *Store) FirstAdmin(ctx context.Context, ws hodl.WorkspaceID) (hodl.UserID, error) {
	var id hodl.UserID
	err := s.view(ctx, ws, func(q querier) error {
		return q.QueryRowContext(ctx, `select id from members where workspace = $1 and role = $2 and removed_at = 0 order by created_at, id limit 1`, ws, hodl.Admin).Scan(&id)
	})
	return id, missing(err, "admin of workspace", ws)
}

// AddMember makes user a member of a workspace, again if they were removed.
func (s *Store) AddMember(ctx context.Context, ws hodl.WorkspaceID, user hodl.UserID, name string, role hodl.Role) error {
	return s.Invite(ctx, hodl.Membership{Workspace: ws, User: user, Name: name, Role: role, CreatedAt: s.now()}, nil)
}

// Invite makes somebody a member and keeps the invitation they join with, if there
// is one, in one transaction.
func (s *Store) Invite(ctx context.Context, m hodl.Membership, invitation *NewKey) error {
	err := s.change(ctx, m.Workspace, func(tx *sql.Tx) error {
		err := affected(tx.ExecContext(ctx, `insert into members (workspace, id, name, role, created_at) values ($1, $2, $3, $4, $5)
			on conflict (workspace, id) do update set name = excluded.name, role = excluded.role, removed_at = 0 where members.removed_at > 0`,
			m.Workspace, m.User, m.Name, m.Role, micros(m.CreatedAt)))
		if err != nil || invitation == nil {
			return err
		}
		return addKey(ctx, tx, &invitation.APIKey, invitation.Digest)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return hodl.Errorf(hodl.Conflict, "%s is already a member", m.User)
	}
	return wrap(err, "add member")
}

const memberColumns = `id, name, role, created_at, removed_at`

func scanMember(ws hodl.WorkspaceID, row scanner) (*hodl.Membership, error) {
	m := &hodl.Membership{Workspace: ws}
	var created, removed int64
	err := row.Scan(&m.User, &m.Name, &m.Role, &created, &removed)
	m.CreatedAt, m.RemovedAt = timeOf(created), timeOf(removed)
	return m, err
}

// Members lists the members of a workspace, newest first.
func (s *Store) Members(ctx context.Context, ws hodl.WorkspaceID, p Page) ([]*hodl.Membership, error) {
	before := p.BeforeID
	if before == "" {
		before = "usr_z" // sorts after every id the server makes, in any collation
	}
	var out []*hodl.Membership
	err := s.view(ctx, ws, func(q querier) (err error) {
		out, err = rowsOf(ctx, q, func(row *sql.Rows) (*hodl.Membership, error) { return scanMember(ws, row) },
			`select `+memberColumns+` from members where workspace = $1 and removed_at = 0 and id < $2 and created_at >= $3 order by id desc limit $4`,
			ws, before, micros(p.Since), p.Limit)
		return err
	})
	return out, err
}

// Member returns a member of a workspace, who may have been removed.
func (s *Store) Member(ctx context.Context, ws hodl.WorkspaceID, user hodl.UserID) (*hodl.Membership, error) {
	var out *hodl.Membership
	err := s.view(ctx, ws, func(q querier) (err error) {
		out, err = scanMember(ws, q.QueryRowContext(ctx, `select `+memberColumns+` from members where workspace = $1 and id = $2`, ws, user))
		return err
	})
	return out, missing(err, "member", user)
}

// ChangeMember lets change decide on a member as they stand. The last admin of a
// workspace stays one, whoever else changes admins meanwhile: that is a
// [hodl.Conflict]. The keys of a member who was removed open nothing from then on.
func (s *Store) ChangeMember(ctx context.Context, ws hodl.WorkspaceID, user hodl.UserID, change func(*hodl.Membership) error) (*hodl.Membership, error) {
	var out *hodl.Membership
	err := s.change(ctx, ws, func(tx *sql.Tx) error {
		// In one order, so that two who change members wait for each other.
		list, err := rowsOf(ctx, tx, func(row *sql.Rows) (*hodl.Membership, error) { return scanMember(ws, row) },
			`select `+memberColumns+` from members where workspace = $1 and (id = $2 or role = $3 and removed_at = 0) order by id`+s.locked(), ws, user, hodl.Admin)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(list, func(m *hodl.Membership) bool { return m.User == user })
		if i < 0 {
			return sql.ErrNoRows
		}
		out = list[i]
		if err := change(out); err != nil {
			return err
		}
		if !slices.ContainsFunc(list, func(m *hodl.Membership) bool { return m.Role == hodl.Admin && m.RemovedAt.IsZero() }) {
			return hodl.Errorf(hodl.Conflict, "%s is the last admin of the workspace", user).WithHint("make another member an admin first")
		}
		_, err = tx.ExecContext(ctx, `update members set name = $3, role = $4, removed_at = $5 where workspace = $1 and id = $2`, ws, user, out.Name, out.Role, micros(out.RemovedAt))
		return err
	})
	return out, missing(err, "member", user)
}

// Memberships lists the workspaces a person is a member of, newest first.
func (s *Store) Memberships(ctx context.Context, user hodl.UserID) ([]*hodl.Membership, error) {
	query := `select workspace from members where id = $1 and removed_at = 0`
	if s.Engine() == "postgres" {
		query = `select hodl_workspaces_of($1)` // row-level security hides the table
	}
	var ids []hodl.WorkspaceID
	err := s.engine.outside(ctx, func(q querier) (err error) {
		ids, err = rowsOf(ctx, q, func(row *sql.Rows) (ws hodl.WorkspaceID, err error) { return ws, row.Scan(&ws) }, query, user)
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(ids)
	slices.Reverse(ids)
	out := make([]*hodl.Membership, 0, len(ids))
	for _, ws := range ids {
		m, err := s.Member(ctx, ws, user)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// MemberUsage is how many hydrations of a member's sessions there were.
type MemberUsage struct {
	User       hodl.UserID
	Name       string
	Hydrations int64
}

// UsedByMember counts the hydrations since a time, by whose sessions they were of.
// It counts access records: those removed and those who used nothing are told too.
func (s *Store) UsedByMember(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, since time.Time) ([]MemberUsage, error) {
	var out []MemberUsage
	err := s.view(ctx, ws, func(q querier) (err error) {
		out, err = rowsOf(ctx, q, func(row *sql.Rows) (u MemberUsage, err error) { return u, row.Scan(&u.User, &u.Name, &u.Hydrations) },
			`select m.id, m.name, (select count(*) from access_records r
				where r.workspace = m.workspace and r.mode = $2 and r.member = m.id and r.id >= $3 and r.kind = $4 and r.at >= $5)
			from members m where m.workspace = $1 order by 3 desc, m.id`,
			ws, m, hodl.LowestID("acr", since), hodl.KindHydrate, micros(since))
		return err
	})
	return out, err
}
