package storetest

import (
	"context"
	"sync"
	"testing"
	"time"

	"hodl"
	"hodl/internal/store"
)

// child is a token to be exchanged for parent.
func (w *world) child(parent hodl.Token, most int) hodl.Token {
	k := w.token(parent.Session, most)
	k.User, k.Workspace, k.ExpiresAt = parent.User, parent.Workspace, parent.ExpiresAt
	return k
}

// exchange makes a token from parent and returns it as the store knows it.
func (w *world) exchange(t testing.TB, parent hodl.Token, most int) hodl.Token {
	t.Helper()
	k := w.child(parent, most)
	must(t, w.tryExchange(t.Context(), w.Store, parent, k))
	got, err := w.Token(t.Context(), w.ws, hodl.Live, w.user, k.ID)
	must(t, err)
	return *got
}

func (w *world) tryExchange(ctx context.Context, s *store.Store, parent, k hodl.Token) error {
	return s.Exchange(ctx, w.use(parent), admitAny, k, w.record(hodl.KindExchange, k.Session, k.ID), detail)
}

// admitAny admits what is not ended, whatever it has left.
func admitAny(a store.Admission) error {
	if err := admit(a); hodl.CodeOf(err) != hodl.HydrationsExhausted {
		return err
	}
	return nil
}

func (w *world) mustToken(t testing.TB, id hodl.TokenID) *hodl.Token {
	t.Helper()
	k, err := w.Token(t.Context(), w.ws, hodl.Live, w.user, id)
	must(t, err)
	return k
}

func testExchange(t *testing.T, w *world) {
	ctx := t.Context()
	root := w.mint(t, w.session(t, "word").ID, 3)
	child := w.exchange(t, root, 3)
	grandchild := w.exchange(t, child, 2)
	equal(t, "parent", grandchild.Parent, child.ID)
	equal(t, "ancestors", grandchild.Ancestors, []hodl.TokenID{root.ID, child.ID})
	equal(t, "key", grandchild.Key, root.Key)
	events := one[int](t, w, `select count(*) from outbox where workspace = $1 and type = 'session.shared'`, w.ws)
	equal(t, "session.shared: a mint and two exchanges", events, 3)

	must(t, w.hydrate(ctx, w.Store, grandchild))
	must(t, w.hydrate(ctx, w.Store, root))
	for _, x := range []struct {
		id                         hodl.TokenID
		own, drawn, left, children int
	}{{root.ID, 1, 1, 1, 1}, {child.ID, 0, 1, 1, 1}, {grandchild.ID, 1, 0, 1, 0}} {
		got := w.mustToken(t, x.id)
		equal(t, "own, drawn, left, children", []int{got.Hydrations, got.Drawn, got.Left, got.Children}, []int{x.own, x.drawn, x.left, x.children})
	}
	equal(t, "session.handed_off: once for each token that hydrated", one[int](t, w, `select count(*) from outbox where workspace = $1 and type = 'session.handed_off'`, w.ws), 2)
	must(t, w.hydrate(ctx, w.Store, child))
	for _, k := range []hodl.Token{root, child, grandchild} {
		refused(t, "the fourth of three", w.hydrate(ctx, w.Store, k), hodl.HydrationsExhausted)
	}
	equal(t, "hydrations of the session", w.mustSession(t, root.Session).Hydrations, 3)
	equal(t, "counters", w.counters(t), [3]int{3, 3, 3})
	a, err := w.Admission(ctx, w.use(grandchild))
	must(t, err)
	equal(t, "ancestors in an admission", len(a.Lineage), 2)
}

func testExchangeRefusals(t *testing.T, w *world) {
	ctx := t.Context()
	s := w.session(t, "word")
	root := w.mint(t, s.ID, 5)
	no := func(store.Admission) error { return hodl.Errorf(hodl.InsufficientScope, "no") }
	k := w.child(root, 1)
	refused(t, "not admitted", w.Exchange(ctx, w.use(root), no, k, w.record(hodl.KindExchange, k.Session, k.ID), detail), hodl.InsufficientScope)
	none := root
	none.ID = "rt_none"
	yes := func(store.Admission) error { return nil }
	refused(t, "for no token", w.Exchange(ctx, w.use(none), yes, k, w.record(hodl.KindExchange, k.Session, k.ID), detail), hodl.NotFound)
	equal(t, "records of refusals", w.checkLog(t, w.ws, hodl.Live), 1)

	got := together(2*hodl.MaxChildren, func(i int) error { return w.tryExchange(ctx, w.at(i), root, w.child(root, 1)) })
	equal(t, "live children", got, map[hodl.Code]int{"": hodl.MaxChildren, hodl.Conflict: hodl.MaxChildren})
	list, err := w.Tokens(ctx, w.ws, hodl.Live, w.user, s.ID, store.Page{Limit: 2})
	must(t, err)
	must(t, w.Revoke(ctx, w.ws, hodl.Live, w.user, list[0].ID, "", w.record(hodl.KindRevoke, s.ID, list[0].ID), detail))
	brief := w.child(root, 1)
	brief.ExpiresAt = w.Now().Add(time.Second)
	must(t, w.tryExchange(ctx, w.Store, root, brief))
	refused(t, "one more", w.tryExchange(ctx, w.Store, root, w.child(root, 1)), hodl.Conflict)
	w.clock.ticks.Add(time.Second.Milliseconds())
	must(t, w.tryExchange(ctx, w.Store, root, w.child(root, 1)))
}

func testRevocationCascades(t *testing.T, w *world) {
	ctx := t.Context()
	root := w.mint(t, w.session(t, "word").ID, 9)
	left, right := w.exchange(t, root, 9), w.exchange(t, root, 9)
	below := w.exchange(t, left, 9)
	must(t, w.hydrate(ctx, w.at(1), below))
	must(t, w.Revoke(ctx, w.ws, hodl.Live, w.user, left.ID, "lost", w.record(hodl.KindRevoke, left.Session, left.ID), detail))
	for i, k := range []hodl.Token{left, below} {
		refused(t, "hydrate below what was revoked", w.hydrate(ctx, w.at(i), k), hodl.TokenRevoked)
		refused(t, "exchange below what was revoked", w.tryExchange(ctx, w.at(i), k, w.child(k, 1)), hodl.TokenRevoked)
		got := w.mustToken(t, k.ID)
		equal(t, "reason", got.RevokeReason, "lost")
	}
	must(t, w.hydrate(ctx, w.at(1), right))
	must(t, w.hydrate(ctx, w.at(0), root))
	x := w.version(t, below.Session, "written", w.mustSession(t, below.Session).Fingerprint, hodl.OpWrite)
	x.Token, x.Admit, x.Record, x.Detail = below.ID, admit, w.record(hodl.KindWrite, below.Session, below.ID), detail
	refused(t, "write below what was revoked", w.PutSession(ctx, x), hodl.TokenRevoked)
}

// testExactLineage lets many tokens that came from one, at every depth and on every
// store, draw on what it has left.
func testExactLineage(t *testing.T, w *world) {
	const left = 23
	root := w.mint(t, w.session(t, "word").ID, left)
	tokens := []hodl.Token{root}
	for i := range 12 {
		parent := tokens[i/2]
		if len(parent.Ancestors) < hodl.MaxDepth {
			tokens = append(tokens, w.exchange(t, parent, left))
		}
	}
	got := together(4*left, func(i int) error { return w.hydrate(t.Context(), w.at(i), tokens[i%len(tokens)]) })
	equal(t, "verdicts", got, map[hodl.Code]int{"": left, hodl.HydrationsExhausted: 3 * left})
	equal(t, "counters", w.counters(t), [3]int{left, left, left})
	k := w.mustToken(t, root.ID)
	equal(t, "used of the first", k.Hydrations+k.Drawn, left)
}

// testRevokedMidFlight revokes a token while those below it hydrate: from the
// moment the call answers, none succeeds.
func testRevokedMidFlight(t *testing.T, w *world) {
	ctx := t.Context()
	root := w.mint(t, w.session(t, "word").ID, 1000)
	children := make([]hodl.Token, 8)
	for i := range children {
		children[i] = w.exchange(t, root, 1000)
	}
	var running sync.WaitGroup
	revoked := make(chan struct{})
	for i, k := range children {
		running.Go(func() {
			for {
				over := false
				select {
				case <-revoked:
					over = true
				default:
				}
				err := w.hydrate(ctx, w.at(i), k)
				if over && err == nil {
					t.Error("hydrated after the revocation was told")
				}
				if hodl.CodeOf(err) == hodl.TokenRevoked {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	must(t, w.at(1).Revoke(ctx, w.ws, hodl.Live, w.user, root.ID, "stop", w.record(hodl.KindRevoke, root.Session, root.ID), detail))
	close(revoked)
	running.Wait()
	n := w.mustToken(t, root.ID).Drawn
	equal(t, "counters", w.counters(t), [3]int{n, n, n})
}

func testRevokeAll(t *testing.T, w *world) {
	ctx := t.Context()
	other := w.member(t)
	for _, tt := range []struct {
		kind    hodl.RevocationKind
		subject func(k hodl.Token) string
		another func(k *hodl.Token) // makes a token of another subject
	}{
		{hodl.OfSession, func(k hodl.Token) string { return string(k.Session) }, func(k *hodl.Token) { k.Session = w.session(t, "other").ID }},
		{hodl.OfKey, func(k hodl.Token) string { return string(k.Key) }, func(k *hodl.Token) { k.Key = "key_2" }},
		{hodl.OfUser, func(k hodl.Token) string { return string(k.User) }, func(k *hodl.Token) {
			x := w.version(t, w.sessionID(), "theirs", "", hodl.OpCapture)
			x.User = other
			must(t, w.PutSession(ctx, x))
			k.Session, k.User = x.ID, other
		}},
		{hodl.OfWorkspace, func(k hodl.Token) string { return string(k.Workspace) }, nil},
	} {
		before := w.mint(t, w.session(t, "word").ID, 5)
		below := w.exchange(t, before, 5)
		var spared hodl.Token
		if tt.another != nil {
			spared = w.token(before.Session, 5)
			tt.another(&spared)
			must(t, w.Mint(ctx, spared, w.record(hodl.KindMint, spared.Session, spared.ID), detail))
		}
		v := hodl.Revocation{Kind: tt.kind, Subject: tt.subject(before), Reason: "leak"}
		must(t, w.at(1).RevokeAll(ctx, hodl.Live, "", v, w.record(hodl.KindRevoke, "", ""), detail))
		for i, k := range []hodl.Token{before, below} {
			refused(t, string(tt.kind)+": a token from before", w.hydrate(ctx, w.at(i), k), hodl.TokenRevoked)
			equal(t, "reason", w.mustToken(t, k.ID).RevokeReason, "leak")
			a, err := w.Admission(ctx, w.use(k))
			must(t, err)
			refused(t, "admission", admit(a), hodl.TokenRevoked)
		}
		refused(t, "exchange", w.tryExchange(ctx, w.Store, before, w.child(before, 1)), hodl.TokenRevoked)
		must(t, w.hydrate(ctx, w.at(1), w.mint(t, before.Session, 1)))
		if tt.another != nil {
			must(t, w.hydrate(ctx, w.Store, spared))
		}
	}
	equal(t, "rows", one[int](t, w, `select count(*) from revocations where workspace = $1`, w.ws), 4)
	v := hodl.Revocation{Kind: hodl.OfSession, Subject: "ses_none"}
	refused(t, "no such session", w.RevokeAll(ctx, hodl.Live, "", v, w.record(hodl.KindRevoke, "", ""), detail), hodl.NotFound)
	v.Subject = string(w.session(t, "word").ID)
	refused(t, "another's session", w.RevokeAll(ctx, hodl.Live, other, v, w.record(hodl.KindRevoke, "", ""), detail), hodl.NotFound)
	w.checkLog(t, w.ws, hodl.Live)
}

// testRevokeAllAmidWrites mints, exchanges and hydrates on every store while the
// workspace's tokens are revoked again and again. What was made before a revocation
// is dead, what was made after is not, whatever the batches were.
func testRevokeAllAmidWrites(t *testing.T, w *world) {
	ctx := t.Context()
	session := w.session(t, "word").ID
	var old sync.Map // tokens that a revocation must have ended by now
	got := together(16, func(i int) error {
		s := w.at(i)
		for range 8 {
			if i == 0 {
				var mine []hodl.Token
				for range 3 {
					k := w.token(session, 3)
					if err := s.Mint(ctx, k, w.record(hodl.KindMint, session, k.ID), detail); err != nil {
						return err
					}
					mine = append(mine, k)
				}
				v := hodl.Revocation{Kind: hodl.OfWorkspace, Subject: string(w.ws)}
				if err := s.RevokeAll(ctx, hodl.Live, "", v, w.record(hodl.KindRevoke, "", ""), detail); err != nil {
					return err
				}
				for _, k := range mine {
					old.Store(k.ID, k)
				}
			}
			k := w.token(session, 3)
			err := s.Mint(ctx, k, w.record(hodl.KindMint, session, k.ID), detail)
			if err != nil {
				return err
			}
			if err := w.hydrate(ctx, w.at(i+1), k); err != nil && hodl.CodeOf(err) != hodl.TokenRevoked {
				return err
			}
			old.Range(func(_, x any) bool {
				refused(t, "a token from before a revocation", w.hydrate(ctx, s, x.(hodl.Token)), hodl.TokenRevoked)
				return true
			})
		}
		return nil
	})
	equal(t, "verdicts", got, map[hodl.Code]int{"": 16})
	w.checkLog(t, w.ws, hodl.Live)
}

func testLimits(t *testing.T, w *world) {
	ctx := t.Context()
	got, err := w.Workspace(ctx, w.ws)
	must(t, err)
	equal(t, "limits at first", got.Limits, hodl.DefaultLimits)
	want := hodl.TokenLimits{TTL: 10 * time.Minute, MaxHydrations: 4, Hourly: 7}
	must(t, w.SetLimits(ctx, w.ws, want))
	got, err = w.Workspace(ctx, w.ws)
	must(t, err)
	equal(t, "limits", got.Limits, want)
	refused(t, "limits beyond the largest", w.SetLimits(ctx, w.ws, hodl.TokenLimits{TTL: 25 * time.Hour, MaxHydrations: 1}), hodl.ValidationFailed)
	refused(t, "no such workspace", w.SetLimits(ctx, "wks_none", want), hodl.NotFound)

	s := w.session(t, "word")
	mint := func(most int, life time.Duration) error {
		k := w.token(s.ID, most)
		k.ExpiresAt = k.IssuedAt.Truncate(time.Second).Add(life)
		return w.Mint(ctx, k, w.record(hodl.KindMint, s.ID, k.ID), detail)
	}
	must(t, mint(4, 10*time.Minute))
	refused(t, "too many hydrations", mint(5, time.Minute), hodl.ValidationFailed)
	refused(t, "too long a life", mint(1, 10*time.Minute+time.Second), hodl.ValidationFailed)
}

func testExactHour(t *testing.T, w *world) {
	const cap = 11
	ctx := t.Context()
	must(t, w.SetLimits(ctx, w.ws, hodl.TokenLimits{TTL: hodl.MaxTTL, MaxHydrations: 1000, Hourly: cap}))
	s := w.session(t, "word")
	root := w.mint(t, s.ID, 1000)
	tokens := []hodl.Token{root, w.mint(t, s.ID, 1000), w.exchange(t, root, 1000)}
	storm := func() map[hodl.Code]int {
		return together(4*cap, func(i int) error { return w.hydrate(ctx, w.at(i), tokens[i%len(tokens)]) })
	}
	want := map[hodl.Code]int{"": cap, hodl.RateLimited: 3 * cap}
	equal(t, "verdicts", storm(), want)
	must(t, w.hydrate(ctx, w.Store, w.mint(t, w.session(t, "other").ID, 1)))
	equal(t, "title, which counting does not touch", w.mustSession(t, s.ID).Title, s.Title)
	w.clock.ticks.Add(time.Hour.Milliseconds())
	equal(t, "verdicts of the next hour", storm(), want)
	equal(t, "counters", w.counters(t), [3]int{2*cap + 1, 2*cap + 1, 2*cap + 1})
}
