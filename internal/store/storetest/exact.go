package storetest

import (
	"testing"

	"hodl"
	"hodl/internal/store"
)

// counters reads what must agree after any storm: uses of all tokens, the month's
// counter and the number of hydrate records.
func (w *world) counters(t *testing.T) [3]int {
	t.Helper()
	w.checkLog(t, w.ws, hodl.Live)
	return [3]int{
		one[int](t, w, `select coalesce(sum(hydrations), 0) from tokens where workspace = $1`, w.ws),
		one[int](t, w, `select coalesce(sum(hydrations), 0) from usage where workspace = $1 and mode = 'live'`, w.ws),
		one[int](t, w, `select count(*) from access_records where workspace = $1 and mode = 'live' and kind = 'hydrate'`, w.ws),
	}
}

func testExactCap(t *testing.T, w *world) {
	const left = 13
	k := w.mint(t, w.session(t, "word").ID, left)
	got := together(4*left, func(i int) error { return w.hydrate(t.Context(), w.at(i), k) })
	equal(t, "verdicts", got, map[hodl.Code]int{"": left, hodl.HydrationsExhausted: 3 * left})
	equal(t, "counters", w.counters(t), [3]int{left, left, left})
}

func testExactQuota(t *testing.T, w *world) {
	const left = 17
	must(t, w.SetPlan(t.Context(), w.ws, hodl.Developer))
	plan, err := hodl.PlanOf(hodl.Developer)
	must(t, err)
	before := int(plan.Hydrations) - left
	exec(t, w.raw(t), `insert into usage (workspace, mode, month, hydrations) values ($1, 'live', $2, $3)`, w.ws, hodl.Month(start), before)
	s := w.session(t, "word")
	tokens := make([]hodl.Token, 4*left)
	for i := range tokens {
		tokens[i] = w.mint(t, s.ID, 1)
	}
	got := together(len(tokens), func(i int) error { return w.hydrate(t.Context(), w.at(i), tokens[i]) })
	equal(t, "verdicts", got, map[hodl.Code]int{"": left, hodl.QuotaExceeded: 3 * left})
	equal(t, "counters", w.counters(t), [3]int{left, before + left, left})
}

func testOneID(t *testing.T, w *world) {
	other := w.member(t)
	for range 10 {
		id := w.sessionID()
		got := together(8, func(i int) error {
			x := w.version(t, id, "word", "", hodl.OpCapture)
			if i >= 4 {
				x.User = other
			}
			return w.at(i).PutSession(t.Context(), x)
		})
		if got[""] != 1 || got[hodl.Stale]+got[hodl.Conflict] != 7 {
			t.Errorf("one id, created eight times at once: %v", got)
		}
		equal(t, "versions", one[int](t, w, `select count(*) from session_versions where session = $1`, id), 1)
	}
}

// testEverythingAtOnce lets every kind of write meet every other, in two
// workspaces and on every store, and counts.
func testEverythingAtOnce(t *testing.T, w *world) {
	ctx := t.Context()
	const callers, rounds = 24, 12
	first, user := w.ws, w.user
	second, stranger := w.workspace(t, "other", hodl.Enterprise)
	tokens := make([]hodl.Token, 4)
	for i := range tokens {
		tokens[i] = w.mint(t, w.session(t, "shared").ID, 1000)
	}
	got := together(callers, func(i int) error {
		s := w.at(i)
		for round := range rounds {
			id, ws, as := w.sessionID(), first, user
			if (i+round)%2 == 0 {
				ws, as = second, stranger
			}
			if err := w.errand(t, s, tokens[(i+round)%len(tokens)], id, ws, as); err != nil {
				return err
			}
		}
		return nil
	})
	equal(t, "verdicts", got, map[hodl.Code]int{"": callers})
	n := callers * rounds
	equal(t, "counters", w.counters(t), [3]int{n, n, n})
	w.checkLog(t, second, hodl.Live)
	equal(t, "sessions left", one[int](t, w, `select count(*) from sessions where workspace in ($1, $2)`, first, second), n/2+len(tokens))
	list, err := w.Sessions(ctx, second, hodl.Live, stranger, store.Page{Limit: 1})
	must(t, err)
	equal(t, "sessions of the second workspace", len(list), 0)
}

// errand makes a session, mints for it, hydrates a shared one, archives its own,
// and deletes it again when it lies in the second workspace.
func (w *world) errand(t *testing.T, s *store.Store, shared hodl.Token, id hodl.SessionID, ws hodl.WorkspaceID, as hodl.UserID) error {
	ctx := t.Context()
	x := w.version(t, id, "own", "", hodl.OpCapture)
	x.Workspace, x.User = ws, as
	k := w.token(id, 1)
	k.Workspace, k.User = ws, as
	rec := w.record(hodl.KindMint, id, k.ID)
	rec.Workspace, rec.User = ws, as
	move := store.Transition{Workspace: ws, Mode: hodl.Live, User: as, ID: id, Op: hodl.OpArchive, At: w.Now()}
	steps := []func() error{
		func() error { return s.PutSession(ctx, x) },
		func() error { return s.Mint(ctx, k, rec, detail) },
		func() error { return w.hydrate(ctx, s, shared) },
		func() error { return s.MoveSession(ctx, move) },
	}
	if ws != w.ws {
		steps = append(steps, func() error { return s.DeleteSession(ctx, move) })
	}
	for _, step := range steps {
		if err := step(); err != nil {
			t.Error(err)
			return err
		}
	}
	return nil
}

func testRevocationSeen(t *testing.T, w *world) {
	ctx := t.Context()
	for i := range 6 {
		k := w.mint(t, w.session(t, "word").ID, 1000)
		here, there := w.at(i), w.at(i+1)
		must(t, w.hydrate(ctx, there, k))
		must(t, here.Revoke(ctx, w.ws, hodl.Live, w.user, k.ID, "", w.record(hodl.KindRevoke, k.Session, k.ID), detail))
		refused(t, "hydrate on the other store", w.hydrate(ctx, there, k), hodl.TokenRevoked)
	}
}
