// Package receipt verifies, offline, that an access record is in the log of a hodl
// server: with the receipt that came with it and the log's verifier key, which
// GET /v1/workspaces/{id}/log/keys tells.
//
//	proven, err := receipt.Verify(text, record, "hodl.example.com/log/wks_…/live+1f2e3d4c+AbC…")
//
// What is signed can be checked by other tools as well: a receipt is a
// c2sp.org/tlog-proof, the entry it proves is [Commitment] of the record.
package receipt

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"hodl/internal/ledger"
)

// Proven is what a receipt was found to prove.
type Proven struct {
	Origin string   // the log's name
	Index  int64    // of the record, which is its seq
	Size   int64    // of the log when the receipt was made
	Root   [32]byte // of its tree then
}

// parse reads a receipt, as it stands in a body or, in base64url, in the header
// Hodl-Receipt. It proves nothing yet.
func parse(receipt string) (*ledger.Receipt, error) {
	if !strings.Contains(receipt, "\n") {
		raw, err := base64.RawURLEncoding.DecodeString(strings.TrimSpace(receipt))
		if err != nil {
			return nil, errors.New("no receipt: neither a text of several lines nor base64url")
		}
		receipt = string(raw)
	}
	return ledger.ParseReceipt(receipt)
}

// Verify reports whether record, JSON as the server tells it, is in the log that
// verifierKeys are of: one of them must have signed the log's checkpoint. The salt
// comes with the receipt. The error says what does not fit.
func Verify(receipt string, record []byte, verifierKeys ...string) (*Proven, error) {
	r, err := parse(receipt)
	if err != nil {
		return nil, err
	}
	if len(r.Extra) != 32 {
		return nil, errors.New("the receipt carries no salt, so it proves an entry and not which record that is: get it with an API key that may read the record")
	}
	entry, err := Commitment([32]byte(r.Extra), record)
	if err != nil {
		return nil, err
	}
	return verify(r, entry[:], verifierKeys)
}

// VerifyEntry is Verify for whoever has no record, only the entry of the log that
// commits to it: 32 bytes.
func VerifyEntry(receipt string, entry []byte, verifierKeys ...string) (*Proven, error) {
	r, err := parse(receipt)
	if err != nil {
		return nil, err
	}
	return verify(r, entry, verifierKeys)
}

func verify(r *ledger.Receipt, entry []byte, verifierKeys []string) (*Proven, error) {
	var verifiers []ledger.Verifier
	for _, k := range verifierKeys {
		v, err := ledger.ParseVerifier(k)
		if err != nil {
			return nil, fmt.Errorf("%.256q: %w", k, err)
		}
		verifiers = append(verifiers, v)
	}
	c, err := r.Verify(entry, verifiers...)
	if err != nil {
		return nil, err
	}
	return &Proven{Origin: c.Origin, Index: r.Index, Size: c.Size, Root: c.Root}, nil
}

// Commitment is the entry of the log that binds a record: SHA-256 of a label, the
// salt and the record in canonical form (RFC 8785).
func Commitment(salt [32]byte, record []byte) ([32]byte, error) {
	v := jsontext.Value(record).Clone()
	if err := v.Canonicalize(); err != nil {
		return [32]byte{}, fmt.Errorf("the record is no JSON: %w", err)
	}
	return ledger.Commit(salt, v), nil
}
