package doctor

import (
	"bytes"
	"context"

	"hodl"
	"hodl/internal/ledger"
	"hodl/internal/store"
)

// A logTour reads one access log from its first record.
type logTour struct {
	*tour
	ws         hodl.WorkspaceID
	m          hodl.Mode
	head       *store.StoredHead
	next       int64
	tree       ledger.Frontier
	upper      map[ledger.Tile][]byte // what the tiles above level 0 must hold, by level and index
	hydrations map[string]int64
	unbound    []*store.LogEntry // records whose salt is gone
	erased     map[hodl.UserID]int64
}

func (l *logTour) fault(format string, args ...any) {
	l.logs.add("%s %s: "+format, append([]any{l.ws, l.m}, args...)...)
}

// walk checks that a log has no gap, that its head knows its size, that every record
// is what its commitment binds and stands in the tree at its place, that the root is
// the one that was signed, and that the months' counters are what was recorded.
func (l *logTour) walk(ctx context.Context) error {
	if l.head == nil {
		l.fault("the log has no head")
		return nil
	}
	l.upper = map[ledger.Tile][]byte{}
	if err := l.s.EachEntry(ctx, l.ws, l.m, func(e *store.LogEntry) error { l.entry(e); return ctx.Err() }); err != nil {
		return err
	}
	if l.next != l.head.Size {
		l.fault("the log ends at %d records and its head says %d", l.next, l.head.Size)
	}
	for _, e := range l.unbound {
		if after, ok := l.erased[e.User]; !ok || after < e.Seq {
			l.fault("record %d is not what its commitment binds: its details are gone, and nobody was erased", e.Seq)
		}
	}
	if err := l.signed(ctx); err != nil {
		return err
	}
	return l.usage(ctx, l.ws, l.m, l.hydrations)
}

func (l *logTour) entry(e *store.LogEntry) {
	switch {
	case e.Seq != l.next:
		l.fault("record %d follows record %d", e.Seq, l.next-1)
	case e.Salt == nil:
		l.unbound = append(l.unbound, e)
	case !e.Bound():
		l.fault("record %d is not what its commitment binds", e.Seq)
	}
	if !e.InPlace() {
		l.fault("record %d is not the one in the tree", e.Seq)
	}
	l.tree.Append(ledger.Leaf(e.Commitment), func(level int, index int64, h ledger.Hash) {
		t := ledger.Tile{Level: level, Index: index / ledger.TileWidth}
		l.upper[t] = append(l.upper[t], h[:]...)
	})
	switch e.Kind {
	case hodl.KindHydrate:
		l.hydrations[hodl.Month(e.At)]++
	case hodl.KindErased:
		l.erased[e.User] = e.Seq
	}
	if e.At.After(l.newest) {
		l.newest = e.At
	}
	l.next = e.Seq + 1
	if l.records++; l.records%1024 == 0 {
		l.Progress("reading access records", l.records, 0)
	}
}

// signed holds the tree of the records against the tiles and the head that are kept,
// and the head against its signature. A log that no server has opened since there
// are trees has none.
func (l *logTour) signed(ctx context.Context) error {
	if len(l.head.Tree) == 0 {
		return nil
	}
	err := l.s.EachUpperTile(ctx, l.ws, l.m, func(t ledger.Tile, hashes []byte) error {
		if !bytes.Equal(l.upper[ledger.Tile{Level: t.Level, Index: t.Index}], hashes) {
			l.fault("tile %s does not fit the records", t.Path())
		}
		return nil
	})
	if err != nil {
		return err
	}
	kept, err := l.head.Frontier()
	if err != nil {
		l.fault("the head is damaged: %v", err)
		return nil
	}
	if span, differ := kept.Differ(&l.tree); differ {
		l.fault("records %d to %d are not those under the root", span.From, span.To-1)
	}
	origin, verifiers, err := l.s.LogVerifiers(ctx, l.ws, l.m)
	if err != nil {
		return err
	}
	c := ledger.Checkpoint{Origin: origin, Size: l.head.Size, Root: kept.Root()}
	if _, err := ledger.OpenCheckpoint(c.Note(l.head.Signatures), verifiers...); err != nil {
		l.fault("%v", err)
	}
	return nil
}
