package store

import (
	"context"
	"fmt"
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
	for p, l := range r.logs {
		if l == nil || l.size == 0 {
			continue
		}
		if err := n.checkHead(p, l); err != nil {
			return err
		}
	}
	return nil
}

func (n *notary) checkHead(p partition, l *logRow) error {
	s, root := n.signer.Load(), l.tree.Root()
	if s == nil || n.roots[p] == root {
		return nil
	}
	if err := (*s).Check(n.checkpoint(p, l.size, root), l.signed); err != nil {
		return brokenLog(p, "%v", err)
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

// sign begins to sign the heads of the logs that have grown, each once in a batch, and
// returns what waits for the end of it.
func (n *notary) sign(r *rows) (wait func()) {
	s := n.signer.Load()
	if s == nil {
		for _, l := range r.logs {
			if l != nil && (l.signedAt == 0 || l.signedAt != l.size) {
				l.signed = []byte{} // what was signed is another head
			}
		}
		return func() {}
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
	return group.Wait
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
