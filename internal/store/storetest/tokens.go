package storetest

import (
	"testing"

	"hodl"
	"hodl/internal/store"
)

func testTokens(t *testing.T, w *world) {
	ctx := t.Context()
	s, other := w.session(t, "word"), w.session(t, "word")
	first, second, third := w.mint(t, s.ID, 5), w.mint(t, s.ID, 5), w.mint(t, other.ID, 5)
	got, err := w.Token(ctx, w.ws, hodl.Live, w.user, first.ID)
	must(t, err)
	first.Left = 5
	equal(t, "token", *got, first)

	list := func(session hodl.SessionID, p store.Page) (ids []hodl.TokenID) {
		tokens, err := w.Tokens(ctx, w.ws, hodl.Live, w.user, session, p)
		must(t, err)
		for _, k := range tokens {
			ids = append(ids, k.ID)
		}
		return ids
	}
	equal(t, "tokens", list("", store.Page{Limit: 2}), []hodl.TokenID{third.ID, second.ID})
	equal(t, "second page", list("", store.Page{Limit: 2, BeforeID: string(second.ID)}), []hodl.TokenID{first.ID})
	equal(t, "of a session", list(s.ID, store.Page{Limit: 9}), []hodl.TokenID{second.ID, first.ID})

	rec := w.record(hodl.KindRevoke, s.ID, first.ID)
	must(t, w.Revoke(ctx, w.ws, hodl.Live, w.user, first.ID, "lost", rec, detail))
	must(t, w.Revoke(ctx, w.ws, hodl.Live, w.user, first.ID, "again", w.record(hodl.KindRevoke, s.ID, first.ID), detail))
	got, err = w.Token(ctx, w.ws, hodl.Live, w.user, first.ID)
	must(t, err)
	equal(t, "reason", got.RevokeReason, "lost")
	equal(t, "revoked at", got.RevokedAt, rec.At)
	equal(t, "records: three mints and one revocation", w.checkLog(t, w.ws, hodl.Live), 4)
	refused(t, "hydrate with it", w.hydrate(ctx, w.Store, first), hodl.TokenRevoked)
	must(t, w.hydrate(ctx, w.Store, second))
}

func testTokenRefusals(t *testing.T, w *world) {
	ctx := t.Context()
	s := w.session(t, "word")
	mint := func(change func(*hodl.Token)) error {
		k := w.token(s.ID, 5)
		change(&k)
		return w.Mint(ctx, k, w.record(hodl.KindMint, k.Session, k.ID), detail)
	}
	k := w.mint(t, s.ID, 5)
	refused(t, "an id that is taken", mint(func(x *hodl.Token) { x.ID = k.ID }), hodl.Conflict)
	refused(t, "no such session", mint(func(x *hodl.Token) { x.Session = "ses_none" }), hodl.NotFound)
	refused(t, "another's session", mint(func(x *hodl.Token) { x.User = w.member(t) }), hodl.NotFound)
	refused(t, "another mode", mint(func(x *hodl.Token) { x.Mode = hodl.Sandbox }), hodl.NotFound)
	refused(t, "no such workspace", mint(func(x *hodl.Token) { x.Workspace = "wks_none" }), hodl.NotFound)
	must(t, w.MoveSession(ctx, w.move(s.ID, hodl.OpArchive)))
	refused(t, "archived", mint(func(*hodl.Token) {}), hodl.InvalidTransition)
	refused(t, "revoke of no token", w.Revoke(ctx, w.ws, hodl.Live, w.user, "rt_none", "", w.record(hodl.KindRevoke, "", "rt_none"), detail), hodl.NotFound)
	equal(t, "records of refusals", w.checkLog(t, w.ws, hodl.Live), 1)
}

func testArchiveEndsTokens(t *testing.T, w *world) {
	ctx := t.Context()
	s := w.session(t, "word")
	k := w.mint(t, s.ID, 5)
	must(t, w.MoveSession(ctx, w.move(s.ID, hodl.OpArchive)))
	refused(t, "hydrate while archived", w.hydrate(ctx, w.Store, k), hodl.NotFound)
	must(t, w.MoveSession(ctx, w.move(s.ID, hodl.OpRestore)))
	refused(t, "hydrate once restored", w.hydrate(ctx, w.Store, k), hodl.TokenRevoked)
	got, err := w.Token(ctx, w.ws, hodl.Live, w.user, k.ID)
	must(t, err)
	equal(t, "reason", got.RevokeReason, "session archived")
	must(t, w.hydrate(ctx, w.Store, w.mint(t, s.ID, 1)))
}

func testHydrate(t *testing.T, w *world) {
	ctx := t.Context()
	s := w.session(t, "word")
	k := w.mint(t, s.ID, 2)
	must(t, w.hydrate(ctx, w.Store, k))
	after := w.mustSession(t, s.ID)
	equal(t, "state", after.State, hodl.HandedOff)
	equal(t, "title, which hydration does not touch", after.Title, s.Title)
	equal(t, "captured at", after.CapturedAt, s.CapturedAt)
	must(t, w.MoveSession(ctx, w.move(s.ID, hodl.OpResume)))
	must(t, w.hydrate(ctx, w.Store, k))
	equal(t, "state after a later hydration", w.mustSession(t, s.ID).State, hodl.Resumed)
	refused(t, "the third of two", w.hydrate(ctx, w.Store, k), hodl.HydrationsExhausted)
	used, err := w.Used(ctx, w.ws, hodl.Live, hodl.Month(w.Now()))
	must(t, err)
	equal(t, "used this month", used, 2)
	used, err = w.Used(ctx, w.ws, hodl.Sandbox, hodl.Month(w.Now()))
	must(t, err)
	equal(t, "used in the sandbox", used, 0)
	equal(t, "hydrations of the session", w.mustSession(t, s.ID).Hydrations, 2)
	got, err := w.Token(ctx, w.ws, hodl.Live, w.user, k.ID)
	must(t, err)
	equal(t, "hydrations of the token", got.Hydrations, 2)
}

// A hydration by an API key has no token to count against: the session counts it.
func testHydrateByKey(t *testing.T, w *world) {
	ctx := t.Context()
	s := w.session(t, "word")
	u := store.TokenUse{Workspace: w.ws, Mode: hodl.Live, Session: s.ID, At: w.Now()}
	hydrate := func() error {
		return w.Hydrate(ctx, u, func(a store.Admission) error {
			if a.Token != nil || a.Session == nil {
				return hodl.Errorf(hodl.Internal, "admitted on %+v", a)
			}
			return nil
		}, w.record(hodl.KindHydrate, s.ID, ""), detail)
	}
	must(t, hydrate())
	equal(t, "state", w.mustSession(t, s.ID).State, hodl.HandedOff)
	must(t, w.hydrate(ctx, w.Store, w.mint(t, s.ID, 1)))
	must(t, hydrate())
	equal(t, "hydrations of the session", w.mustSession(t, s.ID).Hydrations, 3)
	used, err := w.Used(ctx, w.ws, hodl.Live, hodl.Month(w.Now()))
	must(t, err)
	equal(t, "used this month", used, 3)
	equal(t, "records: three hydrations and a mint", w.checkLog(t, w.ws, hodl.Live), 4)
	u.Session = "ses_none"
	refused(t, "no such session", w.Hydrate(ctx, u, func(store.Admission) error { return nil }, w.record(hodl.KindHydrate, u.Session, ""), detail), hodl.NotFound)
}

func testHydrateRefusals(t *testing.T, w *world) {
	ctx := t.Context()
	s := w.session(t, "word")
	k := w.mint(t, s.ID, 2)
	hydrate := func(change func(*store.TokenUse), decide func(store.Admission) error) error {
		u := w.use(k)
		change(&u)
		return w.Hydrate(ctx, u, decide, w.record(hodl.KindHydrate, s.ID, k.ID), detail)
	}
	yes := func(store.Admission) error { return nil }
	refused(t, "no such token", hydrate(func(u *store.TokenUse) { u.Token = "rt_none" }, yes), hodl.NotFound)
	refused(t, "no such session", hydrate(func(u *store.TokenUse) { u.Session = "ses_none" }, yes), hodl.NotFound)
	refused(t, "no such workspace", hydrate(func(u *store.TokenUse) { u.Workspace = "wks_none" }, yes), hodl.NotFound)
	refused(t, "another mode", hydrate(func(u *store.TokenUse) { u.Mode = hodl.Sandbox }, yes), hodl.NotFound)
	no := func(store.Admission) error { return hodl.Errorf(hodl.AudienceMismatch, "not yours") }
	refused(t, "not admitted", hydrate(func(*store.TokenUse) {}, no), hodl.AudienceMismatch)
	equal(t, "records: the mint alone", w.checkLog(t, w.ws, hodl.Live), 1)
	equal(t, "session", *w.mustSession(t, s.ID), *s)
}

func testTypedWrite(t *testing.T, w *world) {
	ctx := t.Context()
	s := w.session(t, "word")
	k := w.mint(t, s.ID, 2)
	write := func(expect string) (store.SessionWrite, error) {
		x := w.version(t, s.ID, w.NewID("word"), expect, hodl.OpWrite)
		x.Token, x.Admit, x.Author = k.ID, admit, "agent:claude.anthropic.com"
		x.Record, x.Detail = w.record(hodl.KindWrite, s.ID, k.ID), detail
		return x, w.PutSession(ctx, x)
	}
	x, err := write(s.Fingerprint)
	must(t, err)
	after := w.mustSession(t, s.ID)
	equal(t, "version", after.Fingerprint, x.Fingerprint)
	equal(t, "state", after.State, hodl.Held)
	_, err = write(s.Fingerprint)
	refused(t, "stale", err, hodl.Stale)
	equal(t, "records: a mint and a write", w.checkLog(t, w.ws, hodl.Live), 2)

	// An admission alone, without a record, needs the log's head no less.
	quiet := w.version(t, s.ID, "quiet", x.Fingerprint, hodl.OpWrite)
	quiet.Token, quiet.Admit = k.ID, admit
	must(t, w.PutSession(ctx, quiet))

	must(t, w.Revoke(ctx, w.ws, hodl.Live, w.user, k.ID, "", w.record(hodl.KindRevoke, s.ID, k.ID), detail))
	_, err = write(quiet.Fingerprint)
	refused(t, "revoked", err, hodl.TokenRevoked)
	equal(t, "version after a refusal", w.mustSession(t, s.ID).Fingerprint, quiet.Fingerprint)
}

func testAdmission(t *testing.T, w *world) {
	ctx := t.Context()
	s := w.session(t, "word")
	k := w.mint(t, s.ID, 3)
	must(t, w.hydrate(ctx, w.Store, k))
	a, err := w.Admission(ctx, w.use(k))
	must(t, err)
	equal(t, "hydrations", a.Token.Hydrations, 1)
	equal(t, "state", a.Session.State, hodl.HandedOff)
	equal(t, "plan", a.Plan, hodl.Enterprise)
	equal(t, "used", a.Used, 1)
	none := w.use(k)
	none.Token, none.Session = "rt_none", "ses_none"
	a, err = w.Admission(ctx, none)
	must(t, err)
	if a.Token != nil || a.Session != nil {
		t.Errorf("admission of what is not there: %v, %v", a.Token, a.Session)
	}
}

// A read is recorded and takes nothing.
func testRead(t *testing.T, w *world) {
	ctx := t.Context()
	s := w.session(t, "word")
	k := w.mint(t, s.ID, 3)
	admit := func(store.Admission) error { return nil }
	must(t, w.Read(ctx, w.use(k), admit, w.record(hodl.KindContinue, s.ID, k.ID), detail))
	a, err := w.Admission(ctx, w.use(k))
	must(t, err)
	equal(t, "hydrations", a.Token.Hydrations, 0)
	equal(t, "used", a.Used, 0)
	equal(t, "state", a.Session.State, hodl.Held)
	before := w.checkLog(t, w.ws, hodl.Live)
	refusal := hodl.Errorf(hodl.TokenRevoked, "no")
	err = w.Read(ctx, w.use(k), func(a store.Admission) error {
		if a.Token == nil || a.Session == nil {
			t.Error("admit sees no rows")
		}
		return refusal
	}, w.record(hodl.KindContinue, s.ID, k.ID), detail)
	refused(t, "not admitted", err, hodl.TokenRevoked)
	equal(t, "records", w.checkLog(t, w.ws, hodl.Live), before)
}
