package store

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"

	"hodl/internal/ledger"
)

// brokenLog is the refusal to go on with a log that is not what was signed.
func brokenLog(p partition, what string, args ...any) error {
	return tampered(p.String(), what, args...)
}

// String names the log of a partition.
func (p partition) String() string { return fmt.Sprintf("the access log of %s (%s)", p.ws, p.mode) }

func tampered(log, what string, args ...any) error {
	return fmt.Errorf("%s is not the one this server signed: %s. It was changed past hodl, or the disk lost what it had: stop, keep the database as it is, "+
		"run hodl doctor to see which records differ, and restore the last backup into another place to compare", log, fmt.Sprintf(what, args...))
}

// logs lists logs with their sizes. Row-level security hides them: on PostgreSQL a
// function tells.
func (s *Store) logs(ctx context.Context, sqlite, postgres string, args ...any) (map[partition]int64, error) {
	query := sqlite
	if s.Engine() == "postgres" {
		query = `select workspace, mode, size from ` + postgres
	}
	out := map[partition]int64{}
	err := s.engine.outside(ctx, func(q querier) error {
		clear(out)
		return takeAll(ctx, q, func(row scanner) error {
			var p partition
			var size int64
			err := row.Scan(&p.ws, &p.mode, &size)
			out[p] = size
			return err
		}, query, args...)
	})
	return out, wrap(err, "list the logs")
}

// CheckLogs holds the end of every log against its signed head: what a crash could
// have harmed, and what somebody may have added or cut off. The rest is for hodl
// doctor and hodl audit verify. A log from before there was a tree gets one.
func (s *Store) CheckLogs(ctx context.Context) error {
	all, err := s.logs(ctx, sqliteLogsThere, `hodl_logs()`)
	if err != nil {
		return err
	}
	for _, p := range slices.SortedFunc(maps.Keys(all), partition.compare) {
		if err := s.checkLog(ctx, p); err != nil {
			return err
		}
	}
	return s.checkGlobalLog(ctx)
}

func (s *Store) checkLog(ctx context.Context, p partition) error {
	bare := false
	err := s.view(ctx, p.ws, func(q querier) error {
		var size, end int64
		var tree, signatures []byte
		err := q.QueryRowContext(ctx, `select h.size, h.tree, h.signatures, (select coalesce(max(r.seq), -1) + 1 from access_records r where r.workspace = h.workspace and r.mode = h.mode)
			from log_heads h where h.workspace = $1 and h.mode = $2`, p.ws, p.mode).Scan(&size, &tree, &signatures, &end)
		if bare = len(tree) == 0 || len(signatures) == 0; err != nil || bare {
			return err
		}
		if end != size {
			return brokenLog(p, "its head counts %d records and the last is number %d", size, end-1)
		}
		f, err := ledger.NewFrontier(size, tree)
		if err != nil {
			return brokenLog(p, "its head is damaged (%v)", err)
		}
		signer := *s.notary.signer.Load()
		if err := signer.Check(s.notary.checkpoint(p, size, f.Root()), signatures); err != nil {
			return brokenLog(p, "%v", err)
		}
		edge, err := ledger.FrontierOf(size, func(tiles []ledger.Tile) ([][]byte, error) { return readTiles(ctx, q, p, tiles) })
		if err != nil {
			return brokenLog(p, "%v", err)
		}
		if span, differ := f.Differ(edge); differ {
			return brokenLog(p, "records %d to %d, or the hashes over them, are others", span.From, span.To-1)
		}
		return nil
	})
	if err == nil && bare {
		err = s.plantLog(ctx, p)
	}
	return err
}

// plantLog makes the tree of a log that has none yet, or signs one that was grown
// without a key.
func (s *Store) plantLog(ctx context.Context, p partition) error {
	signer := *s.notary.signer.Load()
	err := s.change(ctx, p.ws, func(tx *sql.Tx) error {
		var size int64
		var tree []byte
		err := tx.QueryRowContext(ctx, `select size, tree from log_heads where workspace = $1 and mode = $2`+s.locked(), p.ws, p.mode).Scan(&size, &tree)
		if err != nil {
			return err
		}
		f, err := ledger.NewFrontier(size, tree)
		if len(tree) == 0 {
			f, err = plantTiles(ctx, tx, p)
		}
		if err != nil {
			return err
		}
		if f.Size() != size {
			return brokenLog(p, "its head counts %d records and there are %d", size, f.Size())
		}
		_, err = tx.ExecContext(ctx, `update log_heads set tree = $3, signatures = $4 where workspace = $1 and mode = $2`,
			p.ws, p.mode, f.Pack(), signer.Sign(s.notary.checkpoint(p, size, f.Root())))
		return err
	})
	return wrap(err, "make the tree of the log of %s (%s)", p.ws, p.mode)
}

// plantTiles reads a log from its first record, and saves its tiles.
func plantTiles(ctx context.Context, tx *sql.Tx, p partition) (*ledger.Frontier, error) {
	r, l := newRows(), &logRow{tree: &ledger.Frontier{}}
	save := func(level int, tile int64, hashes []byte) error {
		_, err := tx.ExecContext(ctx, `insert into log_tiles (workspace, mode, level, tile, hashes) values ($1, $2, $3, $4, $5)`, p.ws, p.mode, level, tile, hashes)
		return err
	}
	for {
		t := ledger.Tile{Index: l.size / ledger.TileWidth, Width: ledger.TileWidth}
		s := t.Span()
		list, err := rowsOf(ctx, tx, scanBytes, sqliteReadLeaves, p.ws, p.mode, s.From, s.To)
		if err != nil {
			return nil, err
		}
		var leaves []byte
		for _, c := range list {
			leaves = appendLeaf(leaves, c)
			l.size++
			r.grow(p, l, [32]byte(c))
		}
		if len(list) < ledger.TileWidth {
			break
		}
		if err := save(0, t.Index, leaves); err != nil {
			return nil, err
		}
	}
	for k, hashes := range r.tiles {
		if err := save(k.level, k.tile, hashes); err != nil {
			return nil, err
		}
	}
	return l.tree, nil
}
