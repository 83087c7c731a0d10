package resume_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hodl"
	"hodl/internal/capture"
	"hodl/internal/render"
	"hodl/internal/resume"
	"hodl/internal/seal"
	"hodl/internal/store"
	"hodl/internal/token"
)

const issuer = "https://hodl.example.com"

// A world is a service over a real store, with one session in it.
type world struct {
	*resume.Service
	t       *testing.T
	store   *store.Store
	seen    *watched
	capture *capture.Service
	caller  resume.Caller
	micros  atomic.Int64
}

// A watched store counts the reads of content.
type watched struct {
	*store.Store
	versions atomic.Int64
}

func (s *watched) Version(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, id hodl.SessionID, fingerprint string) (*store.VersionBody, error) {
	s.versions.Add(1)
	return s.Store.Version(ctx, ws, m, id, fingerprint)
}

type signer struct{ *token.Key }

func (s signer) Sign(c *hodl.Claims, _ time.Time) (string, error) { return s.Key.Sign(c) }

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t}
	w.micros.Store(time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC).UnixMicro())
	dir := t.TempDir()
	master, err := seal.CreateMaster(filepath.Join(dir, "master.key"))
	w.must(err)
	w.store, err = store.Open(t.Context(), store.Options{Dir: dir, Master: master, Now: w.now})
	w.must(err)
	t.Cleanup(func() { w.must(w.store.Close()) })
	key, err := token.GenerateKey(strings.NewReader(strings.Repeat("seed", token.SeedSize)))
	w.must(err)
	w.seen, w.capture = &watched{Store: w.store}, capture.New(w.store)
	w.Service = resume.New(w.seen, token.NewVerifier(issuer, key.Public()), signer{key}, resume.Options{Issuer: issuer, Resource: issuer + "/mcp"})
	ws, user := hodl.WorkspaceID(w.store.NewID("wks")), hodl.UserID(w.store.NewID("usr"))
	w.must(w.store.CreateWorkspace(t.Context(), hodl.Workspace{ID: ws, Name: "acme", Plan: hodl.Enterprise, CreatedAt: w.now()}, user))
	w.caller = resume.Caller{Principal: &hodl.Principal{Workspace: ws, User: user, Key: "key_1", Mode: hodl.Live, Role: hodl.Admin, Plan: hodl.Enterprise}}
	w.put("ses_1", "the cache bug")
	return w
}

func (w *world) now() time.Time { return time.UnixMicro(w.micros.Add(1)) }

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) put(id, title string) {
	w.t.Helper()
	_, err := w.capture.Session(w.t.Context(), w.caller.Principal, capture.SessionCapture{Draft: hodl.SessionDraft{ID: id, Title: title}})
	w.must(err)
}

func (w *world) mint(max int) string {
	w.t.Helper()
	m, err := w.Mint(w.t.Context(), w.caller, hodl.TokenDraft{
		Session: "ses_1", Audience: "sdk.unihodl.app", Scopes: []hodl.Scope{hodl.ReadContext, hodl.WriteNotes}, MaxHydrations: &max,
	})
	w.must(err)
	return m.Signed
}

func (w *world) call(signed, address string) resume.Call {
	return resume.Call{Token: signed, Session: "ses_1", Surface: resume.REST, Detail: hodl.RecordDetail{Address: address}}
}

func (w *world) hydrate(signed, address string) (*resume.Hydration, error) {
	return w.Hydrate(w.t.Context(), w.call(signed, address), resume.Ask{Format: render.JSON})
}

// until counts how many calls go before one is refused for its rate.
func until(most int, try func() error) int {
	for i := range most {
		if hodl.CodeOf(try()) == hodl.RateLimited {
			return i
		}
	}
	return most
}

// Who keeps sending what is refused is stopped by address, before a signature is
// checked; nobody else is, and soon they may try again.
func TestRefusalsStopAnAddress(t *testing.T) {
	w := newWorld(t)
	good := w.mint(100)
	const most = 10_000
	if n := until(most, func() error { _, err := w.hydrate("a.b.c", "192.0.2.1"); return err }); n < 100 || n == most {
		t.Errorf("an address may be refused %d times", n)
	}
	_, err := w.hydrate(good, "192.0.2.1")
	if e, ok := errors.AsType[*hodl.Error](err); !ok || e.Code != hodl.RateLimited || e.RetryAfter <= 0 {
		t.Errorf("a good token from there: %v", err)
	}
	if _, err := w.hydrate(good, "192.0.2.2"); err != nil {
		t.Errorf("from elsewhere: %v", err)
	}
	w.micros.Add(time.Second.Microseconds())
	if _, err := w.hydrate(good, "192.0.2.1"); err != nil {
		t.Errorf("a second later: %v", err)
	}
}

// A token that is used too fast is stopped, and no other.
func TestUsesStopAToken(t *testing.T) {
	w := newWorld(t)
	fast, other := w.mint(1), w.mint(100)
	const most = 10_000
	call := w.call(fast, "192.0.2.1")
	call.Audience = "x.ai" // the audience comes after the bucket
	n := until(most, func() error { _, err := w.Hydrate(t.Context(), call, resume.Ask{Format: render.JSON}); return err })
	if n < 100 || n == most {
		t.Errorf("a token may be used %d times at once", n)
	}
	if _, err := w.hydrate(other, "192.0.2.1"); err != nil {
		t.Errorf("another token: %v", err)
	}
}

// A rendering is kept for its version: content is read once, then never for the
// same token and never for a token that is refused.
func TestContentIsReadOnce(t *testing.T) {
	w := newWorld(t)
	one, two := w.mint(1), w.mint(100)
	reads := func(what string, want int64) {
		t.Helper()
		if got := w.seen.versions.Swap(0); got != want {
			t.Errorf("%s read content %d times, want %d", what, got, want)
		}
	}
	_, err := w.hydrate(one, "")
	w.must(err)
	reads("the first hydration", 1)
	for range 5 {
		_, err = w.hydrate(two, "")
		w.must(err)
	}
	reads("five more", 0)
	if _, err := w.hydrate(one, ""); hodl.CodeOf(err) != hodl.HydrationsExhausted {
		t.Errorf("used up: %v", err)
	}
	reads("a refusal", 0)
	w.put("ses_1", "changed")
	got, err := w.hydrate(two, "")
	w.must(err)
	reads("a new version", 1)
	if !strings.Contains(string(got.Body()), "changed") {
		t.Errorf("the new version is %s", got.Body())
	}
}

// While the session changes under them, hydrations hand over whole versions and
// count exactly.
func TestHydrationsAmidWrites(t *testing.T) {
	w := newWorld(t)
	signed := w.mint(1000)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 20 {
			if _, err := w.Note(t.Context(), w.call(signed, ""), "a note", ""); err != nil {
				t.Error(err)
			}
		}
	}()
	handed := 0
	for finished := false; !finished; {
		select {
		case <-done:
			finished = true
		default:
		}
		h, err := w.hydrate(signed, "")
		if err != nil {
			t.Fatal(err)
		}
		handed++
		if body := string(h.Body()); !strings.Contains(body, `"fingerprint":"`+h.Fingerprint+`"`) {
			t.Fatalf("the record says %s, the body is %s", h.Fingerprint, body)
		}
	}
	s, err := w.store.Session(t.Context(), w.caller.Workspace, hodl.Live, w.caller.User, "ses_1")
	w.must(err)
	if s.Hydrations != int64(handed) {
		t.Errorf("%d were handed over and %d counted", handed, s.Hydrations)
	}
}
