package receipt_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"hodl/internal/ledger"
	"hodl/internal/ledger/ledgertest"
	"hodl/receipt"
)

const record = `{"actor":"claude.anthropic.com","id":"acr_1","seq":5}`

var (
	key  = ed25519.NewKeyFromSeed(slices.Repeat([]byte{1}, ed25519.SeedSize))
	salt = [32]byte(slices.Repeat([]byte{2}, 32))
)

const origin = "hodl.example.com/log/wks_1/live"

// made returns a receipt of the record in a log of n, and the log's verifier key.
func made(t testing.TB, n int64) (text, vkey string) {
	t.Helper()
	log := &ledgertest.Log{}
	for i := range n {
		entry := ledger.Commit(salt, []byte{byte(i)})
		if i == 5 {
			entry = ledger.Commit(salt, []byte(record))
		}
		log.Append(entry[:])
	}
	c := ledger.Checkpoint{Origin: origin, Size: n, Root: log.Root()}
	proof, err := ledger.Prove(c, 5, log.Tiles)
	if err != nil {
		t.Fatal(err)
	}
	r := &ledger.Receipt{Index: 5, Proof: proof, Checkpoint: c.Note(c.Sign(key)), Extra: salt[:]}
	return r.String(), ledger.VerifierKey(origin, key.Public().(ed25519.PublicKey))
}

func TestVerify(t *testing.T) {
	text, vkey := made(t, 300)
	spaced := strings.ReplaceAll(record, ",", ",\n  ")
	for name, form := range map[string]string{"text": text, "header": base64.RawURLEncoding.EncodeToString([]byte(text))} {
		got, err := receipt.Verify(form, []byte(spaced), vkey)
		if err != nil || got.Index != 5 || got.Size != 300 || got.Origin != origin {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	entry, err := receipt.Commitment(salt, []byte(record))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := receipt.VerifyEntry(text, entry[:], vkey); err != nil {
		t.Error(err)
	}
	for name, attempt := range map[string]func() error{
		"another record": func() error { _, err := receipt.Verify(text, []byte(`{"actor":"x"}`), vkey); return err },
		"no record":      func() error { _, err := receipt.Verify(text, []byte("no"), vkey); return err },
		"no key":         func() error { _, err := receipt.Verify(text, []byte(record)); return err },
		"a bad key":      func() error { _, err := receipt.Verify(text, []byte(record), "x"); return err },
		"no receipt":     func() error { _, err := receipt.Verify("%", []byte(record), vkey); return err },
		"another index": func() error {
			_, err := receipt.Verify(strings.Replace(text, "index 5", "index 6", 1), []byte(record), vkey)
			return err
		},
		"another size": func() error {
			_, err := receipt.Verify(strings.Replace(text, "\n300\n", "\n301\n", 1), []byte(record), vkey)
			return err
		},
	} {
		if attempt() == nil {
			t.Errorf("%s: was taken", name)
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	text, vkey := made(b, 70_000)
	for b.Loop() {
		if _, err := receipt.Verify(text, []byte(record), vkey); err != nil {
			b.Fatal(err)
		}
	}
}
