package ledger_test

import (
	"slices"
	"testing"

	"hodl/internal/ledger"
)

// What is proven from a frontier and the leaves after it is what is proven from the
// whole log.
func TestFrontierProves(t *testing.T) {
	for before := range int64(70) {
		for _, more := range []int64{1, 2, 3, 7, 8, 64, 300} {
			f := frontier(before)
			l, c := grown(before + more)
			var leaves []ledger.Hash
			for i := before; i < before+more; i++ {
				leaves = append(leaves, ledger.Leaf(entry(i)))
			}
			for _, i := range []int64{before, before + more/2, before + more - 1} {
				got, err := f.Prove(leaves, i)
				want, wrong := ledger.Prove(c, i, l.Tiles)
				if err != nil || wrong != nil || !slices.Equal(got, want) {
					t.Fatalf("entry %d of %d, the first %d known by their frontier: %v, %v, %v", i, c.Size, before, err, wrong, got)
				}
			}
			for _, i := range []int64{-1, before - 1, before + more} {
				if _, err := f.Prove(leaves, i); err == nil {
					t.Errorf("entry %d is proven among the %d after %d", i, more, before)
				}
			}
		}
	}
}

func frontier(n int64) *ledger.Frontier {
	f := &ledger.Frontier{}
	for i := range n {
		f.Append(ledger.Leaf(entry(i)), nil)
	}
	return f
}
