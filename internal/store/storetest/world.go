package storetest

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hodl"
	"hodl/internal/fingerprint"
	"hodl/internal/store"
)

// A world is a store with a workspace and a user in it.
type world struct {
	*store.Store
	db     Database
	clock  *clock
	stores []*store.Store // all over the same database; the first is Store
	ws     hodl.WorkspaceID
	user   hodl.UserID
	serial atomic.Int64
}

// A clock goes a millisecond at each look, so that no two things happen at once.
type clock struct{ ticks atomic.Int64 }

var start = time.Date(2026, 11, 21, 9, 0, 0, 123456000, time.UTC)

func (c *clock) now() time.Time { return start.Add(time.Duration(c.ticks.Add(1)) * time.Millisecond) }

func newWorld(t testing.TB, db Database) *world {
	t.Helper()
	w := &world{db: db, clock: &clock{}}
	w.db.Options.Now = w.clock.now
	w.Store = w.open(t)
	w.stores = []*store.Store{w.Store}
	w.ws, w.user = w.workspace(t, "acme", hodl.Enterprise)
	return w
}

func (c *clock) advance(d time.Duration) { c.ticks.Add(d.Milliseconds()) }

func (w *world) open(t testing.TB) *store.Store {
	t.Helper()
	s, err := store.Open(context.Background(), w.db.Options)
	must(t, err)
	s.SignLogs(signer{})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// at returns one of the stores for the i-th of many calls.
func (w *world) at(i int) *store.Store { return w.stores[i%len(w.stores)] }

func (w *world) workspace(t testing.TB, name string, plan hodl.PlanName) (hodl.WorkspaceID, hodl.UserID) {
	t.Helper()
	ws, admin := hodl.WorkspaceID(w.NewID("wks")), hodl.UserID(w.NewID("usr"))
	must(t, w.CreateWorkspace(t.Context(), hodl.Workspace{ID: ws, Name: name, Plan: plan, CreatedAt: w.Now()}, admin))
	return ws, admin
}

func (w *world) member(t testing.TB) hodl.UserID {
	t.Helper()
	user := hodl.UserID(w.NewID("usr"))
	must(t, w.AddMember(t.Context(), w.ws, user, "Member", hodl.Member))
	return user
}

func (w *world) sessionID() hodl.SessionID {
	return hodl.SessionID(fmt.Sprintf("ses_%d", w.serial.Add(1)))
}

// content is a session's content with a word in every field that must be sealed.
func content(word string) hodl.Content {
	return hodl.Content{
		Title: "title " + word, Summary: "summary " + word, Tags: []string{"tag " + word},
		Tabs:   []hodl.Tab{{URL: "https://example.com/" + word, Title: "tab " + word, SelectedText: "selected " + word}},
		Media:  []hodl.Medium{{Kind: "video", URL: "https://example.com/v", Transcript: "transcript " + word}},
		Thread: []hodl.Node{{ID: "n1", Kind: hodl.Observation, Text: "node " + word}},
		Notes:  []hodl.Note{{ID: 1, Body: "body " + word, Author: "usr", Trust: hodl.TrustUser, CreatedAt: start}},
		Hodls:  []hodl.Hodl{},
		Provenance: map[string]hodl.Provenance{
			"n1": {Author: "usr", CreatedAt: start, Trust: hodl.TrustUser},
		},
	}
}

// version is a write of content that says word, on top of the version expect.
func (w *world) version(t testing.TB, id hodl.SessionID, word, expect string, op hodl.Operation) store.SessionWrite {
	t.Helper()
	c, salt := content(word), sha256.Sum256([]byte(id))
	print, err := fingerprint.Of(salt[:], &c)
	must(t, err)
	return store.SessionWrite{
		Workspace: w.ws, Mode: hodl.Live, User: w.user, ID: id, Op: op, Expect: expect,
		Body: store.VersionBody{Salt: salt[:], Content: c}, Fingerprint: print, At: w.Now(), Author: string(w.user),
	}
}

// session captures a new session and returns it as stored.
func (w *world) session(t testing.TB, word string) *hodl.Session {
	t.Helper()
	id := w.sessionID()
	must(t, w.PutSession(t.Context(), w.version(t, id, word, "", hodl.OpCapture)))
	return w.mustSession(t, id)
}

func (w *world) mustSession(t testing.TB, id hodl.SessionID) *hodl.Session {
	t.Helper()
	x, err := w.Session(t.Context(), w.ws, hodl.Live, w.user, id)
	must(t, err)
	return x
}

func (w *world) move(id hodl.SessionID, op hodl.Operation) store.Transition {
	return store.Transition{Workspace: w.ws, Mode: hodl.Live, User: w.user, ID: id, Op: op, At: w.Now()}
}

func (w *world) record(kind hodl.RecordKind, session hodl.SessionID, token hodl.TokenID) *hodl.Record {
	return &hodl.Record{
		ID: hodl.RecordID(w.NewID("acr")), Kind: kind, Actor: "claude.anthropic.com", At: w.Now(),
		Workspace: w.ws, Mode: hodl.Live, User: w.user, Session: session, JTI: token,
	}
}

var detail = hodl.RecordDetail{Address: "192.0.2.7", UserAgent: "storetest"}

func (w *world) token(session hodl.SessionID, most int) hodl.Token {
	now := w.Now()
	return hodl.Token{
		ID: hodl.TokenID(w.NewID("rt")), Workspace: w.ws, Mode: hodl.Live, Session: session, User: w.user, Key: "key_1",
		Audience: "claude.anthropic.com", Scopes: []hodl.Scope{hodl.ReadContext, hodl.WriteNotes},
		RedactionPolicy: "default", MaxHydrations: most, IssuedAt: now, ExpiresAt: now.Add(time.Hour),
	}
}

func (w *world) mint(t testing.TB, session hodl.SessionID, most int) hodl.Token {
	t.Helper()
	k := w.token(session, most)
	must(t, w.Mint(t.Context(), k, w.record(hodl.KindMint, session, k.ID), detail))
	return k
}

func (w *world) use(k hodl.Token) store.TokenUse {
	return store.TokenUse{Workspace: k.Workspace, Mode: k.Mode, Token: k.ID, Session: k.Session, Delegated: k.Parent != "", At: w.Now()}
}

func (w *world) hydrate(ctx context.Context, s *store.Store, k hodl.Token) error {
	return s.Hydrate(ctx, w.use(k), admit, w.record(hodl.KindHydrate, k.Session, k.ID), detail)
}

// admit decides as the server does, as far as the rows go.
func admit(a store.Admission) error {
	plan, err := hodl.PlanOf(a.Plan)
	switch {
	case err != nil:
		return err
	case a.Token == nil || a.Session == nil || a.Session.State == hodl.Archived:
		return hodl.Errorf(hodl.NotFound, "no session")
	case !a.Token.RevokedAt.IsZero():
		return hodl.Errorf(hodl.TokenRevoked, "revoked")
	case slices.ContainsFunc(a.Lineage, func(t *hodl.Token) bool { return !t.RevokedAt.IsZero() }):
		return hodl.Errorf(hodl.TokenRevoked, "an ancestor is revoked")
	case len(a.Lineage) < len(a.Token.Ancestors):
		return hodl.Errorf(hodl.Internal, "ancestors of %s were not loaded", a.Token.ID)
	case slices.ContainsFunc(append(a.Lineage, a.Token), func(t *hodl.Token) bool { return t.Unused() == 0 }):
		return hodl.Errorf(hodl.HydrationsExhausted, "exhausted")
	case a.Hourly > 0 && a.ThisHour >= a.Hourly:
		return hodl.Errorf(hodl.RateLimited, "the hour's cap")
	case plan.Quota(a.Token.Mode) > 0 && a.Used >= plan.Quota(a.Token.Mode):
		return hodl.Errorf(hodl.QuotaExceeded, "quota")
	}
	return nil
}

// together calls f n times at once and counts the codes of what it returned.
func together(n int, f func(i int) error) map[hodl.Code]int {
	var wg sync.WaitGroup
	gate := make(chan struct{})
	codes := make([]hodl.Code, n)
	for i := range n {
		wg.Go(func() {
			<-gate
			codes[i] = hodl.CodeOf(f(i))
		})
	}
	close(gate)
	wg.Wait()
	counts := map[hodl.Code]int{}
	for _, c := range codes {
		counts[c]++
	}
	return counts
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func refused(t testing.TB, what string, err error, want hodl.Code) {
	t.Helper()
	if got := hodl.CodeOf(err); got != want {
		t.Errorf("%s: got %q (%v), want %q", what, got, err, want)
	}
}

func contains(t testing.TB, s, part string) {
	t.Helper()
	if !strings.Contains(s, part) {
		t.Errorf("%q does not contain %q", s, part)
	}
}

func exec(t testing.TB, db *sql.DB, query string, args ...any) {
	t.Helper()
	_, err := db.ExecContext(t.Context(), query, args...)
	must(t, err)
}

// raw is the database past the store, with all that was promised in its tables.
func (w *world) raw(t testing.TB) *sql.DB {
	t.Helper()
	if err := w.Settle(t.Context()); err != nil && hodl.CodeOf(err) != hodl.Unavailable { // a closed store has settled
		t.Fatal(err)
	}
	return w.db.Raw
}

// one reads one value past the store.
func one[T any](t testing.TB, w *world, query string, args ...any) T {
	t.Helper()
	var x T
	if err := w.raw(t).QueryRowContext(t.Context(), query, args...).Scan(&x); err != nil && !errors.Is(err, sql.ErrNoRows) {
		t.Fatal(err)
	}
	return x
}
