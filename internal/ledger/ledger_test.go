package ledger_test

import (
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hodl/internal/ledger"
	"hodl/internal/ledger/ledgertest"
)

const origin = "hodl.example.com/log/wks_1/live"

func key(n byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(slices.Repeat([]byte{n}, ed25519.SeedSize))
}

func verifier(t testing.TB, k ed25519.PrivateKey) ledger.Verifier {
	t.Helper()
	v, err := ledger.ParseVerifier(ledger.VerifierKey(origin, k.Public().(ed25519.PublicKey)))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func entry(n int64) []byte {
	return binary.BigEndian.AppendUint64(slices.Repeat([]byte{7}, 24), uint64(n))
}

// grown returns a log of n entries and its signed checkpoint.
func grown(n int64) (*ledgertest.Log, ledger.Checkpoint) {
	l := &ledgertest.Log{}
	for i := range n {
		l.Append(entry(i))
	}
	return l, ledger.Checkpoint{Origin: origin, Size: n, Root: l.Root()}
}

func TestFrontierSurvivesPacking(t *testing.T) {
	whole := &ledger.Frontier{}
	parts := &ledger.Frontier{}
	for i := range int64(1000) {
		whole.Append(ledger.Leaf(entry(i)), nil)
		parts.Append(ledger.Leaf(entry(i)), nil)
		again, err := ledger.NewFrontier(i+1, parts.Pack())
		if err != nil {
			t.Fatal(err)
		}
		if parts = again; parts.Root() != whole.Root() {
			t.Fatalf("at %d entries the root is another after packing", i+1)
		}
	}
	if _, err := ledger.NewFrontier(3, make([]byte, 32)); err == nil {
		t.Error("a frontier of three entries with one hash was taken")
	}
}

func TestDifferNamesTheEntries(t *testing.T) {
	right, wrong := &ledger.Frontier{}, &ledger.Frontier{}
	for i := range int64(300) {
		right.Append(ledger.Leaf(entry(i)), nil)
		changed := entry(i)
		if i == 290 {
			changed[0]++
		}
		wrong.Append(ledger.Leaf(changed), nil)
	}
	if got, differ := right.Differ(wrong); !differ || got != (ledger.Span{From: 288, To: 296}) {
		t.Errorf("the trees differ in %v, %t", got, differ)
	}
	if got, differ := right.Differ(right); differ {
		t.Errorf("a tree differs from itself in %v", got)
	}
}

func TestReceipts(t *testing.T) {
	for _, n := range []int64{1, 2, 3, 255, 256, 257, 70_000} {
		l, c := grown(n)
		signed := c.Note(c.Sign(key(1)))
		for _, i := range []int64{0, n / 3, n - 1} {
			proof, err := ledger.Prove(c, i, l.Tiles)
			if err != nil {
				t.Fatalf("prove %d of %d: %v", i, n, err)
			}
			made := &ledger.Receipt{Index: i, Proof: proof, Checkpoint: signed, Extra: []byte("salt")}
			read, err := ledger.ParseReceipt(made.String())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(made, read); diff != "" && len(proof) > 0 {
				t.Errorf("receipt (-made +read):\n%s", diff)
			}
			if got, err := read.Verify(entry(i), verifier(t, key(1))); err != nil || got != c {
				t.Errorf("verify %d of %d: %v, %v", i, n, got, err)
			}
			if _, err := read.Verify(entry(i+1), verifier(t, key(1))); err == nil {
				t.Errorf("%d of %d: another entry was taken", i, n)
			}
			if _, err := read.Verify(entry(i), verifier(t, key(2))); err == nil {
				t.Errorf("%d of %d: another log's key was taken", i, n)
			}
		}
	}
}

func TestReceiptOfABillion(t *testing.T) {
	r := &ledger.Receipt{Index: 999_999_999, Proof: make([]ledger.Hash, 30), Extra: make([]byte, 32)}
	c := ledger.Checkpoint{Origin: "hodl.example.com/log/wks_01KAQ3M7T4Z0X8W2V6R5N9P1JC/sandbox", Size: 1_000_000_000}
	r.Checkpoint = c.Note(c.Sign(key(1), key(2))) // amid a rotation
	if n := len(r.String()); n > 2048 {
		t.Errorf("the receipt is %d bytes long", n)
	}
}

func TestConsistency(t *testing.T) {
	l, c := grown(1000)
	old, earlier := grown(300)
	_ = old
	proof, err := ledger.ProveConsistency(c, 300, l.Tiles)
	if err != nil {
		t.Fatal(err)
	}
	if err := ledger.CheckConsistency(earlier, c, proof); err != nil {
		t.Error(err)
	}
	forged := earlier
	forged.Root[0]++
	for name, err := range map[string]error{
		"another history": ledger.CheckConsistency(forged, c, proof),
		"a rollback":      ledger.CheckConsistency(c, earlier, nil),
		"two roots":       ledger.CheckConsistency(earlier, forged, nil),
	} {
		if !errors.Is(err, ledger.ErrFork) {
			t.Errorf("%s: %v", name, err)
		}
	}
	broken := func(tiles []ledger.Tile) ([][]byte, error) {
		out, err := l.Tiles(tiles)
		out[0] = slices.Clone(out[0])
		out[0][5]++
		return out, err
	}
	if _, err := ledger.ProveConsistency(c, 300, broken); err == nil {
		t.Error("a tile that does not belong under the root was used")
	}
}

func TestCheckpointSignatures(t *testing.T) {
	_, c := grown(3)
	both := c.Note(c.Sign(key(1), key(2)))
	for _, k := range []ed25519.PrivateKey{key(1), key(2)} {
		if got, err := ledger.OpenCheckpoint(both, verifier(t, k)); err != nil || got != c {
			t.Errorf("one of two signatures: %v, %v", got, err)
		}
	}
	for name, text := range map[string]string{
		"another size": strings.Replace(both, "\n3\n", "\n4\n", 1),
		"no signature": c.Body() + "\n",
		"nothing":      "",
	} {
		if _, err := ledger.OpenCheckpoint(text, verifier(t, key(1))); err == nil {
			t.Errorf("%s: was taken", name)
		}
	}
	other := c
	other.Origin = "hodl.example.com/log/wks_2/live"
	if _, err := ledger.OpenCheckpoint(other.Note(other.Sign(key(1))), verifier(t, key(1))); err == nil {
		t.Error("a checkpoint of another log was taken")
	}
}

func TestCosignature(t *testing.T) {
	_, c := grown(3)
	witness, err := ledger.ParseVerifier(ledger.WitnessKey("witness.example", key(9).Public().(ed25519.PublicKey)))
	if err != nil {
		t.Fatal(err)
	}
	text := c.Note(c.Sign(key(1))) + c.Cosign("witness.example", key(9), time.Unix(1_800_000_000, 0))
	if _, err := ledger.OpenCheckpoint(text, verifier(t, key(1)), witness); err != nil {
		t.Error(err)
	}
	if _, err := ledger.OpenCheckpoint(text, witness); err == nil {
		t.Error("a checkpoint that the log has not signed for us was taken")
	}
}

func TestTilePaths(t *testing.T) {
	for path, want := range map[string]ledger.Tile{
		"0/000":                  {Level: 0, Index: 0, Width: 256},
		"3/x001/x234/067":        {Level: 3, Index: 1_234_067, Width: 256},
		"0/x001/067.p/8":         {Level: 0, Index: 1067, Width: 8},
		"entries/x001/x234/067":  {Level: ledger.Entries, Index: 1_234_067, Width: 256},
		"entries/x999/999.p/255": {Level: ledger.Entries, Index: 999_999, Width: 255},
	} {
		got, err := ledger.ParseTile(path)
		if err != nil || got != want || got.Path() != path {
			t.Errorf("%s: %+v, %v, %s", path, got, err, got.Path())
		}
	}
	for _, path := range []string{
		"", "0", "0/", "0/0", "0/1000", "64/000", "-1/000", "00/000", "0/000.p/0", "0/000.p/256", "0/000.p/08", "0/000.p/", "0/x000/001", "0/001/002",
		"entries", "entries/x", "entry/000", "0/x00x1/001", "0/000/", "0/+01", "0/x999/x999/x999/x999/x999/x999/x999/999",
	} {
		if got, err := ledger.ParseTile(path); err == nil {
			t.Errorf("%q was taken for %+v", path, got)
		}
	}
}

func TestTilesOfATree(t *testing.T) {
	// The example of c2sp.org/tlog-tiles.
	const size = 70_000
	for level, want := range map[int][]int{0: {274, 112}, 1: {2, 17}, 2: {1, 1}, 3: {0, 0}} {
		list := ledger.TilesOf(level, size)
		if len(list) != want[0] || len(list) > 0 && list[len(list)-1].Width != want[1] {
			t.Errorf("level %d: %d tiles, %v", level, len(list), list)
		}
	}
	for path, want := range map[string]bool{
		"0/273.p/112": true, "0/273.p/113": false, "0/273": false, "0/272": true, "0/272.p/9": true, "1/001.p/17": true, "1/001.p/18": false, "2/000.p/1": true, "3/000.p/1": false, "63/000": false,
	} {
		tile, err := ledger.ParseTile(path)
		if err != nil || tile.Of(size) != want {
			t.Errorf("%s of %d: %t, %v", path, size, tile.Of(size), err)
		}
	}
}

func TestBundles(t *testing.T) {
	var b []byte
	for i := range int64(3) {
		b = ledger.AppendEntry(b, entry(i))
	}
	got, err := ledger.ParseBundle(b)
	if err != nil || len(got) != 3 || !slices.Equal(got[2], entry(2)) {
		t.Errorf("bundle: %v, %v", got, err)
	}
	if _, err := ledger.ParseBundle(b[:len(b)-1]); err == nil {
		t.Error("a bundle that is cut off was taken")
	}
}

func TestAnchors(t *testing.T) {
	_, c := grown(3)
	k := slices.Repeat([]byte{3}, 32)
	a, b := ledger.NewAnchor(k, 7, c), ledger.NewAnchor(k, 8, c)
	if a.Tag == b.Tag || a.Commitment == b.Commitment || a.Tag != ledger.AnchorTag(k, 7) {
		t.Error("the entries of one head are linked")
	}
	read, ok := ledger.ParseAnchor(a.Entry())
	if !ok || read != a {
		t.Errorf("anchor: %v, %t", read, ok)
	}
}

func FuzzParse(f *testing.F) {
	_, c := grown(3)
	f.Add("0/x001/067.p/8")
	f.Add((&ledger.Receipt{Index: 1, Proof: make([]ledger.Hash, 2), Checkpoint: c.Note(c.Sign(key(1)))}).String())
	f.Add(c.Note(c.Sign(key(1))))
	f.Add(ledger.VerifierKey(origin, key(1).Public().(ed25519.PublicKey)))
	f.Fuzz(func(t *testing.T, s string) {
		if tile, err := ledger.ParseTile(s); err == nil && tile.Path() != s {
			t.Errorf("tile %q is written %q", s, tile.Path())
		}
		if r, err := ledger.ParseReceipt(s); err == nil {
			if _, err := ledger.ParseReceipt(r.String()); err != nil {
				t.Errorf("receipt %q: %v", s, err)
			}
			_, _ = r.Verify(entry(0), verifier(t, key(1)))
		}
		_, _ = ledger.PeekCheckpoint(s)
		_, _ = ledger.OpenCheckpoint(s, verifier(t, key(1)))
		_, _ = ledger.ParseVerifier(s)
		_, _ = ledger.ParseBundle([]byte(s))
	})
}
