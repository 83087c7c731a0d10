package store

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"hodl"
	"hodl/internal/ledger"
)

// The log of a workspace and mode is a tree that grows with its records: the leaf,
// the tiles it completes and the signed checkpoint are saved with the record, in one
// transaction. It costs the rows it has anyway (the head) and one more for each 256
// records.

type tileKey struct {
	partition
	level int
	tile  int64
}

func (k tileKey) span() ledger.Span {
	return ledger.Span{From: k.tile * ledger.TileWidth, To: (k.tile + 1) * ledger.TileWidth}
}

// grow adds a leaf to a log, and notes the tiles it changes.
func (r *rows) grow(p partition, log *logRow, commitment [32]byte) {
	if log.before == nil {
		log.before = log.tree.Clone()
	}
	leaf := ledger.Leaf(commitment[:])
	log.added = append(log.added, leaf)
	log.tree.Append(leaf, func(level int, index int64, h ledger.Hash) {
		k := tileKey{p, level, index / ledger.TileWidth}
		r.tiles[k] = append(r.tiles[k], h[:]...)
	})
	if log.size%ledger.TileWidth == 0 {
		r.leaves = append(r.leaves, tileKey{p, 0, log.size/ledger.TileWidth - 1})
	}
}

// A LogSigner signs the checkpoints of all logs of a server.
type LogSigner interface {
	Origin() string // of the server; each log's own begins with it
	Sign(c ledger.Checkpoint) []byte
	// Check reports whether the signatures are of a key there is or was.
	Check(c ledger.Checkpoint, signatures []byte) error
	// Renew returns signatures of the keys whose turn it is, for good ones of others.
	Renew(c ledger.Checkpoint, signatures []byte) []byte
}

// notary holds the signer: there is none until the keys are read from the database.
type notary struct {
	signer atomic.Pointer[LogSigner]
	roots  map[partition]ledger.Hash // as this process signed them last; for the writer's goroutine alone
}

// rootsKept bounds what a notary remembers. To forget costs a signature check.
const rootsKept = 50_000

// check refuses to grow a head that nobody signed: whoever changes one past hodl
// does not get a signature for it.
func (n *notary) check(r *rows) error {
	s := n.signer.Load()
	if s == nil {
		return nil
	}
	for p, l := range r.logs {
		if l == nil || l.size == 0 || n.roots[p] == l.tree.Root() {
			continue
		}
		if err := (*s).Check(n.checkpoint(p, l.size, l.tree.Root()), l.signed); err != nil {
			return brokenLog(p, "%v", err)
		}
	}
	return nil
}

// checkpoint is the head of a log as it is signed.
func (n *notary) checkpoint(p partition, size int64, root ledger.Hash) ledger.Checkpoint {
	origin := ""
	if s := n.signer.Load(); s != nil {
		origin = (*s).Origin()
	}
	return ledger.Checkpoint{Origin: LogOrigin(origin, p.ws, p.mode), Size: size, Root: root}
}

// LogOrigin names a workspace's log: the server's own, the workspace, the mode.
func LogOrigin(server string, ws hodl.WorkspaceID, m hodl.Mode) string {
	return server + "/" + string(ws) + "/" + string(m)
}

// few is how many heads one goroutine signs before another helps.
const few = 8

// sign signs the heads of the logs that have grown, each once in a batch.
func (n *notary) sign(r *rows) {
	s := n.signer.Load()
	if s == nil {
		for _, l := range r.logs {
			if l != nil {
				l.signed = []byte{} // what was signed is another head
			}
		}
		return
	}
	if len(n.roots) > rootsKept {
		clear(n.roots)
	}
	var grown []func()
	for p, l := range r.logs {
		if l != nil && l.dirty {
			root := l.tree.Root()
			n.roots[p] = root
			grown = append(grown, func() { l.signed = (*s).Sign(n.checkpoint(p, l.size, root)) })
		}
	}
	var group sync.WaitGroup
	for part := range slices.Chunk(grown, few) {
		group.Go(func() {
			for _, sign := range part {
				sign()
			}
		})
	}
	group.Wait()
}

// SignLogs has every log signed from now on.
func (s *Store) SignLogs(signer LogSigner) { s.notary.signer.Store(&signer) }

// saveTiles comes after the records, of which full tiles of leaves are made.
func (t *sqliteTx) saveTiles(r *rows) error {
	for k, hashes := range r.tiles {
		if err := t.exec(sqliteSaveTile, string(k.ws), string(k.mode), k.level, k.tile, hashes); err != nil {
			return wrap(err, "save log tile")
		}
	}
	for _, k := range r.leaves {
		leaves := make([]byte, 0, ledger.TileWidth*len(ledger.Hash{}))
		s := k.span()
		err := t.each(sqliteReadLeaves, []any{string(k.ws), string(k.mode), s.From, s.To}, func(row scanner) error {
			var commitment []byte
			err := row.Scan(&commitment)
			leaves = appendLeaf(leaves, commitment)
			return err
		})
		if err == nil {
			err = t.exec(sqliteSaveTile, string(k.ws), string(k.mode), 0, k.tile, leaves)
		}
		if err != nil {
			return wrap(err, "save log tile")
		}
	}
	return nil
}

// queueTiles comes after the records, of which full tiles of leaves are made.
func queueTiles(b *pgx.Batch, r *rows) {
	leaves, tiles := newColumns(3), newColumns(5)
	for _, k := range r.leaves {
		leaves.add(string(k.ws), string(k.mode), k.tile)
	}
	for k, hashes := range r.tiles {
		tiles.add(string(k.ws), string(k.mode), int64(k.level), k.tile, hashes)
	}
	leaves.queueTo(b, pgAddLeaves)
	tiles.queueTo(b, pgSaveTiles)
}

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

// Receipt proves that a record is in its log, as the log stands now. Its extra data
// is the record's salt, unless that was erased.
func (s *Store) Receipt(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, seq int64) (*ledger.Receipt, error) {
	var out *ledger.Receipt
	p := partition{ws, m}
	err := s.view(ctx, ws, func(q querier) error {
		h, err := s.readHead(ctx, q, p)
		if err != nil {
			return err
		}
		r := &ledger.Receipt{Index: seq, Checkpoint: h.Text()}
		r.Proof, err = ledger.Prove(h.Checkpoint, seq, func(tiles []ledger.Tile) ([][]byte, error) { return readTiles(ctx, q, p, tiles) })
		if err != nil {
			return wrap(err, "prove record %d of %s (%s)", seq, ws, m)
		}
		_, err = found(q.QueryRowContext(ctx, `select salt from access_details where workspace = $1 and mode = $2 and seq = $3`, ws, m, seq).Scan(&r.Extra))
		out = r
		return err
	})
	return out, err
}

// A Place is where a commit put a record, from which it is proven without reading
// anything. Its zero value is no place.
type Place struct {
	log    *logRow // as the commit left it; nobody changes it any more
	notary *notary
	partition
	seq  int64
	salt []byte
}

// place appends a record and tells where.
func (s *Store) place(r *rows, p partition, rec *preparedRecord) Place {
	return Place{log: r.logs[p], notary: s.notary, partition: p, seq: r.append(p, rec), salt: rec.salt[:]}
}

// take notes in rec and in the use where a record was committed.
func (u TokenUse) take(at Place, rec *hodl.Record) {
	rec.Seq = at.seq
	if u.Place != nil {
		*u.Place = at
	}
}

// Receipt is what [Store.Receipt] says of the record, as the log stood when it was
// committed.
func (at *Place) Receipt() (*ledger.Receipt, error) {
	if at.log == nil {
		return nil, fmt.Errorf("no record was committed here")
	}
	proof, err := at.log.before.Prove(at.log.added, at.seq)
	if err != nil {
		return nil, err
	}
	head := at.notary.checkpoint(at.partition, at.log.size, at.log.tree.Root())
	return &ledger.Receipt{Index: at.seq, Proof: proof, Checkpoint: head.Note(at.log.signed), Extra: at.salt}, nil
}

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
