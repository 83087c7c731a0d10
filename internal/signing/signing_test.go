package signing_test

import (
	"encoding/json"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"hodl"
	"hodl/internal/seal"
	"hodl/internal/signing"
	"hodl/internal/store"
	"hodl/internal/token"
)

const issuer = "https://hodl.example.com"

// A node is one of several servers over the same database.
type node struct {
	*signing.Keys
	verifier *token.Verifier
}

// A fleet is nodes, their database and the time they all tell.
type fleet struct {
	t      *testing.T
	store  *store.Store
	micros atomic.Int64
	nodes  []*node
}

func newFleet(t *testing.T, nodes int, period time.Duration) *fleet {
	t.Helper()
	f := &fleet{t: t}
	f.micros.Store(time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC).UnixMicro())
	dir := t.TempDir()
	master, err := seal.CreateMaster(filepath.Join(dir, "master.key"))
	f.must(err)
	f.store, err = store.Open(t.Context(), store.Options{Dir: dir, Master: master, Now: f.now})
	f.must(err)
	t.Cleanup(func() { f.must(f.store.Close()) })
	_, _, err = f.store.Install(t.Context(), store.Installation{Issuer: issuer, LogOrigin: "hodl.example.com/log"})
	f.must(err)
	for range nodes {
		v := token.NewVerifier(issuer)
		k, err := signing.Open(t.Context(), f.store, v, period, slog.New(slog.DiscardHandler))
		f.must(err)
		f.nodes = append(f.nodes, &node{k, v})
	}
	return f
}

func (f *fleet) now() time.Time { return time.UnixMicro(f.micros.Load()) }

func (f *fleet) advance(d time.Duration) { f.micros.Add(d.Microseconds()) }

func (f *fleet) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fleet) refresh() {
	f.t.Helper()
	for _, n := range f.nodes {
		f.must(n.Refresh(f.t.Context()))
	}
}

func (f *fleet) mint(n *node, ttl time.Duration) string {
	f.t.Helper()
	now := f.now().Unix()
	signed, err := n.Sign(&hodl.Claims{
		Issuer: issuer, Subject: "wks_1:usr_1", Audience: "sdk.unihodl.app", ID: "rt_1", IssuedAt: now, NotBefore: now, Expires: now + int64(ttl.Seconds()),
		Scopes: []hodl.Scope{hodl.ReadContext}, Session: "ses_1", MaxHydrations: 1, Mode: hodl.Live,
	}, f.now())
	f.must(err)
	return signed
}

func kids(t *testing.T, n *node) []string {
	t.Helper()
	var set struct{ Keys []struct{ Kid, D string } }
	if err := json.Unmarshal(n.JWKS(), &set); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, k := range set.Keys {
		if k.D != "" {
			t.Fatal("a private half is published")
		}
		out = append(out, k.Kid)
	}
	return out
}

// Over half a year every token verifies on every node for as long as it lives, at
// most three keys are published, and each key had been published an hour before it
// signed its first token.
func TestRotationOverMonths(t *testing.T) {
	f := newFleet(t, 2, 30*24*time.Hour)
	type minted struct {
		token string
		until time.Time
	}
	var alive []minted
	const step = 12 * time.Hour
	everPublished := map[string]bool{}
	for at := time.Duration(0); at < 180*24*time.Hour; at += step {
		f.refresh()
		for i, n := range f.nodes {
			for _, kid := range kids(t, n) {
				everPublished[kid] = true
			}
			if got := len(kids(t, n)); got < 1 || got > token.MaxServed {
				t.Fatalf("after %v node %d publishes %d keys", at, i, got)
			}
			alive = append(alive, minted{f.mint(n, hodl.MaxTTL), f.now().Add(hodl.MaxTTL)})
		}
		f.advance(step)
		kept := alive[:0]
		for _, m := range alive {
			if f.now().Before(m.until) {
				kept = append(kept, m)
			}
		}
		alive = kept
		f.refresh()
		for _, m := range alive {
			for i, n := range f.nodes {
				if _, err := n.verifier.Verify(m.token, f.now()); err != nil {
					t.Fatalf("after %v node %d refuses a living token: %v", at, i, err)
				}
			}
		}
	}
	if got := len(everPublished); got < 6 || got > 8 {
		t.Errorf("half a year used %d keys", got)
	}
}

// Nodes that look a minute apart are at no moment unable to read each other.
func TestNodesThatLagAgree(t *testing.T) {
	f := newFleet(t, 2, 2*time.Hour)
	for range 600 {
		f.must(f.nodes[0].Refresh(t.Context()))
		f.advance(signing.Every)
		for _, from := range f.nodes {
			signed := f.mint(from, time.Minute)
			for i, n := range f.nodes {
				if _, err := n.verifier.Verify(signed, f.now()); err != nil {
					t.Fatalf("at %v node %d: %v", f.now(), i, err)
				}
			}
		}
		f.must(f.nodes[1].Refresh(t.Context()))
	}
}

// A server that slept through its rotation signs on, and catches up when it wakes.
func TestSleepThroughRotation(t *testing.T) {
	f := newFleet(t, 1, 30*24*time.Hour)
	n := f.nodes[0]
	first := kids(t, n)
	f.advance(100 * 24 * time.Hour)
	old := f.mint(n, time.Hour)
	f.refresh()
	f.advance(2 * time.Hour)
	f.refresh()
	fresh := f.mint(n, time.Hour)
	if _, err := n.verifier.Verify(fresh, f.now()); err != nil {
		t.Error(err)
	}
	if _, err := n.verifier.Verify(old, f.now()); hodl.CodeOf(err) != hodl.TokenExpired {
		t.Errorf("the old token: %v", err)
	}
	f.advance(token.Overlap)
	f.refresh()
	if now := kids(t, n); len(now) != 1 || now[0] == first[0] {
		t.Errorf("the keys were %v and are %v", first, now)
	}
}

// Many nodes that start at once make one key.
func TestStartTogether(t *testing.T) {
	f := newFleet(t, 5, 30*24*time.Hour)
	for _, n := range f.nodes {
		if got := kids(t, n); len(got) != 1 || got[0] != kids(t, f.nodes[0])[0] {
			t.Errorf("a node publishes %v", got)
		}
	}
}
