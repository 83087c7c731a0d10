package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"hodl"
	"hodl/internal/seal"
)

// CreateWorkspace makes a workspace, its first data key, its logs and its first
// member, who is an admin. A name that is taken is a [hodl.Conflict].
func (s *Store) CreateWorkspace(ctx context.Context, w hodl.Workspace, admin hodl.UserID) error {
	return s.Found(ctx, w, admin, nil)
}

// Found makes a workspace as [Store.CreateWorkspace] does, and its first key, if
// there is one, in the same transaction.
func (s *Store) Found(ctx context.Context, w hodl.Workspace, admin hodl.UserID, first *NewKey) error {
	now := micros(w.CreatedAt)
	err := s.underMaster(ctx, w.ID, func(tx *sql.Tx) error {
		wrapped, err := s.master.Wrap(w.ID, firstDataKey, seal.NewDataKey())
		if err != nil {
			return wrap(err, "make data key")
		}
		for _, x := range []struct {
			text string
			args []any
		}{
			{`insert into workspaces (workspace, name, label, plan, created_at) values ($1, $2, $3, $4, $5)`, []any{w.ID, w.Name, w.Label, w.Plan, now}},
			{`insert into data_keys (workspace, version, wrapped, created_at) values ($1, $2, $3, $4)`, []any{w.ID, firstDataKey, wrapped, now}},
			{`insert into members (workspace, id, name, role, created_at) values ($1, $2, $3, $4, $5)`, []any{w.ID, admin, "", hodl.Admin, now}},
			{`insert into log_heads (workspace, mode, size) values ($1, $2, 0), ($1, $3, 0)`, []any{w.ID, hodl.Live, hodl.Sandbox}},
		} {
			if _, err := tx.ExecContext(ctx, x.text, x.args...); err != nil {
				return err
			}
		}
		if first == nil {
			return nil
		}
		return addKey(ctx, tx, &first.APIKey, first.Digest)
	})
	if duplicate(err) {
		return hodl.Errorf(hodl.Conflict, "a workspace called %q is already there", w.Name).WithHint("choose another name, or leave out --create-workspace")
	}
	return wrap(err, "create workspace")
}

const firstDataKey = 1

// DataKey returns a version of a workspace's wrapped data key. With
// CurrentDataKey it serves the [seal.Ring].
func (s *Store) DataKey(ctx context.Context, ws hodl.WorkspaceID, version uint32) (wrapped []byte, err error) {
	err = s.view(ctx, ws, func(q querier) error {
		return q.QueryRowContext(ctx, `select wrapped from data_keys where workspace = $1 and version = $2`, ws, int64(version)).Scan(&wrapped)
	})
	if errors.Is(err, sql.ErrNoRows) {
		err = errKeyGone
	}
	return wrapped, wrap(err, "read data key of %s", ws)
}

// errKeyGone: a rotation removed the key after the value was read. Read again, it is
// sealed with another.
var errKeyGone = errors.New("the data key is not there")

// rereading reads, and reads again what was sealed anew meanwhile.
func rereading(read func() error) error {
	err := read()
	if errors.Is(err, errKeyGone) {
		err = read()
	}
	return err
}

// CurrentDataKey returns the version that new values are sealed with.
func (s *Store) CurrentDataKey(ctx context.Context, ws hodl.WorkspaceID) (version uint32, err error) {
	err = s.view(ctx, ws, func(q querier) error {
		return q.QueryRowContext(ctx, `select max(version) from data_keys where workspace = $1`, ws).Scan(&version)
	})
	return version, wrap(err, "read data key of %s", ws)
}

// WorkspaceNamed finds a workspace by its exact name.
func (s *Store) WorkspaceNamed(ctx context.Context, name string) (*hodl.Workspace, error) {
	id, err := s.workspaceID(ctx, name)
	if err != nil {
		return nil, missing(err, "workspace called", name)
	}
	return s.Workspace(ctx, id)
}

func (s *Store) workspaceID(ctx context.Context, name string) (hodl.WorkspaceID, error) {
	query := `select workspace from workspaces where name = $1`
	if s.Engine() == "postgres" {
		query = `select hodl_workspace_named($1)` // row-level security hides the table
	}
	var id sql.NullString
	err := s.reads.QueryRowContext(ctx, query, name).Scan(&id)
	if err == nil && !id.Valid {
		err = sql.ErrNoRows
	}
	return hodl.WorkspaceID(id.String), err
}

// Workspace returns a workspace.
func (s *Store) Workspace(ctx context.Context, id hodl.WorkspaceID) (*hodl.Workspace, error) {
	var out *hodl.Workspace
	err := s.view(ctx, id, func(q querier) (err error) {
		out, err = readWorkspace(ctx, q, id, "")
		return err
	})
	return out, missing(err, "workspace", id)
}

func readWorkspace(ctx context.Context, q querier, id hodl.WorkspaceID, locked string) (*hodl.Workspace, error) {
	w := &hodl.Workspace{ID: id}
	var created, ttl int64
	err := q.QueryRowContext(ctx, `select name, label, plan, created_at, max_ttl_seconds, max_hydrations, hydrations_an_hour, token_receipts > 0 from workspaces where workspace = $1`+locked, id).
		Scan(&w.Name, &w.Label, &w.Plan, &created, &ttl, &w.Limits.MaxHydrations, &w.Limits.Hourly, &w.Receipts)
	w.CreatedAt, w.Limits.TTL = timeOf(created), time.Duration(ttl)*time.Second
	return w, err
}

// SetPlan puts a workspace on a plan.
func (s *Store) SetPlan(ctx context.Context, id hodl.WorkspaceID, plan hodl.PlanName) error {
	err := s.change(ctx, id, func(tx *sql.Tx) error {
		return affected(tx.ExecContext(ctx, `update workspaces set plan = $2 where workspace = $1`, id, plan))
	})
	return missing(err, "workspace", id)
}

// SetLimits says how far the tokens of a workspace go, from now on.
func (s *Store) SetLimits(ctx context.Context, id hodl.WorkspaceID, l hodl.TokenLimits) error {
	_, err := s.ChangeWorkspace(ctx, id, func(w *hodl.Workspace) error {
		w.Limits = l
		return nil
	})
	return err
}

// ChangeWorkspace lets change decide on a workspace as it stands: what its members
// call it, and how far its tokens go from now on.
func (s *Store) ChangeWorkspace(ctx context.Context, id hodl.WorkspaceID, change func(*hodl.Workspace) error) (*hodl.Workspace, error) {
	var out *hodl.Workspace
	err := s.change(ctx, id, func(tx *sql.Tx) error {
		w, err := readWorkspace(ctx, tx, id, s.locked())
		if err != nil {
			return err
		}
		if err := change(w); err != nil {
			return err
		}
		if err := w.Limits.Check(); err != nil {
			return err
		}
		out = w
		_, err = tx.ExecContext(ctx, `update workspaces set label = $2, max_ttl_seconds = $3, max_hydrations = $4, hydrations_an_hour = $5, token_receipts = $6 where workspace = $1`,
			id, w.Label, int64(w.Limits.TTL.Seconds()), w.Limits.MaxHydrations, w.Limits.Hourly, oneIf(w.Receipts))
		return err
	})
	return out, missing(err, "workspace", id)
}

// oneIf is a boolean as a column of both engines.
func oneIf(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
