package token

import (
	"time"

	"hodl"
)

// When keys change. A key is published a while before it signs, so that whoever
// caches the key set has it in time; it signs until the next one takes over; and
// it stays published until the last token it signed has expired.
const (
	// Lead is how long a key is published before it signs. The very first one
	// signs at once: there is no token yet, and nobody who could have cached.
	Lead = time.Hour

	// Overlap is how long a key stays published after it signed for the last time.
	Overlap = hodl.MaxTTL + hodl.ClockSkew

	// MaxServed is how many keys are published at most. A rotation that would
	// exceed it waits.
	MaxServed = 3
)

// Stored is what is kept of a key beside its sealed seed.
type Stored struct {
	KID         string
	Public      []byte // 32 bytes
	CreatedAt   time.Time
	SignsFrom   time.Time
	SignsUntil  time.Time // zero while no successor is planned
	ServedUntil time.Time // zero while no successor is planned
}

// servedAt reports whether the key is published at t. It is from the moment it
// is stored, on every node: nodes re-read the keys more often than Lead.
func (s *Stored) servedAt(t time.Time) bool {
	return s.ServedUntil.IsZero() || t.Before(s.ServedUntil)
}

func (s *Stored) signsAt(t time.Time) bool {
	return !t.Before(s.SignsFrom) && (s.SignsUntil.IsZero() || t.Before(s.SignsUntil))
}

// Served returns the keys that are published, and verify, at t.
func Served(t time.Time, keys []Stored) []Stored {
	var out []Stored
	for _, k := range keys {
		if k.servedAt(t) {
			out = append(out, k)
		}
	}
	return out
}

// Signing returns the key that signs at t: of several, the one that began last.
func Signing(t time.Time, keys []Stored) (Stored, bool) {
	var signing Stored
	found := false
	for _, k := range keys {
		if k.signsAt(t) && (!found || k.SignsFrom.After(signing.SignsFrom)) {
			signing, found = k, true
		}
	}
	return signing, found
}

// A Rotation is what must change about the stored keys, in one transaction.
type Rotation struct {
	Create *Stored  // a key to make; KID, Public and the seed are for the caller to fill in
	Update []Stored // rows as they are to be from now on
	Delete []string // ids of keys to forget, seed and all
}

// Empty reports whether nothing has to change.
func (r *Rotation) Empty() bool {
	return r.Create == nil && len(r.Update) == 0 && len(r.Delete) == 0
}

// Rotate says what must change at now about keys, each of which is to sign for
// period, at least twice [Lead]. Nodes that share a store must read the keys and apply the answer under
// one lock. Asked again after that, it answers that nothing has to change.
func Rotate(now time.Time, keys []Stored, period time.Duration) Rotation {
	var r Rotation
	period = max(period, 2*Lead)
	for _, k := range keys {
		if !k.servedAt(now) {
			r.Delete = append(r.Delete, k.KID)
		}
	}
	current, found := Signing(now, keys)
	switch {
	case !found:
		r.Create = &Stored{CreatedAt: now, SignsFrom: now}
	case current.SignsUntil.IsZero() && !now.Before(current.SignsFrom.Add(period-Lead)):
		r.succeed(now, Served(now, keys), current.SignsFrom.Add(period))
	}
	return r
}

// succeed plans a key that takes over at due, or later if that were too soon,
// from all those that have no successor. It does nothing while it would be one
// key too many.
func (r *Rotation) succeed(now time.Time, served []Stored, due time.Time) {
	if len(served) >= MaxServed {
		return
	}
	if soonest := now.Add(Lead); due.Before(soonest) {
		due = soonest
	}
	r.Create = &Stored{CreatedAt: now, SignsFrom: due}
	for _, k := range served {
		if k.SignsUntil.IsZero() {
			k.SignsUntil, k.ServedUntil = due, due.Add(Overlap)
			r.Update = append(r.Update, k)
		}
	}
}
