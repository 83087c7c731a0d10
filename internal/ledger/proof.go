package ledger

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

// Prove returns the hashes that lead from entry index to the root of c
// (RFC 6962 §2.1.1). Tiles that do not belong under the root are an error.
func Prove(c Checkpoint, index int64, tiles Tiles) ([]Hash, error) {
	if index < 0 || index >= c.Size {
		return nil, fmt.Errorf("the log has %d entries and no entry %d", c.Size, index)
	}
	return tlog.ProveRecord(c.Size, index, tlog.TileHashReader(tlog.Tree{N: c.Size, Hash: c.Root}, tiles))
}

// Prove returns what [Prove] does, of the tree that f becomes with the leaves
// appended, for an entry among those. Of what lies before them it needs nothing but f.
func (f *Frontier) Prove(leaves []Hash, index int64) ([]Hash, error) {
	size := f.size + int64(len(leaves))
	if index < f.size || index >= size {
		return nil, fmt.Errorf("entry %d is not among the %d after %d", index, len(leaves), f.size)
	}
	return f.path(leaves, Span{0, size}, index), nil
}

// path is PATH of RFC 6962 §2.1.1 within the subtree over s.
func (f *Frontier) path(leaves []Hash, s Span, index int64) []Hash {
	if s.To-s.From == 1 {
		return nil
	}
	mid := s.split()
	if index < mid {
		return append(f.path(leaves, Span{s.From, mid}, index), f.over(leaves, Span{mid, s.To}))
	}
	return append(f.path(leaves, Span{mid, s.To}, index), f.over(leaves, Span{s.From, mid}))
}

// over is the hash of a subtree beside the way to a new leaf: one of the frontier, a
// new leaf, or made of such.
func (f *Frontier) over(leaves []Hash, s Span) Hash {
	switch {
	case s.To <= f.size:
		return f.roots[slices.Index(f.Spans(), s)]
	case s.To-s.From == 1:
		return leaves[s.From-f.size]
	}
	mid := s.split()
	return tlog.NodeHash(f.over(leaves, Span{s.From, mid}), f.over(leaves, Span{mid, s.To}))
}

// split is where a subtree of more than one entry has its halves.
func (s Span) split() int64 { return s.From + 1<<(bits.Len64(uint64(s.To-s.From-1))-1) }

// ProveConsistency returns the hashes that show that the tree of c began with the
// one of size old (RFC 6962 §2.1.2). There are none for the empty tree and for c
// itself.
func ProveConsistency(c Checkpoint, old int64, tiles Tiles) ([]Hash, error) {
	if old < 0 || old > c.Size {
		return nil, fmt.Errorf("the log has %d entries, fewer than %d", c.Size, old)
	}
	if old == 0 || old == c.Size {
		return nil, nil
	}
	return tlog.ProveTree(c.Size, old, tlog.TileHashReader(tlog.Tree{N: c.Size, Hash: c.Root}, tiles))
}

// ErrFork tells that two checkpoints of one log are of two histories.
var ErrFork = errors.New("the log shows another history than before")

// CheckConsistency reports whether the tree of c began with that of old.
func CheckConsistency(old, c Checkpoint, proof []Hash) error {
	switch {
	case old.Origin != c.Origin:
		return fmt.Errorf("these are two logs: %q and %q", old.Origin, c.Origin)
	case old.Size > c.Size:
		return fmt.Errorf("%w: it had %d entries and has %d", ErrFork, old.Size, c.Size)
	case old.Size == 0:
		return nil
	case old.Size == c.Size:
		if old.Root != c.Root {
			return fmt.Errorf("%w: two roots over %d entries", ErrFork, c.Size)
		}
		return nil
	}
	if err := tlog.CheckTree(proof, c.Size, c.Root, old.Size, old.Root); err != nil {
		return fmt.Errorf("%w: the first %d entries are others", ErrFork, old.Size)
	}
	return nil
}

// A Receipt proves that an entry is in a log, to whoever has the log's verifier
// key (c2sp.org/tlog-proof).
type Receipt struct {
	Index      int64
	Proof      []Hash
	Checkpoint string // as it was signed
	Extra      []byte // not proven: of a record's receipt, its salt
}

const receiptHeader = "c2sp.org/tlog-proof@v1"

// String is the receipt as text.
func (r *Receipt) String() string {
	var b strings.Builder
	b.WriteString(receiptHeader + "\n")
	if len(r.Extra) > 0 {
		b.WriteString("extra " + base64.StdEncoding.EncodeToString(r.Extra) + "\n")
	}
	b.WriteString("index " + strconv.FormatInt(r.Index, 10) + "\n")
	for _, h := range r.Proof {
		b.WriteString(h.String() + "\n")
	}
	b.WriteString("\n" + r.Checkpoint)
	return b.String()
}

// ParseReceipt reads a receipt; it proves nothing yet.
func ParseReceipt(text string) (*Receipt, error) {
	head, checkpoint, _ := strings.Cut(text, "\n\n")
	lines := strings.Split(head, "\n")
	if lines[0] != receiptHeader || checkpoint == "" {
		return nil, errors.New("no receipt: it begins with " + receiptHeader + " and ends with a checkpoint")
	}
	r := &Receipt{Checkpoint: checkpoint}
	lines = lines[1:]
	if len(lines) > 0 && strings.HasPrefix(lines[0], "extra ") {
		extra, err := base64.StdEncoding.Strict().DecodeString(lines[0][len("extra "):])
		if err != nil {
			return nil, errors.New("the receipt's extra data is no base64")
		}
		r.Extra, lines = extra, lines[1:]
	}
	if len(lines) == 0 || !strings.HasPrefix(lines[0], "index ") {
		return nil, errors.New("the receipt tells no index")
	}
	index, err := strconv.ParseInt(lines[0][len("index "):], 10, 64)
	if err != nil || index < 0 || strconv.FormatInt(index, 10) != lines[0][len("index "):] {
		return nil, errors.New("the receipt's index is no number")
	}
	r.Index = index
	r.Proof, err = ParseHashes(lines[1:])
	return r, err
}

// ParseHashes reads a proof, a hash in base64 on each line.
func ParseHashes(lines []string) ([]Hash, error) {
	const most = 63 // of any proof in a tree that can be counted
	if len(lines) > most {
		return nil, errors.New("the proof is longer than any can be")
	}
	out := make([]Hash, 0, len(lines))
	for _, l := range lines {
		h, err := base64.StdEncoding.Strict().DecodeString(l)
		if err != nil || len(h) != tlog.HashSize {
			return nil, errors.New("the proof has a line that is no hash")
		}
		out = append(out, Hash(h))
	}
	return out, nil
}

// Verify reports whether entry is in the log that the verifiers are of, and returns
// the checkpoint that says so.
func (r *Receipt) Verify(entry []byte, verifiers ...Verifier) (Checkpoint, error) {
	c, err := OpenCheckpoint(r.Checkpoint, verifiers...)
	if err != nil {
		return c, err
	}
	if r.Index >= c.Size {
		return c, fmt.Errorf("the receipt is for entry %d of a log of %d", r.Index, c.Size)
	}
	if err := tlog.CheckRecord(r.Proof, c.Size, c.Root, r.Index, Leaf(entry)); err != nil {
		return c, fmt.Errorf("entry %d of the log is another", r.Index)
	}
	return c, nil
}
