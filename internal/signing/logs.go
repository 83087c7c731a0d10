package signing

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"hodl/internal/ledger"
	"hodl/internal/store"
)

// How long a log key signs, and for how long its successor signs beside it: so long
// do checkpoints verify with either, and so long have verifiers to take up the new.
const (
	LogPeriod  = 365 * 24 * time.Hour
	LogOverlap = 30 * 24 * time.Hour
)

// LogStore keeps log keys and lets one server at a time change them.
type LogStore interface {
	LogKeys(ctx context.Context) ([]store.LogKey, error)
	RotateLogKeys(ctx context.Context, plan func([]store.LogKey) (add *store.LogKey, end []store.LogKey, err error)) error
	Now() time.Time
}

// Logs signs the checkpoints of a server's logs. It is a [store.LogSigner], safe for
// concurrent use.
type Logs struct {
	store   LogStore
	origin  string
	log     *slog.Logger
	current atomic.Pointer[logRing]
}

type logRing struct {
	all     []store.LogKey
	signing []ed25519.PrivateKey
}

// OpenLogs reads the keys, making the first if there is none. origin is the name of
// the server's own log, with which the names of all others begin.
func OpenLogs(ctx context.Context, s LogStore, origin string, log *slog.Logger) (*Logs, error) {
	l := &Logs{store: s, origin: origin, log: log}
	return l, l.Refresh(ctx)
}

// Origin is the name of the server's own log.
func (l *Logs) Origin() string { return l.origin }

// Sign returns the signatures on a checkpoint: of each key whose turn it is.
func (l *Logs) Sign(c ledger.Checkpoint) []byte { return c.Sign(l.current.Load().signing...) }

// Check reports whether signatures on c are of any key there ever was.
func (l *Logs) Check(c ledger.Checkpoint, signatures []byte) error {
	err := errors.New("there is no log key")
	for _, v := range l.Verifiers(c.Origin) {
		var verifier ledger.Verifier
		if verifier, err = ledger.ParseVerifier(v.Key); err != nil {
			return err
		}
		if _, err = ledger.OpenCheckpoint(c.Note(signatures), verifier); err == nil {
			return nil
		}
	}
	return err
}

// Renew returns the signatures of the keys whose turn it is. A log that has not grown
// since a key had its turn is signed with it anew, if its signature was good: what is
// signed stays the same.
func (l *Logs) Renew(c ledger.Checkpoint, signatures []byte) []byte {
	if ledger.SignedWith(c.Origin, signatures, l.current.Load().signing) || l.Check(c, signatures) != nil {
		return signatures
	}
	return l.Sign(c)
}

// A Verifier is a log key as it is published.
type Verifier struct {
	Key        string // c2sp.org/signed-note
	SignsFrom  time.Time
	SignsUntil time.Time // zero while no successor has its turn
}

// Verifiers are the verifier keys of the log of that name, the oldest first.
func (l *Logs) Verifiers(origin string) []Verifier {
	var out []Verifier
	for _, k := range l.current.Load().all {
		out = append(out, Verifier{ledger.VerifierKey(origin, k.Public), k.CreatedAt, k.SignsUntil})
	}
	return out
}

// Refresh rotates the keys if it is time, and takes up those other servers made.
func (l *Logs) Refresh(ctx context.Context) error {
	keys, err := l.store.LogKeys(ctx)
	if err != nil {
		return err
	}
	if due, end := rotateLogs(l.store.Now(), keys); due || len(end) > 0 {
		if err := l.store.RotateLogKeys(ctx, l.plan); err != nil {
			return err
		}
		if keys, err = l.store.LogKeys(ctx); err != nil {
			return err
		}
	}
	ring := &logRing{all: keys}
	for _, k := range keys {
		if signs(&k, l.store.Now()) {
			ring.signing = append(ring.signing, ed25519.NewKeyFromSeed(k.Seed))
		}
	}
	l.current.Store(ring)
	return nil
}

func signs(k *store.LogKey, now time.Time) bool {
	return k.Seed != nil && (k.SignsUntil.IsZero() || now.Before(k.SignsUntil))
}

// rotateLogs says whether a key is due to be made, and which are to be saved: those
// that get an end, and those that have come to it.
func rotateLogs(now time.Time, keys []store.LogKey) (due bool, end []store.LogKey) {
	due = true
	for _, k := range keys {
		if k.SignsUntil.IsZero() && now.Before(k.CreatedAt.Add(LogPeriod)) {
			due = false
		}
	}
	for _, k := range keys {
		switch {
		case due && k.SignsUntil.IsZero():
			k.SignsUntil = now.Add(LogOverlap)
			end = append(end, k)
		case !k.SignsUntil.IsZero() && k.Seed != nil && !now.Before(k.SignsUntil):
			end = append(end, k)
		}
	}
	return due, end
}

// plan says what to change, asked under the lock.
func (l *Logs) plan(keys []store.LogKey) (*store.LogKey, []store.LogKey, error) {
	now := l.store.Now()
	due, end := rotateLogs(now, keys)
	if !due {
		return nil, end, nil
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	sum := sha256.Sum256(public)
	add := &store.LogKey{ID: hex.EncodeToString(sum[:]), Public: public, Seed: private.Seed(), CreatedAt: now}
	l.log.Info("a log key was made", slog.String("verifier", ledger.VerifierKey(l.origin, public)))
	return add, end, nil
}
