package storetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"
	"time"

	"hodl"
	"hodl/internal/store"
)

// An asking is a request under an idempotency key.
type asking struct {
	ws              hodl.WorkspaceID
	mode            hodl.Mode
	credential      string
	route, key      string
	request, answer string
}

func (w *world) asking() asking {
	return asking{w.ws, hodl.Live, "key_1", "POST /v1/hodls", "k1", "request", "answer"}
}

func (a asking) once() *store.Once {
	return &store.Once{
		Key: a.key, Route: a.route, Request: func() [32]byte { return sha256.Sum256([]byte(a.request)) },
		Encode: func(any) ([]byte, error) { return []byte(a.answer), nil },
	}
}

// ask begins a, lets write write, and returns the answer that counts.
func (a asking) ask(ctx context.Context, s *store.Store, write func(context.Context) error) (string, error) {
	o := a.once()
	ctx = store.WithOnce(ctx, o)
	end, err := s.Once(ctx, a.ws, a.mode, a.credential)
	defer end()
	if err == nil {
		err = write(ctx)
	}
	if again, ok := errors.AsType[*store.Repeat](err); ok {
		return string(again.Answer) + " again", nil
	}
	return string(o.Kept()), err
}

// hodl writes a new hodl.
func (w *world) hodl(s *store.Store) func(context.Context) error {
	h := w.newHodl("")
	return func(ctx context.Context) error {
		return s.PutHodl(ctx, store.HodlWrite{Workspace: w.ws, Mode: hodl.Live, User: w.user, Hodl: h})
	}
}

func (w *world) count(t *testing.T, table string) int {
	t.Helper()
	return one[int](t, w, `select count(*) from `+table)
}

// A request is the same when everything it is known by is.
func testOnce(t *testing.T, w *world) {
	other, _ := w.workspace(t, "other", hodl.Enterprise)
	for _, step := range []struct {
		name   string
		change func(*asking)
		want   string
		code   hodl.Code
	}{
		{"first", func(*asking) {}, "answer", ""},
		{"repeat", func(a *asking) { a.answer = "another" }, "answer again", ""},
		{"another request", func(a *asking) { a.request = "r2" }, "", hodl.IdempotencyMismatch},
		{"another key", func(a *asking) { a.key = "k2" }, "answer", ""},
		{"another route", func(a *asking) { a.route = "POST /v1/hodl" }, "answer", ""},
		{"another credential", func(a *asking) { a.credential = "key_2" }, "answer", ""},
		{"another mode", func(a *asking) { a.mode = hodl.Sandbox }, "answer", ""},
		{"another workspace", func(a *asking) { a.ws = other }, "answer", ""},
		{"names that run together", func(a *asking) { a.credential, a.route = "key_1POST ", "/v1/hodls" }, "answer", ""},
		{"repeat after all of it", func(*asking) {}, "answer again", ""},
	} {
		a := w.asking()
		step.change(&a)
		before := w.count(t, "hodls")
		got, err := a.ask(t.Context(), w.Store, func(ctx context.Context) error {
			h := w.newHodl("")
			return w.PutHodl(ctx, store.HodlWrite{Workspace: a.ws, Mode: a.mode, User: w.user, Hodl: h})
		})
		refused(t, step.name, err, step.code)
		equal(t, step.name, got, step.want)
		effects := 0
		if step.want == "answer" {
			effects = 1
		}
		equal(t, step.name+": effects", w.count(t, "hodls")-before, effects)
	}
}

// What is refused is not kept, and may be sent again with the same key.
func testOnceRefused(t *testing.T, w *world) {
	s := w.session(t, "word")
	a := w.asking()
	_, err := a.ask(t.Context(), w.Store, func(ctx context.Context) error {
		return w.PutSession(ctx, w.version(t, s.ID, "next", "not its version", hodl.OpCapture))
	})
	refused(t, "stale", err, hodl.Stale)
	equal(t, "kept of the refused", w.count(t, "idempotency_keys"), 0)
	a.request = "mended"
	got, err := a.ask(t.Context(), w.Store, func(ctx context.Context) error {
		return w.PutSession(ctx, w.version(t, s.ID, "next", s.Fingerprint, hodl.OpCapture))
	})
	must(t, err)
	equal(t, "mended", got, "answer")
}

// Rare writes keep their answer as the hot ones do.
func testOnceChange(t *testing.T, w *world) {
	a := w.asking()
	add := func(id hodl.KeyID) func(context.Context) error {
		return func(ctx context.Context) error {
			k := hodl.APIKey{ID: id, Workspace: w.ws, User: w.user, Mode: hodl.Live, Scopes: []string{"*"}, CreatedAt: w.Now()}
			return w.AddKey(ctx, k, sha256.Sum256([]byte(id)))
		}
	}
	for _, want := range []string{"answer", "answer again"} {
		got, err := a.ask(t.Context(), w.Store, add("key_a"))
		must(t, err)
		equal(t, "add a key", got, want)
	}
	a.key = "k2"
	_, err := a.ask(t.Context(), w.Store, add("key_a"))
	refused(t, "a key that is there", err, hodl.Conflict)
	equal(t, "keys", w.count(t, "api_keys"), 1)
	equal(t, "answers", w.count(t, "idempotency_keys"), 1)
	a.key, a.answer = "k3", "made elsewhere"
	got, err := a.ask(t.Context(), w.Store, func(ctx context.Context) error {
		_, user := w.workspace(t, "unrelated", hodl.Enterprise) // by another context: not part of the request
		return w.CreateWorkspace(ctx, hodl.Workspace{ID: hodl.WorkspaceID(w.NewID("wks")), Name: "new", Plan: hodl.Developer, CreatedAt: w.Now()}, user)
	})
	must(t, err)
	equal(t, "a change in another workspace than the key's", got, "made elsewhere")
}

// A request that had nothing to write is answered the same all the same.
func testOnceKeep(t *testing.T, w *world) {
	a := w.asking()
	for _, want := range []string{"kept", "kept again"} {
		got, err := a.ask(t.Context(), w.Store, func(ctx context.Context) error { return w.Keep(ctx, []byte("kept")) })
		must(t, err)
		equal(t, "answer", got, want)
	}
}

// A handler that breaks the rules is told, before anything is written.
func testOnceMisused(t *testing.T, w *world) {
	write := w.hodl(w.Store)
	if err := write(store.WithOnce(t.Context(), w.asking().once())); err == nil {
		t.Error("a write of nobody was made")
	}
	if _, err := w.asking().ask(t.Context(), w.Store, func(ctx context.Context) error {
		store.OnceOf(ctx).Encode = nil
		return write(ctx)
	}); err == nil {
		t.Error("a write without an answer was made")
	}
	if _, err := w.asking().ask(t.Context(), w.Store, func(ctx context.Context) error {
		must(t, write(ctx))
		return w.hodl(w.Store)(ctx)
	}); err == nil {
		t.Error("a second write was made")
	}
	equal(t, "hodls", w.count(t, "hodls"), 1)
}

// Each item of a request takes effect once, also when the request broke off.
func testOnceItems(t *testing.T, w *world) {
	a := w.asking()
	for _, n := range []int{3, 5} {
		_, err := a.ask(t.Context(), w.Store, func(ctx context.Context) error {
			for i := range n {
				item := store.Item(ctx, i, func(any) ([]byte, error) { return fmt.Append(nil, "item ", i), nil })
				err := w.hodl(w.Store)(item)
				again, repeated := errors.AsType[*store.Repeat](err)
				if repeated != (n == 5 && i < 3) {
					t.Errorf("item %d of %d: %v", i, n, err)
				}
				if repeated {
					equal(t, "answer", string(again.Answer), fmt.Sprint("item ", i))
				}
			}
			return nil
		})
		must(t, err)
	}
	equal(t, "hodls", w.count(t, "hodls"), 5)
	if ctx := t.Context(); store.Item(ctx, 1, nil) != ctx {
		t.Error("without a key an item is its request")
	}
}

// Of many equal requests at once one takes effect: the others get its answer, or are
// told to wait for it. The writes themselves may meet in the database, be it in one
// batch or from two servers.
func testOnceAtOnce(t *testing.T, w *world) {
	const keys, each = 8, 24
	counts := together(keys*each, func(i int) error {
		a := w.asking()
		a.key = fmt.Sprint("key ", i%keys)
		s := w.at(i / keys)
		got, err := a.ask(context.Background(), s, w.hodl(s))
		if err == nil && got != "answer" && got != "answer again" {
			t.Errorf("the answer is %q", got)
		}
		return err
	})
	equal(t, "hodls", w.count(t, "hodls"), keys)
	equal(t, "outcomes", counts[""]+counts[hodl.Conflict], keys*each)
}

// Writes that begin before any has ended all come to the database.
func testOnceInOneBatch(t *testing.T, w *world) {
	const n = 40
	var contexts [n]context.Context
	for i := range contexts {
		contexts[i] = store.WithOnce(context.Background(), w.asking().once())
		end, err := w.at(i).Once(contexts[i], w.ws, hodl.Live, "key_1")
		must(t, err)
		end() // as if the caller had gone
	}
	var again int
	counts := together(n, func(i int) error {
		err := w.hodl(w.at(i))(contexts[i])
		if _, repeated := errors.AsType[*store.Repeat](err); repeated {
			return &hodl.Error{Code: "repeated"}
		}
		return err
	})
	again = counts["repeated"]
	equal(t, "hodls, repeats", [2]int{w.count(t, "hodls"), again}, [2]int{1, n - 1})
}

func testOnceSealed(t *testing.T, w *world) {
	a := w.asking()
	a.key, a.answer = "clientskey91c", "secret7b2e"
	must(t, func() error { _, err := a.ask(t.Context(), w.Store, w.hodl(w.Store)); return err }())
	rows := w.dump(t)
	for _, word := range []string{a.key, a.answer} {
		if bytes.Contains(rows, []byte(word)) {
			t.Errorf("the database shows %q", word)
		}
	}
}

// Answers go when their time is over, and not before.
func testForgetAnswers(t *testing.T, w *world) {
	a := w.asking()
	must(t, func() error { _, err := a.ask(t.Context(), w.Store, w.hodl(w.Store)); return err }())
	columns := `workspace, mode, name, request, answer, expires_at`
	exec(t, w.raw(t), `insert into idempotency_keys (`+columns+`) with recursive n (i) as (select 1 union all select i + 1 from n where i < 1100)
		select workspace, mode, 'old ' || i, request, answer, $1 from idempotency_keys, n`, w.Now().Add(-time.Second).UnixMicro())
	n, err := w.ForgetAnswers(t.Context())
	must(t, err)
	equal(t, "forgotten", n, 1100)
	equal(t, "left", w.count(t, "idempotency_keys"), 1)
	w.clock.ticks.Add(int64(store.KeptFor/time.Millisecond) - 1000)
	n, err = w.ForgetAnswers(t.Context())
	must(t, err)
	equal(t, "forgotten within the day", n, 0)
	w.clock.ticks.Add(2000)
	n, err = w.ForgetAnswers(t.Context())
	must(t, err)
	equal(t, "forgotten after the day", n, 1)
	got, err := a.ask(t.Context(), w.Store, w.hodl(w.Store))
	must(t, err)
	equal(t, "the same again, a day later", got, "answer")
}
