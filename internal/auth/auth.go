// Package auth knows who is calling: it makes API keys, and finds the principal
// behind one.
package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"hash/crc32"
	"math/big"
	"strings"
	"sync"
	"time"

	"hodl"
)

// Keys look like hodl_live_ or hodl_test_, a public id, a secret and a checksum:
// letters, digits and underscores only, so that a double click selects all of it.
const (
	publicDigits   = 12
	secretDigits   = 32 // 190 bits
	checksumDigits = 6
	base62         = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

var prefixes = map[hodl.Mode]string{hodl.Live: "hodl_live_", hodl.Sandbox: "hodl_test_"}

const invitation = "hodl_join_"

// NewInvitation makes what a new member trades for a first key.
func NewInvitation() string { return newKey(invitation) }

// NewKey makes an API key. It is random enough that its plain SHA-256 is a safe
// thing to keep.
func NewKey(m hodl.Mode) string { return newKey(prefixes[m]) }

func newKey(prefix string) string {
	var b strings.Builder
	b.WriteString(prefix)
	for range publicDigits + secretDigits {
		b.WriteByte(base62[randomDigit()])
	}
	return b.String() + checksum(b.String())
}

// randomDigit draws a base62 digit without bias: bytes past the last multiple of 62
// are drawn again.
func randomDigit() byte {
	var one [1]byte
	for {
		_, _ = rand.Read(one[:]) // never fails: it ends the program instead
		if one[0] < 62*4 {
			return one[0] % 62
		}
	}
}

// checksum lets scanners of leaked keys tell a key from a look-alike without
// asking us: CRC-32 (IEEE) in base62.
func checksum(s string) string {
	n := new(big.Int).SetUint64(uint64(crc32.ChecksumIEEE([]byte(s))))
	text := n.Text(62) // digits, lower case, upper case
	return strings.Repeat("0", checksumDigits-len(text)) + text
}

// WellFormed reports whether s is a key or an invitation of ours with an intact checksum. Sign-in
// does not ask: whatever a client sends is looked up.
func WellFormed(s string) bool {
	for _, prefix := range []string{prefixes[hodl.Live], prefixes[hodl.Sandbox], invitation} {
		if strings.HasPrefix(s, prefix) && len(s) == len(prefix)+publicDigits+secretDigits+checksumDigits {
			cut := len(s) - checksumDigits
			return s[cut:] == checksum(s[:cut])
		}
	}
	return false
}

// Digest is what is kept of a key.
func Digest(key string) [32]byte { return sha256.Sum256([]byte(key)) }

// LastFour is what is shown of a key after it was made.
func LastFour(key string) string { return key[max(len(key)-4, 0):] }

// Store finds the principal of a key by its digest.
type Store interface {
	Principal(ctx context.Context, digest [32]byte) (*hodl.Principal, error)
}

// remembered is how long a principal is trusted without asking the store, and so
// how long a revoked key lives on another server.
const remembered = time.Second

// Keys finds who presents an API key. It is safe for concurrent use.
type Keys struct {
	store Store
	now   func() time.Time

	mu    sync.RWMutex
	known map[[32]byte]principal
}

type principal struct {
	*hodl.Principal
	until time.Time
}

const mostKnown = 16 << 10

// NewKeys returns Keys over a store.
func NewKeys(s Store, now func() time.Time) *Keys {
	return &Keys{store: s, now: now, known: map[[32]byte]principal{}}
}

// Authenticate returns who presents key, or [hodl.InvalidKey]. Where it is presented
// is for the caller to judge, with [hodl.Principal.CheckPlace]. Keys that are not
// there are asked for every time: a new key works at once.
func (k *Keys) Authenticate(ctx context.Context, key string) (*hodl.Principal, error) {
	digest, now := Digest(key), k.now()
	k.mu.RLock()
	p, ok := k.known[digest]
	k.mu.RUnlock()
	if ok && now.Before(p.until) {
		return unexpired(p.Principal, now)
	}
	found, err := k.store.Principal(ctx, digest)
	if errors.Is(err, &hodl.Error{Code: hodl.NotFound}) {
		return nil, hodl.Errorf(hodl.InvalidKey, "the API key is unknown or revoked").WithHint("make a key with: hodl key create")
	}
	if err != nil {
		return nil, err
	}
	k.remember(digest, principal{found, now.Add(remembered)})
	return unexpired(found, now)
}

// unexpired refuses a key whose time is over, to the moment. Only who holds the
// whole key learns that there was one.
func unexpired(p *hodl.Principal, now time.Time) (*hodl.Principal, error) {
	if !p.ExpiresAt.IsZero() && !now.Before(p.ExpiresAt) {
		return nil, hodl.Errorf(hodl.InvalidKey, "the API key expired at %s", p.ExpiresAt.Format(time.RFC3339)).WithHint("make a key with: hodl key create")
	}
	return p, nil
}

func (k *Keys) remember(digest [32]byte, p principal) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.known) >= mostKnown {
		clear(k.known)
	}
	k.known[digest] = p
}

// Forget drops what is remembered, after a key or its member changed.
func (k *Keys) Forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.known)
}
