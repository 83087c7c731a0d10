package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"hodl"
	"hodl/internal/ledger"
)

// The server's own log ties the workspaces' logs together: whoever watches it sees
// every head that any of them ever had, without knowing whose. One transaction of one
// server at a time appends to it, and takes its head first, so that it cannot fork.

const (
	purposeAnchor = "anchor-key"
	// anchorLock is the advisory lock of the server whose turn it is to append.
	anchorLock = 0x6c6f67 // "log"
	// anchorMost is how many heads one transaction appends.
	anchorMost = 500
	// AnchorEvery is how often heads are appended.
	AnchorEvery = time.Second
)

// An Anchor is an entry of the server's log, as its workspace knows it.
type Anchor struct {
	Place int64 // in the server's log
	Size  int64 // of the workspace's log
	Root  ledger.Hash
}

// Anchor appends the heads of the logs that have grown to the server's log, and
// returns how many. It appends none when another server has just done so.
func (s *Store) Anchor(ctx context.Context) (int, error) {
	for some := range slices.Chunk(s.engine.owing(), few) {
		if err := s.writer.settle(ctx, scopeOf(some)); err != nil {
			return 0, err
		}
	}
	ahead, err := s.logs(ctx, sqliteLogsAhead, `hodl_logs_ahead($1)`, anchorMost)
	if err != nil || len(ahead) == 0 {
		return 0, err
	}
	a := &anchoring{Store: s, keys: map[partition][]byte{}}
	for p := range ahead {
		if a.keys[p], err = s.anchorKey(ctx, p, true); err != nil {
			return 0, wrap(err, "read the anchor key of %s", p.ws)
		}
	}
	err = s.change(ctx, a.scope(), func(tx *sql.Tx) error { return a.append(ctx, tx) })
	return a.done, wrap(err, "append to the server's log")
}

// AnchorKey returns the key by which a workspace finds the entries of its log, nil
// when it has none yet.
func (s *Store) AnchorKey(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode) ([]byte, error) {
	return s.anchorKey(ctx, partition{ws, m}, false)
}

func (s *Store) anchorKey(ctx context.Context, p partition, create bool) ([]byte, error) {
	var key []byte
	err := rereading(func() error {
		var sealed []byte
		err := s.view(ctx, p.ws, func(q querier) error {
			return q.QueryRowContext(ctx, `select key from anchor_keys where workspace = $1 and mode = $2`, p.ws, p.mode).Scan(&sealed)
		})
		if there, err := found(err); err != nil || !there {
			return err
		}
		key, err = s.ring.Open(ctx, p.ws, purposeAnchor, string(p.mode), sealed)
		return err
	})
	if err != nil || key != nil || !create {
		return key, err
	}
	if err := s.makeAnchorKey(ctx, p); err != nil {
		return nil, err
	}
	return s.anchorKey(ctx, p, false)
}

// makeAnchorKey makes the key, unless another server is first.
func (s *Store) makeAnchorKey(ctx context.Context, p partition) error {
	var err error
	for range mostSealings {
		key := make([]byte, 32)
		_, _ = rand.Read(key) // never fails: it ends the program instead
		sealed, sealErr := s.ring.Seal(ctx, p.ws, purposeAnchor, string(p.mode), key)
		if sealErr != nil {
			return sealErr
		}
		err = s.change(ctx, p.ws, func(tx *sql.Tx) error {
			if err := s.claimDataKey(ctx, tx, sealedWith(p.ws, sealed)[0]); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, `insert into anchor_keys (workspace, mode, key) values ($1, $2, $3) on conflict (workspace, mode) do nothing`, p.ws, p.mode, sealed)
			return err
		})
		if !errors.Is(err, errRetired) {
			return err
		}
		s.ring.Forget(p.ws)
	}
	return err
}

// anchoring is one transaction of the server's log.
type anchoring struct {
	*Store
	keys map[partition][]byte
	done int

	log    *logRow
	leaves []int64
	tiles  map[tileKey][]byte
}

func (a *anchoring) partitions() []partition {
	list := make([]partition, 0, len(a.keys))
	for p := range a.keys {
		list = append(list, p)
	}
	slices.SortFunc(list, partition.compare)
	return list
}

// scope names the workspaces.
func (a *anchoring) scope() hodl.WorkspaceID {
	var names []hodl.WorkspaceID
	for _, p := range a.partitions() {
		if n := len(names); n == 0 || names[n-1] != p.ws {
			names = append(names, p.ws)
		}
	}
	return scopeOf(names)
}

// scopeOf names workspaces as row-level security takes them.
func scopeOf(list []hodl.WorkspaceID) hodl.WorkspaceID {
	names := make([]string, len(list))
	for i, ws := range list {
		names[i] = string(ws)
	}
	return hodl.WorkspaceID(strings.Join(names, ","))
}

func (a *anchoring) append(ctx context.Context, tx *sql.Tx) error {
	a.done, a.leaves, a.tiles = 0, nil, map[tileKey][]byte{}
	if turn, err := a.turn(ctx, tx); err != nil || !turn {
		return err
	}
	for _, p := range a.partitions() {
		h, err := a.readHead(ctx, tx, p)
		if err == nil {
			err = (*a.notary.signer.Load()).Check(h.Checkpoint, h.Signatures)
		}
		if err != nil {
			return brokenLog(p, "%v", err)
		}
		if err := a.add(ctx, tx, p, h); err != nil {
			return err
		}
	}
	return a.save(ctx, tx)
}

// turn takes the head of the server's log, if it is time. Whoever does not get it at
// once leaves it to whom it belongs.
func (a *anchoring) turn(ctx context.Context, tx *sql.Tx) (bool, error) {
	if a.Engine() == "postgres" {
		var mine bool
		if err := tx.QueryRowContext(ctx, `select pg_try_advisory_xact_lock($1)`, anchorLock).Scan(&mine); err != nil || !mine {
			return false, err
		}
	}
	var at int64
	var tree []byte
	a.log = &logRow{}
	_, err := found(tx.QueryRowContext(ctx, `select size, tree, signatures, at from global_log where id = 1`+a.locked()).Scan(&a.log.size, &tree, &a.log.signed, &at))
	if err != nil {
		return false, err
	}
	if since := a.now().Sub(timeOf(at)); since >= 0 && since < AnchorEvery/2 {
		return false, nil
	}
	if a.log.tree, err = ledger.NewFrontier(a.log.size, tree); err != nil {
		return false, err
	}
	if a.log.size == 0 {
		return true, nil
	}
	if err := (*a.notary.signer.Load()).Check(a.globalHead().Checkpoint, a.log.signed); err != nil {
		return false, tampered("the server's log", "%v", err)
	}
	return true, nil
}

func (a *anchoring) globalHead() *LogHead {
	c := ledger.Checkpoint{Origin: (*a.notary.signer.Load()).Origin(), Size: a.log.size, Root: a.log.tree.Root()}
	return &LogHead{c, a.log.signed, a.log.tree}
}

// add appends the head of a log, unless it is there already.
func (a *anchoring) add(ctx context.Context, tx *sql.Tx, p partition, h *LogHead) error {
	var last int64
	if err := tx.QueryRowContext(ctx, `select size from anchor_keys where workspace = $1 and mode = $2`, p.ws, p.mode).Scan(&last); err != nil {
		return err
	}
	if last >= h.Size {
		return nil
	}
	place := a.log.size
	entry := ledger.NewAnchor(a.keys[p], place, h.Checkpoint).Entry()
	for _, x := range []struct {
		text string
		args []any
	}{
		{`insert into global_entries (place, entry) values ($1, $2)`, []any{place, entry}},
		{`insert into anchors (workspace, mode, place, size, root) values ($1, $2, $3, $4, $5)`, []any{p.ws, p.mode, place, h.Size, h.Root[:]}},
		{`update anchor_keys set size = $3 where workspace = $1 and mode = $2`, []any{p.ws, p.mode, h.Size}},
	} {
		if _, err := tx.ExecContext(ctx, x.text, x.args...); err != nil {
			return err
		}
	}
	a.log.tree.Append(ledger.Leaf(entry), func(level int, index int64, h ledger.Hash) {
		k := tileKey{level: level, tile: index / ledger.TileWidth}
		a.tiles[k] = append(a.tiles[k], h[:]...)
	})
	if a.log.size++; a.log.size%ledger.TileWidth == 0 {
		a.leaves = append(a.leaves, a.log.size/ledger.TileWidth-1)
	}
	a.done++
	return nil
}

// save saves the tiles that have grown, and signs.
func (a *anchoring) save(ctx context.Context, tx *sql.Tx) error {
	if a.done == 0 {
		return nil
	}
	read := globalTiles(ctx, tx)
	for _, tile := range a.leaves {
		leaves, err := read.bundle(ledger.Tile{Index: tile, Width: ledger.TileWidth}, appendLeaf)
		if err != nil {
			return err
		}
		a.tiles[tileKey{level: 0, tile: tile}] = leaves
	}
	for k, hashes := range a.tiles {
		var before []byte
		if _, err := found(tx.QueryRowContext(ctx, `select hashes from global_tiles where level = $1 and tile = $2`, k.level, k.tile).Scan(&before)); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `insert into global_tiles (level, tile, hashes) values ($1, $2, $3) on conflict (level, tile) do update set hashes = excluded.hashes`,
			k.level, k.tile, append(before, hashes...))
		if err != nil {
			return err
		}
	}
	head := a.globalHead()
	_, err := tx.ExecContext(ctx, `insert into global_log (id, size, tree, signatures, at) values (1, $1, $2, $3, $4)
		on conflict (id) do update set size = excluded.size, tree = excluded.tree, signatures = excluded.signatures, at = excluded.at`,
		a.log.size, a.log.tree.Pack(), (*a.notary.signer.Load()).Sign(head.Checkpoint), micros(a.now()))
	return err
}

func globalTiles(ctx context.Context, q querier) tileReader {
	return tileReader{
		kept: func(t ledger.Tile) *sql.Row {
			return q.QueryRowContext(ctx, `select hashes from global_tiles where level = $1 and tile = $2`, t.Level, t.Index)
		},
		entries: func(s ledger.Span) ([][]byte, error) {
			return rowsOf(ctx, q, scanBytes, `select entry from global_entries where place >= $1 and place < $2 order by place`, s.From, s.To)
		},
	}
}

// ServerLogHead returns the head of the server's log.
func (s *Store) ServerLogHead(ctx context.Context) (*LogHead, error) {
	var h *LogHead
	err := s.engine.outside(ctx, func(q querier) (err error) {
		h, err = s.readServerHead(ctx, q)
		return err
	})
	return h, err
}

func (s *Store) readServerHead(ctx context.Context, q querier) (*LogHead, error) {
	a := &anchoring{Store: s, log: &logRow{}}
	var tree []byte
	_, err := found(q.QueryRowContext(ctx, `select size, tree, signatures from global_log where id = 1`).Scan(&a.log.size, &tree, &a.log.signed))
	if err == nil {
		a.log.tree, err = ledger.NewFrontier(a.log.size, tree)
	}
	if err != nil {
		return nil, wrap(err, "read the server's log")
	}
	h := a.globalHead()
	h.Signatures = s.notary.renewed(h.Checkpoint, h.Signatures)
	return h, nil
}

// ServerLogTiles reads tiles and entry bundles of the server's log.
func (s *Store) ServerLogTiles(ctx context.Context, wanted []ledger.Tile) (out [][]byte, err error) {
	err = s.engine.outside(ctx, func(q querier) error {
		out, err = globalTiles(ctx, q).read(wanted)
		return err
	})
	return out, err
}

// Anchors lists the entries of a log in the server's log, the oldest first, from
// place on.
func (s *Store) Anchors(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, from int64, most int) ([]Anchor, error) {
	var out []Anchor
	err := s.view(ctx, ws, func(q querier) (err error) {
		out, err = rowsOf(ctx, q, func(row *sql.Rows) (a Anchor, err error) {
			var root []byte
			err = row.Scan(&a.Place, &a.Size, &root)
			copy(a.Root[:], root)
			return a, err
		}, `select place, size, root from anchors where workspace = $1 and mode = $2 and place >= $3 order by place limit $4`, ws, m, from, most)
		return err
	})
	return out, err
}

// checkGlobalLog is checkLog for the server's log.
func (s *Store) checkGlobalLog(ctx context.Context) error {
	return s.engine.outside(ctx, func(q querier) error {
		const name = "the server's log"
		var size, end int64
		var tree, signatures []byte
		err := q.QueryRowContext(ctx, `select coalesce(max(place), -1) + 1 from global_entries`).Scan(&end)
		if err == nil {
			_, err = found(q.QueryRowContext(ctx, `select size, tree, signatures from global_log where id = 1`).Scan(&size, &tree, &signatures))
		}
		if err != nil || size == 0 && end == 0 {
			return err
		}
		if end != size {
			return tampered(name, "its head counts %d entries and the last is number %d", size, end-1)
		}
		f, err := ledger.NewFrontier(size, tree)
		if err != nil {
			return tampered(name, "its head is damaged (%v)", err)
		}
		signer := *s.notary.signer.Load()
		if err := signer.Check(ledger.Checkpoint{Origin: signer.Origin(), Size: size, Root: f.Root()}, signatures); err != nil {
			return tampered(name, "%v", err)
		}
		edge, err := ledger.FrontierOf(size, globalTiles(ctx, q).read)
		if err != nil {
			return tampered(name, "%v", err)
		}
		if span, differ := f.Differ(edge); differ {
			return tampered(name, "entries %d to %d, or the hashes over them, are others", span.From, span.To-1)
		}
		return nil
	})
}
