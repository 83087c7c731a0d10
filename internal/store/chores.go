package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"hodl"
)

// choreStep is how many hodls one transaction of a chore touches.
const choreStep = 200

// Chores does for the hodls of all workspaces what nobody waits for: it erases those
// whose deletion can no longer be undone, and indexes those that came before there
// was an index. It works in small steps between which others have their turn.
func (s *Store) Chores(ctx context.Context) error {
	before := s.undoable()
	var list []hodl.WorkspaceID
	err := s.engine.outside(ctx, func(q querier) (err error) {
		list, err = s.engine.chores(ctx, q, before)
		return err
	})
	for _, ws := range list {
		for _, chore := range []func() (int, error){
			func() (int, error) { return s.purgeHodls(ctx, ws, before) },
			func() (int, error) { return s.indexHodls(ctx, ws, hodl.Live) },
			func() (int, error) { return s.indexHodls(ctx, ws, hodl.Sandbox) },
		} {
			for n := choreStep; err == nil && n == choreStep; {
				if err = ctx.Err(); err == nil {
					n, err = chore()
				}
			}
		}
	}
	return wrap(err, "do the chores of hodls")
}

func (s *Store) purgeHodls(ctx context.Context, ws hodl.WorkspaceID, before time.Time) (n int, err error) {
	err = s.change(ctx, ws, func(tx *sql.Tx) error {
		n, err = s.engine.purge(ctx, tx, ws, before, choreStep)
		return err
	})
	return n, err
}

func scanWorkspaceID(row *sql.Rows) (ws hodl.WorkspaceID, err error) { return ws, row.Scan(&ws) }

// An unindexed hodl is one that came before there was an index.
type unindexed struct {
	*hodl.Hodl
	member hodl.UserID
}

// indexHodls indexes up to a step of the hodls that are not.
func (s *Store) indexHodls(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode) (int, error) {
	var list []unindexed
	err := s.view(ctx, ws, func(q querier) (err error) {
		list, err = rowsOf(ctx, q, func(row *sql.Rows) (unindexed, error) {
			var x unindexed
			var err error
			x.Hodl, err = s.scanHodl(ctx, ws, m, after{row, []any{&x.member}})
			return x, err
		}, `select h.member, `+hodlColumns+` from hodls h where workspace = $1 and mode = $2 and known = `+s.engine.empty()+` limit $3`, ws, m, choreStep)
		return err
	})
	if err != nil {
		return 0, err
	}
	writes := make([]*write, len(list))
	for i, x := range list {
		writes[i], err = s.indexWrite(ctx, ws, m, x)
		if err != nil {
			return 0, err
		}
	}
	for _, e := range s.writer.doAll(ctx, writes) {
		if errors.Is(e, errRetired) {
			s.ring.Forget(ws) // its turn comes again
		} else if e != nil {
			return 0, e
		}
	}
	return len(list), nil
}

// indexWrite saves a hodl as it is, unless it was indexed or changed meanwhile.
func (s *Store) indexWrite(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, x unindexed) (*write, error) {
	p, err := s.prepareHodl(ctx, &HodlWrite{Workspace: ws, Mode: m, User: x.member}, *x.Hodl)
	if err != nil {
		return nil, err
	}
	return &write{
		seals: sealedWith(ws, p.next.selection),
		need:  func(r *rows) { r.wantHodl(p.key.partition, p.key.member, p.key.id) },
		decide: func(r *rows) error {
			row := r.hodls[p.key]
			if row != nil && len(row.known) == 0 && row.UpdatedAt.Equal(x.UpdatedAt) {
				next := p.next
				r.putHodl(p.key, &next)
			}
			return nil
		},
	}, nil
}
