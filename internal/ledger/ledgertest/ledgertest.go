// Package ledgertest keeps a log in memory, for tests.
package ledgertest

import (
	"fmt"

	"hodl/internal/ledger"
)

// A Log is a tree with all its tiles.
type Log struct {
	ledger.Frontier
	Bundle [][]byte        // the entries
	levels [][]ledger.Hash // the hashes that tiles hold, by level
}

// Append adds an entry.
func (l *Log) Append(entry []byte) {
	leaf := ledger.Leaf(entry)
	l.keep(0, leaf)
	l.Bundle = append(l.Bundle, entry)
	l.Frontier.Append(leaf, func(level int, _ int64, h ledger.Hash) { l.keep(level, h) })
}

func (l *Log) keep(level int, h ledger.Hash) {
	for len(l.levels) <= level {
		l.levels = append(l.levels, nil)
	}
	l.levels[level] = append(l.levels[level], h)
}

// Tiles is a [ledger.Tiles].
func (l *Log) Tiles(wanted []ledger.Tile) ([][]byte, error) {
	out := make([][]byte, len(wanted))
	for i, t := range wanted {
		if !t.Of(l.Size()) {
			return nil, fmt.Errorf("a log of %d entries has no tile %s", l.Size(), t.Path())
		}
		s := t.Span()
		if t.Level == ledger.Entries {
			for _, entry := range l.Bundle[s.From:s.To] {
				out[i] = ledger.AppendEntry(out[i], entry)
			}
			continue
		}
		for _, h := range l.levels[t.Level][s.From:s.To] {
			out[i] = append(out[i], h[:]...)
		}
	}
	return out, nil
}
