package signing_test

import (
	"log/slog"
	"testing"
	"time"

	"hodl/internal/ledger"
	"hodl/internal/signing"
)

// Over four years some key that a verifier knew a month ago has always signed, on
// every server, and no more than two do at a time.
func TestLogKeysOverlap(t *testing.T) {
	f := newFleet(t, 0, 30*24*time.Hour)
	const origin = "hodl.example.com/log"
	var servers []*signing.Logs
	for range 2 {
		l, err := signing.OpenLogs(t.Context(), f.store, origin, slog.New(slog.DiscardHandler))
		f.must(err)
		servers = append(servers, l)
	}
	c := ledger.Checkpoint{Origin: origin + "/wks_1/live", Size: 0}
	known := servers[0].Verifiers(c.Origin)
	oldest := servers[0].Sign(c)
	const week = 7 * 24 * time.Hour
	for range 4 * 52 {
		f.advance(week)
		for i, l := range servers {
			f.must(l.Refresh(t.Context()))
			signatures := l.Sign(c)
			if n := len(signatures) / ledger.SignatureSize; n < 1 || n > 2 {
				t.Fatalf("%d signatures", n)
			}
			f.must(servers[1-i].Check(c, signatures))
			verified := false
			for _, v := range known {
				verifier, err := ledger.ParseVerifier(v.Key)
				f.must(err)
				if _, err := ledger.OpenCheckpoint(c.Note(signatures), verifier); err == nil {
					verified = true
				}
			}
			if !verified {
				t.Fatalf("no key known a week ago verifies at %v", f.now())
			}
		}
		known = servers[0].Verifiers(c.Origin)
	}
	if len(known) != 4 && len(known) != 5 {
		t.Errorf("%d keys in four years", len(known))
	}
	// A log that has not grown since is signed anew, by who verifies what it had.
	renewed := servers[1].Renew(c, oldest)
	if string(renewed) == string(oldest) || string(renewed) != string(servers[0].Sign(c)) {
		t.Error("an idle log keeps the signature of a key that is gone")
	}
	forged := append([]byte(nil), oldest...)
	forged[10]++
	if string(servers[1].Renew(c, forged)) != string(forged) {
		t.Error("a forged signature was replaced by a good one")
	}
	for _, k := range must(f.store.LogKeys(t.Context()))(t) {
		if spent := !k.SignsUntil.IsZero() && f.now().After(k.SignsUntil); spent != (k.Seed == nil) {
			t.Errorf("the key of %v has a seed: %t", k.CreatedAt, k.Seed != nil)
		}
	}
}

func must[T any](x T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
}
