// Package ledger is the form of an append-only log: a Merkle tree (RFC 6962
// hashing), its tiles and entry bundles (c2sp.org/tlog-tiles), its signed
// checkpoints (c2sp.org/tlog-checkpoint) and proofs (c2sp.org/tlog-proof). It is
// pure: where tiles lie is for the caller.
//
// The tree and the proofs are those of golang.org/x/mod/sumdb/tlog; strangers'
// tools verify the result unmodified, which interop holds them to.
package ledger

import (
	"crypto/sha256"
	"fmt"
	"math/bits"
	"slices"

	"golang.org/x/mod/sumdb/tlog"
)

// A Hash is a node of the tree: 32 bytes of SHA-256.
type Hash = tlog.Hash

const (
	// TileHeight is that of c2sp.org/tlog-tiles.
	TileHeight = 8
	// TileWidth is how many hashes a full tile holds.
	TileWidth = 1 << TileHeight
)

// commitmentLabel separates these hashes from every other use of SHA-256.
const commitmentLabel = "hodl/acc/v1"

// Commit binds a record without showing it: SHA-256 of a label, the salt and the
// canonical bytes. It is the entry of a workspace's log.
func Commit(salt [32]byte, body []byte) [32]byte {
	h := sha256.New()
	h.Write([]byte(commitmentLabel))
	h.Write(salt[:])
	h.Write(body)
	return [32]byte(h.Sum(nil))
}

// Leaf is the leaf hash of an entry (RFC 6962 §2.1).
func Leaf(entry []byte) Hash { return tlog.RecordHash(entry) }

// A Frontier is all a tree has to remember to grow: the roots of its perfect
// subtrees, the largest and oldest first. The zero Frontier is the empty tree.
type Frontier struct {
	size  int64
	roots []Hash
}

// NewFrontier reads what [Frontier.Pack] wrote of a tree of that size.
func NewFrontier(size int64, packed []byte) (*Frontier, error) {
	n := bits.OnesCount64(uint64(size))
	if size < 0 || len(packed) != n*tlog.HashSize {
		return nil, fmt.Errorf("a tree of %d entries has a frontier of %d hashes, not %d bytes", size, n, len(packed))
	}
	f := &Frontier{size: size, roots: make([]Hash, n, n+1)}
	for i := range f.roots {
		copy(f.roots[i][:], packed[i*tlog.HashSize:])
	}
	return f, nil
}

// Pack returns the frontier as bytes, 32 for each bit that is set in the size.
func (f *Frontier) Pack() []byte {
	out := make([]byte, 0, len(f.roots)*tlog.HashSize)
	for _, r := range f.roots {
		out = append(out, r[:]...)
	}
	return out
}

// Clone returns a frontier that grows by itself.
func (f *Frontier) Clone() *Frontier { return &Frontier{f.size, slices.Clone(f.roots)} }

// Size is the number of entries.
func (f *Frontier) Size() int64 { return f.size }

// Append adds a leaf. With it the tile hashes that a leaf completes at level 1 and
// above are told to complete, if that is not nil: index counts from the left of the
// level.
func (f *Frontier) Append(leaf Hash, complete func(level int, index int64, h Hash)) {
	h, height := leaf, 0
	for n := f.size; n&1 == 1; n >>= 1 {
		last := len(f.roots) - 1
		h = tlog.NodeHash(f.roots[last], h)
		f.roots = f.roots[:last]
		if height++; height%TileHeight == 0 && complete != nil {
			complete(height/TileHeight, f.size>>height, h)
		}
	}
	f.roots = append(f.roots, h)
	f.size++
}

// emptyRoot is the hash of the empty tree (RFC 6962 §2.1).
var emptyRoot = Hash(sha256.Sum256(nil))

// Root is the hash of the whole tree.
func (f *Frontier) Root() Hash {
	if len(f.roots) == 0 {
		return emptyRoot
	}
	last := len(f.roots) - 1
	h := f.roots[last]
	for i := last - 1; i >= 0; i-- {
		h = tlog.NodeHash(f.roots[i], h)
	}
	return h
}

// A Span is a range of entries, the last excluded.
type Span struct{ From, To int64 }

// Spans are what the hashes of the frontier stand for, in their order.
func (f *Frontier) Spans() []Span {
	var out []Span
	from := int64(0)
	for height := 62; height >= 0; height-- {
		if width := int64(1) << height; f.size&width != 0 {
			out = append(out, Span{from, from + width})
			from += width
		}
	}
	return out
}

// Differ returns the first range of entries in which two trees of one size differ;
// false when they are equal, or of two sizes.
func (f *Frontier) Differ(o *Frontier) (Span, bool) {
	if f.size != o.size {
		return Span{}, false
	}
	for i, s := range f.Spans() {
		if f.roots[i] != o.roots[i] {
			return s, true
		}
	}
	return Span{}, false
}
