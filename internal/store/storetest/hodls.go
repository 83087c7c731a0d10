package storetest

import (
	"testing"

	"hodl"
	"hodl/internal/store"
)

func (w *world) newHodl(session hodl.SessionID) hodl.Hodl {
	now := w.Now()
	return hodl.Hodl{
		ID: hodl.HodlID(w.NewID("hdl")), URL: "https://example.com/a", Title: "clear title", Note: "clear note",
		Tags: []string{"one", "two"}, Source: "editor", SessionID: session, CreatedAt: now, UpdatedAt: now,
		Location: &hodl.Location{Repository: "r", File: "a.go", Line: 3, Selection: &hodl.Selection{StartLine: 3, EndLine: 4, Text: "func selected()"}},
	}
}

func (w *world) putHodl(t testing.TB, h hodl.Hodl) hodl.Hodl {
	t.Helper()
	must(t, w.PutHodl(t.Context(), store.HodlWrite{Workspace: w.ws, Mode: hodl.Live, User: w.user, Hodl: h}))
	return h
}

func testHodl(t *testing.T, w *world) {
	ctx := t.Context()
	h := w.putHodl(t, w.newHodl(""))
	got, err := w.Hodl(ctx, w.ws, hodl.Live, w.user, h.ID)
	must(t, err)
	equal(t, "hodl", *got, h)

	bare := hodl.Hodl{ID: hodl.HodlID(w.NewID("hdl")), Note: "only a note", Tags: []string{}, Source: "rest", CreatedAt: h.CreatedAt, UpdatedAt: h.UpdatedAt}
	w.putHodl(t, bare)
	got, err = w.Hodl(ctx, w.ws, hodl.Live, w.user, bare.ID)
	must(t, err)
	equal(t, "hodl without a place", *got, bare)

	changed := h
	changed.Title, changed.Tags, changed.UpdatedAt = "new title", []string{"three"}, w.Now()
	write := store.HodlWrite{Workspace: w.ws, Mode: hodl.Live, User: w.user, Hodl: changed, Expect: h.UpdatedAt}
	must(t, w.PutHodl(ctx, write))
	got, err = w.Hodl(ctx, w.ws, hodl.Live, w.user, h.ID)
	must(t, err)
	equal(t, "changed hodl", *got, changed)
	equal(t, "the caller's hodl after the write", changed.Location.Selection.Text, "func selected()")

	write.Expect, write.Hodl.DeletedAt, write.Hodl.UpdatedAt = changed.UpdatedAt, w.Now(), w.Now()
	must(t, w.PutHodl(ctx, write))
	_, err = w.Hodl(ctx, w.ws, hodl.Live, w.user, h.ID)
	refused(t, "deleted hodl", err, hodl.NotFound)
	equal(t, "rows kept of the deleted", one[int](t, w, `select count(*) from hodls where id = $1 and deleted_at > 0`, h.ID), 1)
}

// deletion is the write that deletes a hodl.
func (w *world) deletion(h hodl.Hodl) store.HodlWrite {
	x := store.HodlWrite{Workspace: w.ws, Mode: hodl.Live, User: w.user, Hodl: h, Expect: h.UpdatedAt}
	x.Hodl.DeletedAt = w.Now()
	x.Hodl.UpdatedAt = x.Hodl.DeletedAt
	return x
}

// hodlIDs lists the ids of the user's hodls that fit a filter.
func (w *world) hodlIDs(t *testing.T, f store.HodlFilter) (ids []hodl.HodlID) {
	t.Helper()
	f.Workspace, f.Mode, f.User = w.ws, hodl.Live, w.user
	list, err := w.Hodls(t.Context(), f)
	must(t, err)
	for _, h := range list {
		ids = append(ids, h.ID)
	}
	return ids
}

func testHodlPages(t *testing.T, w *world) {
	var all []hodl.Hodl
	for range 5 {
		all = append(all, w.putHodl(t, w.newHodl("")))
	}
	must(t, w.PutHodl(t.Context(), w.deletion(all[2])))
	var seen []hodl.HodlID
	for f := (store.HodlFilter{Limit: 2}); ; {
		page := w.hodlIDs(t, f)
		if len(page) == 0 {
			break
		}
		seen = append(seen, page...)
		f.Before = page[len(page)-1]
	}
	equal(t, "pages", seen, []hodl.HodlID{all[4].ID, all[3].ID, all[1].ID, all[0].ID})
	equal(t, "until", w.hodlIDs(t, store.HodlFilter{Limit: 9, Until: all[3].CreatedAt}), []hodl.HodlID{all[1].ID, all[0].ID})
	equal(t, "since", w.hodlIDs(t, store.HodlFilter{Limit: 9, Since: all[3].CreatedAt}), []hodl.HodlID{all[4].ID, all[3].ID})

	byID, err := w.HodlsByID(t.Context(), w.ws, hodl.Live, w.user, []hodl.HodlID{all[0].ID, all[2].ID, "hdl_none"})
	must(t, err)
	if len(byID) != 1 || byID[0].ID != all[0].ID {
		t.Errorf("by id: got %d hodls, want the first alone", len(byID))
	}
	none, err := w.HodlsByID(t.Context(), w.ws, hodl.Live, w.user, nil)
	must(t, err)
	equal(t, "by no id", len(none), 0)
	others, err := w.HodlsByID(t.Context(), w.ws, hodl.Live, w.member(t), []hodl.HodlID{all[0].ID})
	must(t, err)
	equal(t, "another's by id", len(others), 0)
}

func testSessionHodls(t *testing.T, w *world) {
	ctx := t.Context()
	s := w.session(t, "word")
	first, _, second := w.putHodl(t, w.newHodl(s.ID)), w.putHodl(t, w.newHodl("")), w.putHodl(t, w.newHodl(s.ID))
	list, err := w.SessionHodls(ctx, w.ws, hodl.Live, w.user, s.ID)
	must(t, err)
	if len(list) != 2 || list[0].ID != first.ID || list[1].ID != second.ID {
		t.Errorf("got %v, want the two of the session, oldest first", list)
	}
	must(t, w.DeleteSession(ctx, w.move(s.ID, "")))
	got, err := w.Hodl(ctx, w.ws, hodl.Live, w.user, first.ID)
	must(t, err)
	equal(t, "session of a hodl whose session was deleted", got.SessionID, "")
}

func testHodlRefusals(t *testing.T, w *world) {
	ctx := t.Context()
	h := w.putHodl(t, w.newHodl(""))
	other, stranger := w.workspace(t, "other", hodl.Scale)
	for name, c := range map[string]struct {
		ws   hodl.WorkspaceID
		mode hodl.Mode
		user hodl.UserID
	}{
		"another user": {w.ws, hodl.Live, w.member(t)}, "another workspace": {other, hodl.Live, stranger},
		"the same user elsewhere": {other, hodl.Live, w.user}, "another mode": {w.ws, hodl.Sandbox, w.user},
	} {
		_, err := w.Hodl(ctx, c.ws, c.mode, c.user, h.ID)
		refused(t, "get as "+name, err, hodl.NotFound)
		list, err := w.Hodls(ctx, store.HodlFilter{Workspace: c.ws, Mode: c.mode, User: c.user, Limit: 10})
		must(t, err)
		equal(t, "list as "+name, len(list), 0)
		err = w.PutHodl(ctx, store.HodlWrite{Workspace: c.ws, Mode: c.mode, User: c.user, Hodl: h, Expect: h.UpdatedAt})
		refused(t, "change as "+name, err, hodl.NotFound)
	}
	write := store.HodlWrite{Workspace: w.ws, Mode: hodl.Live, User: w.user, Hodl: h, Expect: w.Now()}
	refused(t, "change of a stale reading", w.PutHodl(ctx, write), hodl.Stale)
	must(t, w.PutHodl(ctx, w.deletion(h)))
	refused(t, "delete of the deleted", w.PutHodl(ctx, w.deletion(h)), hodl.NotFound)
	again := store.HodlWrite{Workspace: w.ws, Mode: hodl.Live, User: w.user, Hodl: h}
	refused(t, "the deleted as a new one", w.PutHodl(ctx, again), hodl.Conflict)
}

func testHodlWithSession(t *testing.T, w *world) {
	ctx := t.Context()
	s := w.session(t, "before")
	h := w.newHodl(s.ID)
	next := w.version(t, s.ID, "after", s.Fingerprint, hodl.OpUpdate)
	write := store.HodlWrite{Workspace: w.ws, Mode: hodl.Live, User: w.user, Hodl: h, Sessions: []*store.SessionWrite{&next}}
	must(t, w.PutHodl(ctx, write))
	equal(t, "version of the session", w.mustSession(t, s.ID).Fingerprint, next.Fingerprint)

	late := w.newHodl(s.ID)
	write.Hodl = late
	refused(t, "with a stale session", w.PutHodl(ctx, write), hodl.Stale)
	_, err := w.Hodl(ctx, w.ws, hodl.Live, w.user, late.ID)
	refused(t, "hodl whose session was stale", err, hodl.NotFound)
}
