package storetest

import (
	"testing"

	"hodl"
	"hodl/internal/store"
)

func testSession(t *testing.T, w *world) {
	ctx := t.Context()
	put := w.version(t, w.sessionID(), "first", "", hodl.OpCapture)
	must(t, w.PutSession(ctx, put))
	want := hodl.Session{
		ID: put.ID, Workspace: w.ws, Mode: hodl.Live, User: w.user, Title: "title first", Summary: "summary first", Tags: []string{"tag first"},
		State: hodl.Held, Fingerprint: put.Fingerprint, CapturedAt: put.At, CreatedAt: put.At, UpdatedAt: put.At,
	}
	equal(t, "session", *w.mustSession(t, put.ID), want)
	got, err := w.Version(ctx, w.ws, hodl.Live, put.ID, put.Fingerprint)
	must(t, err)
	equal(t, "content", *got, put.Body)

	same := put
	same.Expect, same.At = put.Fingerprint, w.Now()
	must(t, w.PutSession(ctx, same))
	equal(t, "session after the same capture again", *w.mustSession(t, put.ID), want)

	next := w.version(t, put.ID, "second", put.Fingerprint, hodl.OpCapture)
	must(t, w.PutSession(ctx, next))
	after := *w.mustSession(t, put.ID)
	equal(t, "title of the second version", after.Title, "title second")
	equal(t, "captured at", after.CapturedAt, next.At)
	equal(t, "created at", after.CreatedAt, put.At)

	back := put
	back.Expect, back.At, back.Body.LastNote, back.Body.Numbers = next.Fingerprint, w.Now(), 3, map[string][]uint64{"EMAIL": {1 << 63, 0}}
	must(t, w.PutSession(ctx, back))
	got, err = w.Version(ctx, w.ws, hodl.Live, put.ID, put.Fingerprint)
	must(t, err)
	equal(t, "what the session has come to know, with an old version", *got, back.Body)
	next.Expect, next.At = put.Fingerprint, w.Now()
	must(t, w.PutSession(ctx, next))

	standing, err := w.SessionStanding(ctx, w.ws, hodl.Live, put.ID)
	must(t, err)
	equal(t, "standing", *standing, store.SessionState{User: w.user, State: hodl.Held, Fingerprint: next.Fingerprint, CapturedAt: next.At})
	standing, err = w.SessionStanding(ctx, w.ws, hodl.Live, "ses_none")
	must(t, err)
	if standing != nil {
		t.Errorf("standing of no session: %v", standing)
	}
}

func (w *world) sessionIDs(t *testing.T, p store.Page) (ids []hodl.SessionID, last *hodl.Session) {
	t.Helper()
	list, err := w.Sessions(t.Context(), w.ws, hodl.Live, w.user, p)
	must(t, err)
	for _, s := range list {
		ids, last = append(ids, s.ID), s
	}
	return ids, last
}

func testSessionPages(t *testing.T, w *world) {
	var all []*hodl.Session
	for range 5 {
		all = append(all, w.session(t, "word"))
	}
	again := w.version(t, all[1].ID, "again", all[1].Fingerprint, hodl.OpCapture) // now the last captured
	must(t, w.PutSession(t.Context(), again))
	var seen []hodl.SessionID
	for p := (store.Page{Limit: 2}); ; {
		page, last := w.sessionIDs(t, p)
		if len(page) == 0 {
			break
		}
		seen = append(seen, page...)
		p.BeforeTime, p.BeforeID = last.CapturedAt, string(last.ID)
	}
	equal(t, "pages", seen, []hodl.SessionID{all[1].ID, all[4].ID, all[3].ID, all[2].ID, all[0].ID})
	since, _ := w.sessionIDs(t, store.Page{Limit: 9, Since: all[4].CapturedAt})
	equal(t, "since", since, []hodl.SessionID{all[1].ID, all[4].ID})
}

func testSessionRefusals(t *testing.T, w *world) {
	ctx := t.Context()
	s := w.session(t, "word")
	put := func(change func(*store.SessionWrite)) error {
		x := w.version(t, s.ID, "next", s.Fingerprint, hodl.OpCapture)
		change(&x)
		return w.PutSession(ctx, x)
	}
	refused(t, "stale", put(func(x *store.SessionWrite) { x.Expect = "0000" }), hodl.Stale)
	refused(t, "new, but it is there", put(func(x *store.SessionWrite) { x.Expect = "" }), hodl.Stale)
	refused(t, "another's id", put(func(x *store.SessionWrite) { x.User, x.Expect = w.member(t), "" }), hodl.Conflict)
	refused(t, "made from what is not there", put(func(x *store.SessionWrite) { x.ID = "ses_none" }), hodl.Stale)
	equal(t, "session after refusals", *w.mustSession(t, s.ID), *s)

	must(t, put(func(x *store.SessionWrite) { x.Mode, x.Expect = hodl.Sandbox, "" }))
	other, stranger := w.workspace(t, "other", hodl.Scale)
	must(t, put(func(x *store.SessionWrite) { x.Workspace, x.User, x.Expect = other, stranger, "" }))
	equal(t, "session beside its namesakes", *w.mustSession(t, s.ID), *s)

	must(t, w.MoveSession(ctx, w.move(s.ID, hodl.OpArchive)))
	refused(t, "archived", put(func(*store.SessionWrite) {}), hodl.InvalidTransition)
}

func testVersions(t *testing.T, w *world) {
	ctx := t.Context()
	id := w.sessionID()
	one := w.version(t, id, "one", "", hodl.OpCapture)
	two := w.version(t, id, "two", one.Fingerprint, hodl.OpCapture)
	back := w.version(t, id, "one", two.Fingerprint, hodl.OpCapture)
	for _, x := range []store.SessionWrite{one, two, back} {
		must(t, w.PutSession(ctx, x))
	}
	got, err := w.Versions(ctx, w.ws, hodl.Live, id, store.Page{Limit: 9})
	must(t, err)
	author := string(w.user)
	want := []hodl.Version{
		{Fingerprint: two.Fingerprint, CapturedAt: two.At, Author: author},
		{Fingerprint: one.Fingerprint, CapturedAt: one.At, Author: author, Current: true},
	}
	equal(t, "versions, after a return to the first", got, want)
	got, err = w.Versions(ctx, w.ws, hodl.Live, id, store.Page{Limit: 1, BeforeTime: two.At, BeforeID: two.Fingerprint})
	must(t, err)
	equal(t, "second page", got, want[1:])
	equal(t, "captured at", w.mustSession(t, id).CapturedAt, back.At)
	listed, err := w.ListedVersion(ctx, w.ws, hodl.Live, id, one.Fingerprint)
	must(t, err)
	equal(t, "one version", listed, want[1])
	_, err = w.ListedVersion(ctx, w.ws, hodl.Sandbox, id, one.Fingerprint)
	refused(t, "listed in another mode", err, hodl.NotFound)
	_, err = w.Version(ctx, w.ws, hodl.Live, id, "0000")
	refused(t, "no such version", err, hodl.NotFound)
	_, err = w.Version(ctx, w.ws, hodl.Sandbox, id, one.Fingerprint)
	refused(t, "version in another mode", err, hodl.NotFound)
	other, _ := w.workspace(t, "other", hodl.Scale)
	_, err = w.Version(ctx, other, hodl.Live, id, one.Fingerprint)
	refused(t, "version in another workspace", err, hodl.NotFound)
	_, err = w.ListedVersion(ctx, other, hodl.Live, id, one.Fingerprint)
	refused(t, "listed in another workspace", err, hodl.NotFound)
}

func testNotYours(t *testing.T, w *world) {
	ctx := t.Context()
	s := w.session(t, "word")
	k := w.mint(t, s.ID, 5)
	rec, err := w.Records(ctx, w.ws, hodl.Live, store.RecordFilter{User: w.user, Page: store.Page{Limit: 1}})
	must(t, err)
	other, stranger := w.workspace(t, "other", hodl.Scale)
	for name, c := range map[string]struct {
		ws   hodl.WorkspaceID
		mode hodl.Mode
		user hodl.UserID
	}{
		"another user": {w.ws, hodl.Live, w.member(t)}, "another workspace": {other, hodl.Live, stranger},
		"the same user elsewhere": {other, hodl.Live, w.user}, "another mode": {w.ws, hodl.Sandbox, w.user},
	} {
		move := store.Transition{Workspace: c.ws, Mode: c.mode, User: c.user, ID: s.ID, Op: hodl.OpResume, At: w.Now()}
		_, got := w.Session(ctx, c.ws, c.mode, c.user, s.ID)
		refused(t, "session as "+name, got, hodl.NotFound)
		_, never := w.Session(ctx, c.ws, c.mode, c.user, "ses_never")
		equal(t, "a session that never was, as "+name, len(never.Error())-len("ses_never"), len(got.Error())-len(s.ID))
		refused(t, "move as "+name, w.MoveSession(ctx, move), hodl.NotFound)
		refused(t, "delete as "+name, w.DeleteSession(ctx, move), hodl.NotFound)
		_, err := w.Token(ctx, c.ws, c.mode, c.user, k.ID)
		refused(t, "token as "+name, err, hodl.NotFound)
		refused(t, "revoke as "+name, w.Revoke(ctx, c.ws, c.mode, c.user, k.ID, "mine", w.record(hodl.KindRevoke, s.ID, k.ID), detail), hodl.NotFound)
		_, err = w.Record(ctx, c.ws, c.mode, c.user, rec[0].ID)
		refused(t, "record as "+name, err, hodl.NotFound)
		sessions, err := w.Sessions(ctx, c.ws, c.mode, c.user, store.Page{Limit: 9})
		must(t, err)
		tokens, err := w.Tokens(ctx, c.ws, c.mode, c.user, s.ID, store.Page{Limit: 9})
		must(t, err)
		records, err := w.Records(ctx, c.ws, c.mode, store.RecordFilter{User: c.user, Page: store.Page{Limit: 9}})
		must(t, err)
		equal(t, "lists as "+name, len(sessions)+len(tokens)+len(records), 0)
	}
	equal(t, "session after all that", w.mustSession(t, s.ID).State, hodl.Held)
}

func testDeleteSession(t *testing.T, w *world) {
	ctx := t.Context()
	s := w.session(t, "word")
	k := w.mint(t, s.ID, 5)
	move := w.move(s.ID, "")
	move.Record = w.record(hodl.KindRevoke, s.ID, "")
	must(t, w.DeleteSession(ctx, move))
	_, err := w.Session(ctx, w.ws, hodl.Live, w.user, s.ID)
	refused(t, "deleted session", err, hodl.NotFound)
	_, err = w.Version(ctx, w.ws, hodl.Live, s.ID, s.Fingerprint)
	refused(t, "its content", err, hodl.NotFound)
	equal(t, "rows left", one[int](t, w, `select (select count(*) from sessions) + (select count(*) from session_versions)`), 0)
	refused(t, "delete again", w.DeleteSession(ctx, w.move(s.ID, "")), hodl.NotFound)
	got, err := w.Token(ctx, w.ws, hodl.Live, w.user, k.ID)
	must(t, err)
	equal(t, "why its token ended", got.RevokeReason, "session deleted")
	equal(t, "records that stay", w.checkLog(t, w.ws, hodl.Live), 2)
}

func testCaptureAgain(t *testing.T, w *world) {
	ctx := t.Context()
	s := w.session(t, "word")
	k := w.mint(t, s.ID, 5)
	must(t, w.hydrate(ctx, w.Store, k))
	must(t, w.DeleteSession(ctx, w.move(s.ID, "")))
	refused(t, "hydrate after delete", w.hydrate(ctx, w.Store, k), hodl.NotFound)
	must(t, w.PutSession(ctx, w.version(t, s.ID, "word", "", hodl.OpCapture)))
	refused(t, "an old token on the new session", w.hydrate(ctx, w.Store, k), hodl.TokenRevoked)
	equal(t, "hydrations of the new session", w.mustSession(t, s.ID).Hydrations, 0)
	must(t, w.hydrate(ctx, w.Store, w.mint(t, s.ID, 1)))
	equal(t, "hydrations after its own", w.mustSession(t, s.ID).Hydrations, 1)

	must(t, w.DeleteSession(ctx, w.move(s.ID, "")))
	theirs := w.version(t, s.ID, "theirs", "", hodl.OpCapture)
	theirs.User = w.member(t)
	must(t, w.PutSession(ctx, theirs))
	_, err := w.Session(ctx, w.ws, hodl.Live, w.user, s.ID)
	refused(t, "the id, now another's", err, hodl.NotFound)
}
