package store

import (
	"context"
	"database/sql"
	"log/slog"
	"net/netip"
	"strings"
	"time"

	"hodl"
)

// AddKey keeps an API key: the digest, never the key.
func (s *Store) AddKey(ctx context.Context, k hodl.APIKey, digest [32]byte) error {
	err := s.change(ctx, k.Workspace, func(tx *sql.Tx) error { return addKey(ctx, tx, &k, digest) })
	if duplicate(err) {
		return hodl.Errorf(hodl.Conflict, "the key is already there")
	}
	return wrap(err, "add key")
}

func addKey(ctx context.Context, tx *sql.Tx, k *hodl.APIKey, digest [32]byte) error {
	_, err := tx.ExecContext(ctx, `insert into api_keys (workspace, id, member, mode, name, digest, last_four, scopes, created_at, expires_at, addresses, origins)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		k.Workspace, k.ID, k.User, k.Mode, k.Name, digest[:], k.LastFour, strings.Join(k.Scopes, " "), micros(k.CreatedAt),
		micros(k.ExpiresAt), joinPrefixes(k.Addresses), strings.Join(k.Origins, " "))
	return err
}

const keyColumns = `id, member, mode, name, last_four, scopes, addresses, origins, created_at, expires_at, last_used_at, revoked_at, replaced_by`

func scanKey(ws hodl.WorkspaceID, row scanner) (*hodl.APIKey, error) {
	k := &hodl.APIKey{Workspace: ws}
	var scopes, addresses, origins string
	var created, expires, used, revoked int64
	err := row.Scan(&k.ID, &k.User, &k.Mode, &k.Name, &k.LastFour, &scopes, &addresses, &origins, &created, &expires, &used, &revoked, &k.ReplacedBy)
	if err != nil {
		return nil, err
	}
	k.Scopes, k.Origins = strings.Fields(scopes), strings.Fields(origins)
	k.CreatedAt, k.ExpiresAt, k.LastUsedAt, k.RevokedAt = timeOf(created), timeOf(expires), timeOf(used), timeOf(revoked)
	k.Addresses, err = splitPrefixes(addresses)
	return k, err
}

func joinPrefixes(list []netip.Prefix) string {
	parts := make([]string, len(list))
	for i, p := range list {
		parts[i] = p.String()
	}
	return strings.Join(parts, " ")
}

func splitPrefixes(text string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for part := range strings.FieldsSeq(text) {
		p, err := netip.ParsePrefix(part)
		if err != nil {
			return nil, wrap(err, "read the addresses of a key")
		}
		out = append(out, p)
	}
	return out, nil
}

// A KeyFilter picks API keys of a workspace.
type KeyFilter struct {
	User   hodl.UserID // empty for any, as the next two
	Mode   hodl.Mode
	Status KeyStatus
	Page
}

// A KeyStatus tells whether a key opens anything.
type KeyStatus string

const (
	KeyActive  KeyStatus = "active"
	KeyExpired KeyStatus = "expired"
	KeyRevoked KeyStatus = "revoked"
)

// Keys lists the keys of a workspace, newest first.
func (s *Store) Keys(ctx context.Context, ws hodl.WorkspaceID, f KeyFilter) ([]*hodl.APIKey, error) {
	before := f.BeforeID
	if before == "" {
		before = "key_z" // sorts after every id the server makes, in any collation
	}
	var out []*hodl.APIKey
	err := s.view(ctx, ws, func(q querier) (err error) {
		out, err = rowsOf(ctx, q, func(row *sql.Rows) (*hodl.APIKey, error) { return scanKey(ws, row) },
			`select `+keyColumns+` from api_keys where workspace = $1 and ($2 = '' or member = $2) and ($3 = '' or mode = $3) and id < $4 and created_at >= $5
			and ($6 = '' or $6 = case when revoked_at > 0 then 'revoked' when expires_at > 0 and expires_at <= $7 then 'expired' else 'active' end)
			order by id desc limit $8`,
			ws, f.User, f.Mode, before, micros(f.Since), f.Status, micros(s.now()), f.Limit)
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

// NewKey is a key to be kept, under its digest.
type NewKey struct {
	hodl.APIKey
	Digest [32]byte
}

// ChangeKey lets change decide on a key as it stands: no two changes of one key
// decide at once. A new key that change returns is kept in the same transaction.
func (s *Store) ChangeKey(ctx context.Context, ws hodl.WorkspaceID, id hodl.KeyID, change func(*hodl.APIKey) (*NewKey, error)) error {
	err := s.change(ctx, ws, func(tx *sql.Tx) error {
		k, err := scanKey(ws, tx.QueryRowContext(ctx, `select `+keyColumns+` from api_keys where workspace = $1 and id = $2`+s.locked(), ws, id))
		if err != nil {
			return err
		}
		next, err := change(k)
		if err != nil {
			return err
		}
		if next != nil {
			if err := addKey(ctx, tx, &next.APIKey, next.Digest); err != nil {
				return err
			}
		}
		return saveKey(ctx, tx, k)
	})
	return missing(err, "key", id)
}

func saveKey(ctx context.Context, tx *sql.Tx, k *hodl.APIKey) error {
	_, err := tx.ExecContext(ctx, `update api_keys set name = $3, scopes = $4, addresses = $5, origins = $6, expires_at = $7, revoked_at = $8, replaced_by = $9
		where workspace = $1 and id = $2`,
		k.Workspace, k.ID, k.Name, strings.Join(k.Scopes, " "), joinPrefixes(k.Addresses), strings.Join(k.Origins, " "), micros(k.ExpiresAt), micros(k.RevokedAt), k.ReplacedBy)
	return err
}

// locked ends a query whose rows nobody else may change before the transaction ends.
// SQLite has one writer at a time.
func (s *Store) locked() string {
	if s.Engine() == "postgres" {
		return " for update"
	}
	return ""
}

// Principal returns who presents the key with this digest, expired or not, or
// [hodl.NotFound]. It is the one look-up that does not know its workspace yet.
func (s *Store) Principal(ctx context.Context, digest [32]byte) (*hodl.Principal, error) {
	const columns = `k.workspace, k.id, k.member, k.mode, k.scopes, k.addresses, k.origins, k.expires_at, k.last_used_at, k.revoked_at`
	const sqlite = `select ` + columns + `, m.role, w.plan
		from api_keys k join members m on m.workspace = k.workspace and m.id = k.member and m.removed_at = 0 join workspaces w on w.workspace = k.workspace
		where k.digest = $1`
	query := sqlite
	if s.Engine() == "postgres" {
		query = `select ` + columns + `, k.role, k.plan from hodl_credential($1) k`
	}
	p := &hodl.Principal{}
	var scopes, addresses, origins string
	var expires, used, revoked int64
	err := s.engine.outside(ctx, func(q querier) error {
		return q.QueryRowContext(ctx, query, digest[:]).
			Scan(&p.Workspace, &p.Key, &p.User, &p.Mode, &scopes, &addresses, &origins, &expires, &used, &revoked, &p.Role, &p.Plan)
	})
	if err == nil && revoked != 0 {
		err = sql.ErrNoRows
	}
	if err != nil {
		return nil, missing(err, "key", "of this digest")
	}
	p.Scopes, p.Origins, p.ExpiresAt = strings.Fields(scopes), strings.Fields(origins), timeOf(expires)
	if p.Addresses, err = splitPrefixes(addresses); err != nil {
		return nil, err
	}
	if p.ExpiresAt.IsZero() || s.now().Before(p.ExpiresAt) {
		s.touchKey(p, timeOf(used))
	}
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
