package store

import (
	"context"
	"database/sql"

	"hodl"
	"hodl/internal/ledger"
)

// A LogHead is where a log stands.
type LogHead struct {
	ledger.Checkpoint
	Signatures []byte // [ledger.SignatureSize] bytes for each key
	tree       *ledger.Frontier
}

// Text is the signed checkpoint as it is published.
func (h *LogHead) Text() string { return h.Note(h.Signatures) }

// LogHead returns the head of a workspace's log.
func (s *Store) LogHead(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode) (*LogHead, error) {
	var head *LogHead
	err := s.view(ctx, ws, func(q querier) (err error) {
		head, err = s.readHead(ctx, q, partition{ws, m})
		return err
	})
	return head, missing(err, "log of workspace", ws)
}

func (s *Store) readHead(ctx context.Context, q querier, p partition) (*LogHead, error) {
	var size int64
	var tree, signatures []byte
	err := q.QueryRowContext(ctx, `select size, tree, signatures from log_heads where workspace = $1 and mode = $2`, p.ws, p.mode).Scan(&size, &tree, &signatures)
	if err != nil {
		return nil, err
	}
	f, err := ledger.NewFrontier(size, tree)
	if err != nil {
		return nil, wrap(err, "read the log of %s (%s)", p.ws, p.mode)
	}
	h := &LogHead{s.notary.checkpoint(p, size, f.Root()), signatures, f}
	h.Signatures = s.notary.renewed(h.Checkpoint, signatures)
	return h, nil
}

// renewed returns the signatures that a head is published with.
func (n *notary) renewed(c ledger.Checkpoint, signatures []byte) []byte {
	switch signer := n.signer.Load(); {
	case signer == nil:
		return signatures
	case c.Size == 0:
		return (*signer).Sign(c) // an empty log is the same in every database
	default:
		return (*signer).Renew(c, signatures)
	}
}

// LogTiles reads tiles and entry bundles of a workspace's log. One that it does not
// have is a [hodl.NotFound].
func (s *Store) LogTiles(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, wanted []ledger.Tile) (out [][]byte, err error) {
	err = s.view(ctx, ws, func(q querier) error {
		out, err = readTiles(ctx, q, partition{ws, m}, wanted)
		return err
	})
	return out, err
}

func readTiles(ctx context.Context, q querier, p partition, wanted []ledger.Tile) ([][]byte, error) {
	return workspaceTiles(ctx, q, p).read(wanted)
}

func workspaceTiles(ctx context.Context, q querier, p partition) tileReader {
	return tileReader{
		kept: func(t ledger.Tile) *sql.Row {
			return q.QueryRowContext(ctx, `select hashes from log_tiles where workspace = $1 and mode = $2 and level = $3 and tile = $4`, p.ws, p.mode, t.Level, t.Index)
		},
		entries: func(s ledger.Span) ([][]byte, error) {
			return rowsOf(ctx, q, scanBytes, sqliteReadLeaves, p.ws, p.mode, s.From, s.To)
		},
	}
}

func scanBytes(row *sql.Rows) (b []byte, err error) { return b, row.Scan(&b) }

// A tileReader makes tiles of what is kept: entries, and the hashes over full tiles.
type tileReader struct {
	kept    func(ledger.Tile) *sql.Row
	entries func(ledger.Span) ([][]byte, error)
}

func (r tileReader) read(wanted []ledger.Tile) ([][]byte, error) {
	out := make([][]byte, len(wanted))
	for i, t := range wanted {
		var err error
		switch {
		case t.Level == ledger.Entries:
			out[i], err = r.bundle(t, ledger.AppendEntry)
		case t.Level == 0 && t.Width < ledger.TileWidth:
			out[i], err = r.bundle(t, appendLeaf)
		default:
			out[i], err = r.tile(t)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func appendLeaf(leaves, entry []byte) []byte {
	leaf := ledger.Leaf(entry)
	return append(leaves, leaf[:]...)
}

// bundle makes a tile of entries.
func (r tileReader) bundle(t ledger.Tile, add func(b, entry []byte) []byte) (out []byte, err error) {
	list, err := r.entries(t.Span())
	if err == nil && len(list) < t.Width {
		return nil, noTile(t)
	}
	for _, entry := range list {
		out = add(out, entry)
	}
	return out, err
}

// tile reads a tile that is kept. A log has all hashes of a level that its size
// allows, so one that is too short has not grown so far.
func (r tileReader) tile(t ledger.Tile) ([]byte, error) {
	var hashes []byte
	n := t.Width * len(ledger.Hash{})
	there, err := found(r.kept(t).Scan(&hashes))
	if err == nil && (!there || len(hashes) < n) {
		return nil, noTile(t)
	}
	if err != nil {
		return nil, err
	}
	return hashes[:n], nil
}

func noTile(t ledger.Tile) error {
	return hodl.Errorf(hodl.NotFound, "this log has no tile %s", t.Path()).WithHint("the checkpoint says how many entries there are; c2sp.org/tlog-tiles says which tiles that makes")
}
