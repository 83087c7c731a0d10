package store

import (
	"context"
	"database/sql"
	"log/slog"
	"strings"
	"time"

	"hodl"
)

// AddKey keeps an API key: the digest, never the key.
func (s *Store) AddKey(ctx context.Context, k hodl.APIKey, digest [32]byte) error {
	err := s.change(ctx, k.Workspace, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `insert into api_keys (workspace, id, member, mode, name, digest, last_four, scopes, created_at)
			values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
			k.Workspace, k.ID, k.User, k.Mode, k.Name, digest[:], k.LastFour, strings.Join(k.Scopes, " "), micros(k.CreatedAt))
		return err
	})
	if duplicate(err) {
		return hodl.Errorf(hodl.Conflict, "the key is already there")
	}
	return wrap(err, "add key")
}

const keyColumns = `id, member, mode, name, last_four, scopes, created_at, last_used_at, revoked_at`

func scanKey(ws hodl.WorkspaceID, row scanner) (*hodl.APIKey, error) {
	k := &hodl.APIKey{Workspace: ws}
	var scopes string
	var created, used, revoked int64
	err := row.Scan(&k.ID, &k.User, &k.Mode, &k.Name, &k.LastFour, &scopes, &created, &used, &revoked)
	k.Scopes, k.CreatedAt, k.LastUsedAt, k.RevokedAt = strings.Fields(scopes), timeOf(created), timeOf(used), timeOf(revoked)
	return k, err
}

// Keys lists the keys of a workspace, newest first, of one user if user is not
// empty.
func (s *Store) Keys(ctx context.Context, ws hodl.WorkspaceID, user hodl.UserID, p Page) ([]*hodl.APIKey, error) {
	before := p.BeforeID
	if before == "" {
		before = "key_z" // sorts after every id the server makes, in any collation
	}
	var out []*hodl.APIKey
	err := s.view(ctx, ws, func(q querier) (err error) {
		out, err = rowsOf(ctx, q, func(row *sql.Rows) (*hodl.APIKey, error) { return scanKey(ws, row) },
			`select `+keyColumns+` from api_keys where workspace = $1 and ($2 = '' or member = $2) and id < $3 and created_at >= $4 order by id desc limit $5`,
			ws, user, before, micros(p.Since), p.Limit)
		return err
	})
	return out, err
}

// Key returns a key by its id.
func (s *Store) Key(ctx context.Context, ws hodl.WorkspaceID, id hodl.KeyID) (*hodl.APIKey, error) {
	var out *hodl.APIKey
	err := s.view(ctx, ws, func(q querier) (err error) {
		out, err = scanKey(ws, q.QueryRowContext(ctx, `select `+keyColumns+` from api_keys where workspace = $1 and id = $2`, ws, id))
		return err
	})
	return out, missing(err, "key", id)
}

// RevokeKey ends a key. To end it twice is no error.
func (s *Store) RevokeKey(ctx context.Context, ws hodl.WorkspaceID, id hodl.KeyID) error {
	return s.change(ctx, ws, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `update api_keys set revoked_at = $3 where workspace = $1 and id = $2 and revoked_at = 0`, ws, id, micros(s.now()))
		return err
	})
}

// Principal returns who presents the key with this digest, or [hodl.NotFound]. It
// is the one look-up that does not know its workspace yet.
func (s *Store) Principal(ctx context.Context, digest [32]byte) (*hodl.Principal, error) {
	query := `select k.workspace, k.id, k.member, k.mode, k.scopes, k.last_used_at, k.revoked_at, m.role, w.plan
		from api_keys k join members m on m.workspace = k.workspace and m.id = k.member join workspaces w on w.workspace = k.workspace
		where k.digest = $1`
	if s.Engine() == "postgres" {
		query = `select workspace, id, member, mode, scopes, last_used_at, revoked_at, role, plan from hodl_credential($1)`
	}
	p := &hodl.Principal{}
	var scopes string
	var used, revoked int64
	err := s.engine.outside(ctx, func(q querier) error {
		return q.QueryRowContext(ctx, query, digest[:]).Scan(&p.Workspace, &p.Key, &p.User, &p.Mode, &scopes, &used, &revoked, &p.Role, &p.Plan)
	})
	if err == nil && revoked != 0 {
		err = sql.ErrNoRows
	}
	if err != nil {
		return nil, missing(err, "key", "of this digest")
	}
	p.Scopes = strings.Fields(scopes)
	s.touchKey(p, timeOf(used))
	return p, nil
}

// usedEvery is how precisely the last use of a key is kept.
const usedEvery = time.Minute

// touchKey writes down that a key was used, in the background and at most once a
// minute.
func (s *Store) touchKey(p *hodl.Principal, last time.Time) {
	now := s.now()
	if now.Sub(last) < usedEvery {
		return
	}
	if before, ok := s.used.Swap(p.Key, now); ok && now.Sub(before.(time.Time)) < usedEvery {
		s.used.Store(p.Key, before)
		return
	}
	s.background.Go(func() {
		err := s.change(context.Background(), p.Workspace, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(context.Background(), `update api_keys set last_used_at = $3 where workspace = $1 and id = $2 and last_used_at < $3`,
				p.Workspace, p.Key, micros(now))
			return err
		})
		if err != nil {
			s.log.Warn("the last use of a key was not written down", slog.String("key", string(p.Key)), slog.Any("error", err))
		}
	})
}
