package interop_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"

	"hodl/internal/ledger"
	"hodl/internal/ledger/ledgertest"
)

const treeSize = 70_000

// TestProofsAgree makes random inclusion and consistency proofs from our tiles and
// has another library check each of them, and one that was tampered with.
func TestProofsAgree(t *testing.T) {
	log := &ledgertest.Log{}
	roots := make([]ledger.Hash, 1, treeSize+1)
	for i := range treeSize {
		log.Append(entryOf(int64(i)))
		roots = append(roots, log.Root())
	}
	random := rand.New(rand.NewPCG(6962, 1))
	for n := range 50_000 {
		size := 1 + random.Int64N(treeSize)
		c := ledger.Checkpoint{Origin: "example.com/log", Size: size, Root: roots[size]}
		inclusion(t, random, log, c, random.Int64N(size))
		consistency(t, random, log, c, roots, 1+random.Int64N(size))
		if t.Failed() {
			t.Fatalf("after %d rounds", n)
		}
	}
}

func entryOf(n int64) []byte { return binary.BigEndian.AppendUint64(make([]byte, 24), uint64(n)) }

func inclusion(t *testing.T, random *rand.Rand, log *ledgertest.Log, c ledger.Checkpoint, index int64) {
	t.Helper()
	path, err := ledger.Prove(c, index, log.Tiles)
	if err != nil {
		t.Fatal(err)
	}
	leaf := rfc6962.DefaultHasher.HashLeaf(entryOf(index))
	verify := func(list [][]byte) error {
		return proof.VerifyInclusion(rfc6962.DefaultHasher, uint64(index), uint64(c.Size), leaf, list, c.Root[:])
	}
	judge(t, random, "inclusion", verify, bytesOf(path))
}

func consistency(t *testing.T, random *rand.Rand, log *ledgertest.Log, c ledger.Checkpoint, roots []ledger.Hash, old int64) {
	t.Helper()
	path, err := ledger.ProveConsistency(c, old, log.Tiles)
	if err != nil {
		t.Fatal(err)
	}
	verify := func(list [][]byte) error {
		return proof.VerifyConsistency(rfc6962.DefaultHasher, uint64(old), uint64(c.Size), list, roots[old][:], c.Root[:])
	}
	judge(t, random, "consistency", verify, bytesOf(path))
}

func judge(t *testing.T, random *rand.Rand, what string, verify func([][]byte) error, list [][]byte) {
	t.Helper()
	if err := verify(list); err != nil {
		t.Errorf("%s: %v", what, err)
	}
	if len(list) == 0 {
		return
	}
	list[random.IntN(len(list))][random.IntN(32)] ^= 1 << random.IntN(8)
	if verify(list) == nil {
		t.Errorf("%s: a proof with a flipped bit was taken", what)
	}
}

func bytesOf(path []ledger.Hash) [][]byte {
	out := make([][]byte, len(path))
	for i := range path {
		out[i] = path[i][:]
	}
	return out
}
