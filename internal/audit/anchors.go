package audit

import (
	"cmp"
	"maps"
	"slices"

	"hodl/internal/ledger"
)

// Anchors is what a workspace knows of its entries in the server's log.
type Anchors struct {
	Key    []byte             // by which it finds them
	Listed map[int64]Anchored // by their places, as the server tells them
	Head   ledger.Checkpoint  // of the server's log
	Tiles  ledger.Tiles       // of the server's log

	roots map[int64]ledger.Hash // of the workspace's log, at the sizes listed
}

// Anchored is the head that an entry is of.
type Anchored struct {
	Size int64
	Root ledger.Hash
}

// reached notes the root at a size that some entry is of.
func (a *Anchors) reached(size int64, root func() ledger.Hash) error {
	if a == nil {
		return nil
	}
	if a.roots == nil {
		a.roots = map[int64]ledger.Hash{}
		for _, x := range a.Listed {
			a.roots[x.Size] = ledger.Hash{}
		}
	}
	if _, wanted := a.roots[size]; wanted {
		a.roots[size] = root()
	}
	return nil
}

// differ returns between which two sizes the records stop being what they were: up to
// from they have the roots that are listed, up to to they do not.
func (a *Anchors) differ(size int64) (from, to int64) {
	if a == nil {
		return 0, size
	}
	listed := slices.SortedFunc(maps.Values(a.Listed), func(x, y Anchored) int { return cmp.Compare(x.Size, y.Size) })
	for _, x := range listed {
		switch {
		case x.Size > size:
		case a.roots[x.Size] == x.Root:
			from = x.Size
		default:
			return from, x.Size
		}
	}
	return from, size
}

// end reads the server's log from its beginning: every entry that carries one of our
// tags was listed, and is of a head that the records had. So nobody was ever shown
// another history.
func (a *Anchors) end(c ledger.Checkpoint) (n int64, err error) {
	if a == nil {
		return 0, nil
	}
	tree := &ledger.Frontier{}
	for _, t := range ledger.TilesOf(ledger.Entries, a.Head.Size) {
		bundle, err := a.Tiles([]ledger.Tile{t})
		if err != nil {
			return n, fault(-1, "", "the server's log cannot be read: %v", err)
		}
		entries, err := ledger.ParseBundle(bundle[0])
		if err != nil {
			return n, fault(-1, "", "the server's log: %v", err)
		}
		for _, entry := range entries {
			ours, err := a.entry(tree.Size(), entry, c)
			if err != nil {
				return n, err
			}
			if tree.Append(ledger.Leaf(entry), nil); ours {
				n++
			}
		}
	}
	if tree.Size() != a.Head.Size || tree.Root() != a.Head.Root {
		return n, fault(-1, "", "the entries of the server's log are not those under its signed root")
	}
	if n != int64(len(a.Listed)) {
		return n, fault(-1, "", "%d entries of the server's log are said to be of this log, and %d are", len(a.Listed), n)
	}
	return n, nil
}

// entry checks one entry, and tells whether it is of this log.
func (a *Anchors) entry(place int64, entry []byte, c ledger.Checkpoint) (bool, error) {
	got, ok := ledger.ParseAnchor(entry)
	if !ok || got.Tag != ledger.AnchorTag(a.Key, place) {
		return false, nil
	}
	x, listed := a.Listed[place]
	switch {
	case !listed:
		return true, fault(-1, "", "entry %d of the server's log is a head of this log that the server does not tell of", place)
	case got != ledger.NewAnchor(a.Key, place, ledger.Checkpoint{Origin: c.Origin, Size: x.Size, Root: x.Root}):
		return true, fault(-1, "", "entry %d of the server's log is of another head than the server says", place)
	case x.Size <= c.Size && a.roots[x.Size] != x.Root:
		return true, fault(-1, "", "%v: entry %d of the server's log has another root over %d records", ledger.ErrFork, place, x.Size)
	}
	return true, nil
}
