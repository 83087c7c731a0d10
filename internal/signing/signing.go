// Package signing keeps the server's signing keys: it makes the first, rotates them
// in time, and gives the verifier those that are served.
package signing

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync/atomic"
	"time"

	"hodl"
	"hodl/internal/store"
	"hodl/internal/token"
)

// Store keeps keys and lets one server at a time change them.
type Store interface {
	SigningKeys(ctx context.Context) ([]store.SigningKey, error)
	RotateSigningKeys(ctx context.Context, plan func([]store.SigningKey) (store.KeyChange, error)) error
	Now() time.Time
}

// Keys are the server's signing keys, as last read. They are safe for concurrent
// use.
type Keys struct {
	store    Store
	verifier *token.Verifier
	period   time.Duration
	log      *slog.Logger
	current  atomic.Pointer[keyring]
}

type keyring struct {
	stored []token.Stored
	keys   map[string]*token.Key
	jwks   []byte
}

// Open reads the keys, making the first if there is none. Each key signs for
// period.
func Open(ctx context.Context, s Store, v *token.Verifier, period time.Duration, log *slog.Logger) (*Keys, error) {
	k := &Keys{store: s, verifier: v, period: period, log: log}
	return k, k.Refresh(ctx)
}

// Sign signs claims with the key whose turn it is.
func (k *Keys) Sign(c *hodl.Claims, now time.Time) (string, error) {
	ring := k.current.Load()
	turn, ok := token.Signing(now, ring.stored)
	if !ok {
		return "", hodl.Errorf(hodl.Unavailable, "no signing key has its turn now").WithHint("check the server's clock")
	}
	return ring.keys[turn.KID].Sign(c)
}

// JWKS returns the public keys (RFC 7517).
func (k *Keys) JWKS() []byte { return k.current.Load().jwks }

// Every is how often a server looks at the keys: far more often than a new key is
// published before it signs.
const Every = time.Minute

// Refresh rotates the keys if it is time, and takes up those other servers made.
func (k *Keys) Refresh(ctx context.Context) error {
	rows, err := k.store.SigningKeys(ctx)
	if err != nil {
		return err
	}
	now := k.store.Now()
	if due := token.Rotate(now, storedOf(rows), k.period); !due.Empty() {
		if err := k.store.RotateSigningKeys(ctx, k.plan); err != nil {
			return err
		}
		if rows, err = k.store.SigningKeys(ctx); err != nil {
			return err
		}
	}
	return k.take(rows, now)
}

// plan says what to change, asked under the lock.
func (k *Keys) plan(rows []store.SigningKey) (store.KeyChange, error) {
	r := token.Rotate(k.store.Now(), storedOf(rows), k.period)
	change := store.KeyChange{Delete: r.Delete}
	for _, u := range r.Update {
		change.Update = append(change.Update, rowOf(u, nil))
	}
	if r.Create == nil {
		return change, nil
	}
	key, err := token.GenerateKey(rand.Reader)
	if err != nil {
		return change, err
	}
	made := *r.Create
	made.KID, made.Public = key.KID(), key.Public().Bytes()
	row := rowOf(made, key.Seed())
	change.Add = &row
	k.log.Info("a signing key was made", slog.String("kid", made.KID), slog.Time("signs_from", made.SignsFrom))
	return change, nil
}

func (k *Keys) take(rows []store.SigningKey, now time.Time) error {
	ring := &keyring{stored: storedOf(rows), keys: make(map[string]*token.Key, len(rows))}
	for _, row := range rows {
		key, err := token.KeyFromSeed(row.Seed)
		if err != nil {
			return err
		}
		ring.keys[row.KID] = key
	}
	var served []*token.PublicKey
	for _, s := range token.Served(now, ring.stored) {
		served = append(served, ring.keys[s.KID].Public())
	}
	ring.jwks = token.JWKS(served)
	k.current.Store(ring)
	k.verifier.SetKeys(served...)
	return nil
}

func storedOf(rows []store.SigningKey) []token.Stored {
	out := make([]token.Stored, len(rows))
	for i, r := range rows {
		out[i] = token.Stored{KID: r.KID, Public: r.Public, CreatedAt: r.CreatedAt, SignsFrom: r.SignsFrom, SignsUntil: r.SignsUntil, ServedUntil: r.ServedUntil}
	}
	return out
}

func rowOf(s token.Stored, seed []byte) store.SigningKey {
	return store.SigningKey{KID: s.KID, Public: s.Public, Seed: seed, CreatedAt: s.CreatedAt, SignsFrom: s.SignsFrom, SignsUntil: s.SignsUntil, ServedUntil: s.ServedUntil}
}
