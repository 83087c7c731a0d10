package token_test

import (
	"fmt"
	"testing"
	"time"

	"hodl"
	"hodl/internal/token"

	"github.com/google/go-cmp/cmp"
)

var day0 = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// apply does to keys what r says, as a store would.
func apply(keys []token.Stored, r token.Rotation, kid string) []token.Stored {
	var out []token.Stored
	for _, k := range keys {
		for _, u := range r.Update {
			if u.KID == k.KID {
				k = u
			}
		}
		gone := false
		for _, id := range r.Delete {
			gone = gone || id == k.KID
		}
		if !gone {
			out = append(out, k)
		}
	}
	if r.Create != nil {
		created := *r.Create
		created.KID = kid
		out = append(out, created)
	}
	return out
}

func TestFirstKeySignsAtOnce(t *testing.T) {
	r := token.Rotate(day0, nil, 30*24*time.Hour)
	want := token.Rotation{Create: &token.Stored{CreatedAt: day0, SignsFrom: day0}}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Fatalf("Rotate of no keys (-want +got):\n%s", diff)
	}
	keys := apply(nil, r, "k1")
	if k, ok := token.Signing(day0, keys); !ok || k.KID != "k1" {
		t.Errorf("Signing = %v, %t; want k1", k, ok)
	}
	if r := token.Rotate(day0.Add(time.Hour), keys, 30*24*time.Hour); !r.Empty() {
		t.Errorf("an hour later: Rotate = %+v, want nothing", r)
	}
}

func TestHandover(t *testing.T) {
	const period = 30 * 24 * time.Hour
	keys := apply(nil, token.Rotate(day0, nil, period), "k1")
	due := day0.Add(period)
	if r := token.Rotate(due.Add(-token.Lead-time.Second), keys, period); !r.Empty() {
		t.Fatalf("before the lead: Rotate = %+v, want nothing", r)
	}
	keys = apply(keys, token.Rotate(due.Add(-token.Lead), keys, period), "k2")
	last := due.Add(hodl.MaxTTL + hodl.ClockSkew)
	for _, tt := range []struct {
		name   string
		at     time.Time
		signs  string
		served []string
		drops  []string
	}{
		{"published, not yet signing", due.Add(-time.Second), "k1", []string{"k1", "k2"}, nil},
		{"taking over", due, "k2", []string{"k1", "k2"}, nil},
		{"the last old token still lives", last.Add(-time.Second), "k2", []string{"k1", "k2"}, nil},
		{"the last old token is dead", last, "k2", []string{"k2"}, []string{"k1"}},
	} {
		if k, _ := token.Signing(tt.at, keys); k.KID != tt.signs {
			t.Errorf("%s: %s signs, want %s", tt.name, k.KID, tt.signs)
		}
		if diff := cmp.Diff(tt.served, kids(token.Served(tt.at, keys))); diff != "" {
			t.Errorf("%s: served (-want +got):\n%s", tt.name, diff)
		}
		r := token.Rotate(tt.at, keys, period)
		if diff := cmp.Diff(tt.drops, r.Delete); diff != "" || r.Create != nil || r.Update != nil {
			t.Errorf("%s: Rotate = %+v, want only to drop %v", tt.name, r, tt.drops)
		}
	}
}

// A server that was off when a key was due publishes the next one an hour before
// it signs all the same; until then the old key signs on.
func TestHandoverAfterALongPause(t *testing.T) {
	const period = 30 * 24 * time.Hour
	keys := apply(nil, token.Rotate(day0, nil, period), "k1")
	back := day0.Add(10 * period)
	keys = apply(keys, token.Rotate(back, keys, period), "k2")
	for at, want := range map[time.Time]string{back: "k1", back.Add(token.Lead - 1): "k1", back.Add(token.Lead): "k2"} {
		if k, _ := token.Signing(at, keys); k.KID != want {
			t.Errorf("%v after: %s signs, want %s", at.Sub(back), k.KID, want)
		}
	}
}

// Two keys that both sign, as after a restore or a node that did not lock, do not
// make the nodes disagree, and the next rotation ends both.
func TestTwoKeysThatSign(t *testing.T) {
	keys := []token.Stored{{KID: "new", SignsFrom: day0.Add(time.Hour)}, {KID: "old", SignsFrom: day0}}
	for _, order := range [][]token.Stored{keys, {keys[1], keys[0]}} {
		if k, _ := token.Signing(day0.Add(2*time.Hour), order); k.KID != "new" {
			t.Errorf("of %v, %s signs, want new", kids(order), k.KID)
		}
	}
	r := token.Rotate(day0.AddDate(0, 2, 0), keys, 30*24*time.Hour)
	if diff := cmp.Diff([]string{"new", "old"}, kids(r.Update)); diff != "" {
		t.Errorf("the rotation ends (-want +got):\n%s", diff)
	}
}

// The rules hold at every step of a year, whatever the period: a key signs at any
// time, was published an hour before (but for the first), is served until its last
// token is dead, at most three are, and asking twice changes nothing.
func TestRotationRulesHoldAllYear(t *testing.T) {
	for _, period := range []time.Duration{time.Minute, 12 * time.Hour, 25 * time.Hour, 7 * 24 * time.Hour, 90 * 24 * time.Hour} {
		var keys []token.Stored
		made, lastSigned := 0, map[string]time.Time{}
		for at := day0; at.Before(day0.AddDate(1, 0, 0)); at = at.Add(37 * time.Minute) {
			r := token.Rotate(at, keys, period)
			made++
			keys = apply(keys, r, fmt.Sprint("k", made))
			if again := token.Rotate(at, keys, period); !again.Empty() {
				t.Fatalf("period %v at %v: asked again, Rotate = %+v", period, at, again)
			}
			k, ok := token.Signing(at, keys)
			if !ok {
				t.Fatalf("period %v at %v: no key signs", period, at)
			}
			if k.SignsFrom != day0 && k.SignsFrom.Sub(k.CreatedAt) < token.Lead {
				t.Fatalf("period %v at %v: %s was published %v before it signs", period, at, k.KID, k.SignsFrom.Sub(k.CreatedAt))
			}
			lastSigned[k.KID] = at
			served := kids(token.Served(at, keys))
			if len(served) > token.MaxServed {
				t.Fatalf("period %v at %v: %v served", period, at, served)
			}
			checkAlive(t, at, lastSigned, served)
		}
	}
}

// checkAlive fails when a key is no longer served whose tokens may still be good.
func checkAlive(t *testing.T, at time.Time, lastSigned map[string]time.Time, served []string) {
	t.Helper()
	alive := map[string]bool{}
	for _, kid := range served {
		alive[kid] = true
	}
	for kid, last := range lastSigned {
		if at.Before(last.Add(hodl.MaxTTL+hodl.ClockSkew)) && !alive[kid] {
			t.Fatalf("at %v: %s signed at %v and is gone", at, kid, last)
		}
	}
}

func kids(keys []token.Stored) (out []string) {
	for _, k := range keys {
		out = append(out, k.KID)
	}
	return out
}
