package capture_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hodl"
	"hodl/internal/capture"
	"hodl/internal/seal"
	"hodl/internal/store"
)

// A world is a service over a real store.
type world struct {
	*capture.Service
	t      *testing.T
	store  *store.Store
	owner  *hodl.Principal
	micros atomic.Int64
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t}
	w.micros.Store(time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC).UnixMicro())
	dir := t.TempDir()
	master, err := seal.CreateMaster(filepath.Join(dir, "master.key"))
	w.must(err)
	w.store, err = store.Open(t.Context(), store.Options{Dir: dir, Master: master, Now: func() time.Time { return time.UnixMicro(w.micros.Add(1)) }})
	w.must(err)
	t.Cleanup(func() { w.must(w.store.Close()) })
	w.Service = capture.New(w.store)
	ws, user := hodl.WorkspaceID(w.store.NewID("wks")), hodl.UserID(w.store.NewID("usr"))
	w.must(w.store.CreateWorkspace(t.Context(), hodl.Workspace{ID: ws, Name: "acme", Plan: hodl.Enterprise, CreatedAt: w.store.Now()}, user))
	w.owner = &hodl.Principal{Workspace: ws, User: user, Key: "key_1", Mode: hodl.Live}
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) session(d hodl.SessionDraft) *capture.Captured {
	w.t.Helper()
	out, err := w.Session(w.t.Context(), w.owner, capture.SessionCapture{Draft: d})
	w.must(err)
	return out
}

func (w *world) content(id hodl.SessionID) hodl.Content {
	w.t.Helper()
	s, err := w.store.Session(w.t.Context(), w.owner.Workspace, hodl.Live, w.owner.User, id)
	w.must(err)
	body, err := w.store.Version(w.t.Context(), w.owner.Workspace, hodl.Live, id, s.Fingerprint)
	w.must(err)
	return body.Content
}

// The same content is the same version, with the time it was first captured; other
// content is another, and content names nothing across sessions.
func TestFingerprintNamesContent(t *testing.T) {
	w := newWorld(t)
	d := hodl.SessionDraft{ID: "ses_a", Title: "x", Notes: []hodl.NoteDraft{{Body: "n"}, {Body: "n"}}, Thread: []hodl.Node{{ID: "1", Kind: hodl.Question, Text: "?"}}}
	first, again := w.session(d), w.session(d)
	if !first.Created || again.Created || first.Fingerprint != again.Fingerprint || !first.CapturedAt.Equal(again.CapturedAt) {
		t.Errorf("%+v, then %+v", first, again)
	}
	d.Title = "y"
	if other := w.session(d); other.Fingerprint == first.Fingerprint || !other.CapturedAt.After(first.CapturedAt) {
		t.Errorf("%+v, then with another title %+v", first, other)
	}
	d.ID, d.Title = "ses_b", "x"
	if twin := w.session(d); twin.Fingerprint == first.Fingerprint {
		t.Error("two sessions of the same content have the same fingerprint: who sees one knows the other")
	}
}

// A note keeps its number and time for as long as its text is captured; numbers are
// never used twice.
func TestNotesKeepTheirNumbers(t *testing.T) {
	w := newWorld(t)
	numbers := func(bodies ...string) string {
		d := hodl.SessionDraft{ID: "ses_a"}
		for _, b := range bodies {
			d.Notes = append(d.Notes, hodl.NoteDraft{Body: b})
		}
		w.session(d)
		out := ""
		for _, n := range w.content("ses_a").Notes {
			out += fmt.Sprint(n.ID, n.Body, " ")
		}
		return out
	}
	for _, tt := range []struct {
		sent []string
		want string
	}{
		{[]string{"a", "b"}, "1a 2b "},
		{[]string{"b", "a"}, "2b 1a "},
		{[]string{"b"}, "2b "},
		{[]string{"b", "a", "b"}, "2b 3a 4b "},
		{nil, ""},
		{[]string{"a"}, "5a "},
	} {
		if got := numbers(tt.sent...); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.sent, got, tt.want)
		}
	}
}

// Captures at once do not lose each other's hodls: each is made on what stands.
func TestHodlsJoinAtOnce(t *testing.T) {
	w := newWorld(t)
	w.session(hodl.SessionDraft{ID: "ses_a", Title: "x"})
	const n = 12
	var joined atomic.Int64
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			_, err := w.Hodl(context.Background(), w.owner, hodl.HodlDraft{Title: fmt.Sprint(i), SessionID: "ses_a"})
			switch {
			case err == nil:
				joined.Add(1)
			case !errors.Is(err, &hodl.Error{Code: hodl.Stale}):
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := int64(len(w.content("ses_a").Hodls)); got != joined.Load() || got == 0 {
		t.Errorf("%d hodls were taken and the session holds %d", joined.Load(), got)
	}
}

// A hodl moves between sessions, and both get a version.
func TestHodlMoves(t *testing.T) {
	w := newWorld(t)
	w.session(hodl.SessionDraft{ID: "ses_a", Title: "a"})
	w.session(hodl.SessionDraft{ID: "ses_b", Title: "b"})
	h, err := w.Hodl(t.Context(), w.owner, hodl.HodlDraft{Title: "x", SessionID: "ses_a"})
	w.must(err)
	holds := func() string {
		return fmt.Sprint(len(w.content("ses_a").Hodls), len(w.content("ses_b").Hodls))
	}
	move := func(to hodl.SessionID) {
		_, err := w.ChangeHodl(t.Context(), w.owner, h.ID, hodl.HodlChange{SessionID: &to}, "")
		w.must(err)
	}
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() {}, "1 0"},
		{func() { move("ses_b") }, "0 1"},
		{func() { move("") }, "0 0"},
		{func() { move("ses_a") }, "1 0"},
		{func() { w.must(w.DeleteHodl(t.Context(), w.owner, h.ID, "")) }, "0 0"},
	} {
		step.do()
		if got := holds(); got != step.want {
			t.Errorf("the sessions hold %s, want %s", got, step.want)
		}
	}
	nowhere := hodl.SessionID("ses_none")
	if _, err := w.Hodl(t.Context(), w.owner, hodl.HodlDraft{Title: "x", SessionID: nowhere}); hodl.CodeOf(err) != hodl.ValidationFailed {
		t.Errorf("into no session: %v", err)
	}
}

// With If-Match a capture is made on the version it names or not at all.
func TestIfMatch(t *testing.T) {
	w := newWorld(t)
	first := w.session(hodl.SessionDraft{ID: "ses_a", Title: "1"})
	take := func(title, match string) error {
		_, err := w.Session(t.Context(), w.owner, capture.SessionCapture{Draft: hodl.SessionDraft{ID: "ses_a", Title: title}, IfMatch: match})
		return err
	}
	w.must(take("2", first.Fingerprint))
	if err := take("3", first.Fingerprint); hodl.CodeOf(err) != hodl.Stale {
		t.Errorf("on a version that is gone: %v", err)
	}
	if got := w.content("ses_a").Title; got != "2" {
		t.Errorf("the title is %s", got)
	}
	w.must(take("4", hodl.AnyVersion))
	if _, err := w.Session(t.Context(), w.owner, capture.SessionCapture{Draft: hodl.SessionDraft{ID: "ses_none", Title: "x"}, IfMatch: hodl.AnyVersion}); hodl.CodeOf(err) != hodl.Stale {
		t.Errorf("on any version of what is not there: %v", err)
	}
}

// Who asks for it is told of each version that was kept, and of none that was refused.
func TestCapturedIsTold(t *testing.T) {
	w := newWorld(t)
	var told []hodl.SessionID
	w.Captured = func(ws hodl.WorkspaceID, id hodl.SessionID, c *hodl.Content) {
		if ws != w.owner.Workspace || c.Title != "x" {
			t.Errorf("told of %q in %s", c.Title, ws)
		}
		told = append(told, id)
	}
	w.session(hodl.SessionDraft{ID: "ses_a", Title: "x"})
	if _, err := w.Session(t.Context(), w.owner, capture.SessionCapture{Draft: hodl.SessionDraft{ID: "ses_b", Title: "x"}, IfMatch: "gone"}); err == nil {
		t.Error("a stale capture is taken")
	}
	if !slices.Equal(told, []hodl.SessionID{"ses_a"}) {
		t.Errorf("told of %v", told)
	}
}
