package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"hodl"
	"hodl/internal/seal"
)

// A rotation of a data key has four steps: a new version is made and the old ones are
// retired, in one transaction; every value under an old one is sealed anew, a few at a
// time; when a pass finds none, the old ones are removed. What is retired and not
// removed tells the next run where the last one stopped. Content never changes: only
// what it is sealed with.

// A Rotated is what became of a workspace's data key.
type Rotated struct {
	Version uint32 // the current one
	Resumed bool   // a rotation begun before was finished; no new version was made
	Values  int64  // sealed anew
	Removed int    // older versions
}

// ErrUnreadable tells that values do not open. Their keys are kept.
var ErrUnreadable = errors.New("some values do not open, so the older keys are kept: hodl doctor names them")

// Workspaces lists every workspace. On PostgreSQL the role that owns the tables must
// have been named.
func (s *Store) Workspaces(ctx context.Context) (list []hodl.WorkspaceID, err error) {
	err = s.engine.across(ctx, func(q querier) error {
		list, err = everyWorkspace(ctx, q)
		return err
	})
	return list, err
}

// RotateDataKey seals everything of a workspace with a new data key, while servers
// work: each write waits for a few values at most. step is told how many were sealed.
func (s *Store) RotateDataKey(ctx context.Context, ws hodl.WorkspaceID, step func(values int64)) (Rotated, error) {
	out, err := s.beginRotation(ctx, ws)
	if err != nil {
		return out, wrap(err, "make a data key of %s", ws)
	}
	s.ring.Forget(ws)
	for {
		p := &pass{Store: s, ws: ws, current: out.Version, step: func() { out.Values++; step(out.Values) }}
		if err := p.run(ctx); err != nil {
			return out, wrap(err, "seal values of %s anew", ws)
		}
		if p.unreadable > 0 {
			return out, fmt.Errorf("workspace %s, %d values: %w", ws, p.unreadable, ErrUnreadable)
		}
		if p.found == 0 {
			break
		}
	}
	out.Removed, err = s.endRotation(ctx, ws, out.Version)
	return out, wrap(err, "remove the older data keys of %s", ws)
}

// beginRotation makes the next version, unless an older rotation is to be finished.
func (s *Store) beginRotation(ctx context.Context, ws hodl.WorkspaceID) (out Rotated, err error) {
	err = s.underMaster(ctx, ws, func(tx *sql.Tx) error {
		out = Rotated{}
		query := selectDataKeys
		if s.Engine() == "postgres" {
			query += ` for update` // who saves under these keys has done so, or will be refused
		}
		keys, err := rowsOf(ctx, tx, func(row *sql.Rows) (DataKey, error) { return scanDataKey(row) }, query, ws)
		if err != nil {
			return err
		}
		if len(keys) == 0 {
			return missing(sql.ErrNoRows, "workspace", ws)
		}
		out.Version = keys[len(keys)-1].Version
		if out.Resumed = len(keys) > 1; out.Resumed {
			return nil
		}
		out.Version++
		wrapped, err := s.master.Wrap(ws, out.Version, seal.NewDataKey())
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `update data_keys set retired_at = $2 where workspace = $1`, ws, micros(s.now())); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `insert into data_keys (workspace, version, wrapped, created_at) values ($1, $2, $3, $4)`, ws, int64(out.Version), wrapped, micros(s.now()))
		return err
	})
	return out, err
}

func (s *Store) endRotation(ctx context.Context, ws hodl.WorkspaceID, current uint32) (removed int, err error) {
	err = s.change(ctx, ws, func(tx *sql.Tx) error {
		r, err := tx.ExecContext(ctx, `delete from data_keys where workspace = $1 and version < $2 and retired_at > 0`, ws, int64(current))
		if err != nil {
			return err
		}
		n, err := r.RowsAffected()
		removed = int(n)
		return err
	})
	s.ring.Forget(ws)
	return removed, err
}

// A pass looks at every sealed value of a workspace once.
type pass struct {
	*Store
	ws         hodl.WorkspaceID
	current    uint32
	found      int64 // values under an older key
	unreadable int64
	step       func()
}

// A staleValue is one under an older key.
type staleValue struct {
	key  []string
	head []byte
	size int64
}

const (
	passPage  = 500     // rows looked at in one query
	passRows  = 64      // rows sealed anew in one transaction
	passBytes = 1 << 20 // of them, unless one alone is larger
)

func (p *pass) run(ctx context.Context) error {
	for i := range sealedColumns {
		if err := p.column(ctx, &sealedColumns[i]); err != nil {
			return err
		}
	}
	return nil
}

// column goes through a column in the order of its key.
func (p *pass) column(ctx context.Context, c *sealedColumn) error {
	at := make([]string, len(c.key))
	for {
		page, err := p.page(ctx, c, at)
		if err != nil || len(page) == 0 {
			return err
		}
		at = page[len(page)-1].key
		var old []staleValue
		for _, v := range page {
			if seal.VersionOf(v.head) < p.current {
				old = append(old, v)
			}
		}
		for len(old) > 0 {
			n := portion(old)
			if err := p.renew(ctx, c, old[:n]); err != nil {
				return err
			}
			old = old[n:]
		}
	}
}

// portion is how many values go into the next transaction.
func portion(list []staleValue) int {
	var size int64
	for i, v := range list {
		if size += v.size; i == passRows || i > 0 && size > passBytes {
			return i
		}
	}
	return len(list)
}

func (p *pass) page(ctx context.Context, c *sealedColumn, after []string) (out []staleValue, err error) {
	names := strings.Join(c.key, ", ")
	query := `select ` + names + `, substr(` + c.column + `, 1, ` + strconv.Itoa(seal.HeadSize) + `), length(` + c.column + `) from ` + c.table +
		` where workspace = $1 and ` + c.column + ` is not null and (` + names + `) > (` + places(2, len(c.key)) + `) order by ` + names + ` limit ` + strconv.Itoa(passPage)
	err = p.view(ctx, p.ws, func(q querier) error {
		out, err = rowsOf(ctx, q, func(row *sql.Rows) (staleValue, error) {
			v := staleValue{key: make([]string, len(c.key))}
			into := make([]any, 0, len(c.key)+2)
			for i := range v.key {
				into = append(into, &v.key[i])
			}
			return v, row.Scan(append(into, &v.head, &v.size)...)
		}, query, keyArgs(p.ws, after)...)
		return err
	})
	return out, err
}

// places lists n placeholders, the first numbered from.
func places(from, n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = "$" + strconv.Itoa(from+i)
	}
	return strings.Join(out, ", ")
}

func keyArgs(ws hodl.WorkspaceID, key []string, more ...any) []any {
	out := []any{ws}
	for _, k := range key {
		out = append(out, k)
	}
	return append(out, more...)
}

// renew seals a few values anew, and then rests for as long as that took: others want
// the database as well.
func (p *pass) renew(ctx context.Context, c *sealedColumn, list []staleValue) error {
	start := time.Now()
	p.found += int64(len(list))
	fresh := make([][]byte, len(list))
	for i, v := range list {
		var err error
		if fresh[i], err = p.reseal(ctx, c, v); err != nil {
			return err
		}
	}
	if err := p.save(ctx, c, list, fresh); err != nil {
		return err
	}
	rest := time.NewTimer(time.Since(start))
	defer rest.Stop()
	select {
	case <-rest.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reseal returns nil for a value that is gone, or does not open.
func (p *pass) reseal(ctx context.Context, c *sealedColumn, v staleValue) ([]byte, error) {
	var sealed []byte
	err := p.view(ctx, p.ws, func(q querier) error {
		_, err := found(q.QueryRowContext(ctx, `select `+c.column+` from `+c.table+` where workspace = $1 and `+c.matches(), keyArgs(p.ws, v.key)...).Scan(&sealed))
		return err
	})
	if err != nil || sealed == nil {
		return nil, err
	}
	plain, err := p.ring.Open(ctx, p.ws, c.purpose, c.of(v.key), sealed)
	switch {
	case errors.Is(err, seal.ErrCorrupt) || errors.Is(err, seal.ErrWrongMaster) || errors.Is(err, errKeyGone):
		p.unreadable++
		return nil, nil
	case err != nil:
		return nil, err
	}
	return p.ring.Seal(ctx, p.ws, c.purpose, c.of(v.key), plain)
}

// matches names the row of a key, whose values stand from $2 on.
func (c *sealedColumn) matches() string {
	out := make([]string, len(c.key))
	for i, name := range c.key {
		out[i] = name + " = $" + strconv.Itoa(i+2)
	}
	return strings.Join(out, " and ")
}

// save replaces each value unless it is another by now. A database that broke a
// deadlock for another's sake is asked again.
func (p *pass) save(ctx context.Context, c *sealedColumn, list []staleValue, fresh [][]byte) error {
	next := len(c.key) + 2
	update := `update ` + c.table + ` set ` + c.column + ` = $` + strconv.Itoa(next) + ` where workspace = $1 and ` + c.matches() +
		` and substr(` + c.column + `, 1, ` + strconv.Itoa(seal.HeadSize) + `) = $` + strconv.Itoa(next+1)
	save := func() error {
		return p.change(ctx, p.ws, func(tx *sql.Tx) error {
			for i, v := range list {
				if fresh[i] == nil {
					continue
				}
				if _, err := tx.ExecContext(ctx, update, keyArgs(p.ws, v.key, fresh[i], v.head)...); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := save()
	for range 5 {
		if hodl.CodeOf(err) != hodl.Unavailable || ctx.Err() != nil {
			break
		}
		err = save()
	}
	for i := range list {
		if err == nil && fresh[i] != nil {
			p.step()
		}
	}
	return err
}
