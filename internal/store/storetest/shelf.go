package storetest

import (
	"fmt"
	"testing"
	"time"

	"hodl"
	"hodl/internal/store"
)

// Each of many hodls has a verdict of its own.
func testPutHodls(t *testing.T, w *world) {
	ctx := t.Context()
	there := w.putHodl(t, w.newHodl(""))
	s := w.session(t, "before")
	next := w.version(t, s.ID, "after", s.Fingerprint, hodl.OpWrite)
	var list []store.HodlWrite
	for range 600 {
		list = append(list, store.HodlWrite{Workspace: w.ws, Mode: hodl.Live, User: w.user, Hodl: w.newHodl("")})
	}
	list[3].Hodl.ID = there.ID
	list[5].Hodl.ID = list[4].Hodl.ID
	list[7].Sessions, list[7].With = []*store.SessionWrite{&next}, []hodl.Hodl{w.newHodl(s.ID), w.newHodl(s.ID)}
	late := w.version(t, s.ID, "late", s.Fingerprint, hodl.OpWrite)
	list[8].Sessions, list[8].With = []*store.SessionWrite{&late}, []hodl.Hodl{w.newHodl(s.ID)}
	for i, err := range w.PutHodls(ctx, list) {
		want := map[int]hodl.Code{3: hodl.Conflict, 5: hodl.Conflict, 8: hodl.Stale}[i]
		if hodl.CodeOf(err) != want {
			t.Errorf("hodl %d: %v, want %q", i, err, want)
		}
	}
	equal(t, "rows", one[int](t, w, `select count(*) from hodls`), 1+600-3+2)
	equal(t, "version of the session", w.mustSession(t, s.ID).Fingerprint, next.Fingerprint)
	equal(t, "tags", w.tags(t, "", ""), []string{"one 600", "two 600"})
}

func (w *world) tags(t *testing.T, prefix, after string) (out []string) {
	t.Helper()
	list, err := w.Tags(t.Context(), w.ws, hodl.Live, w.user, prefix, after, 3)
	must(t, err)
	for _, x := range list {
		out = append(out, fmt.Sprint(x.Tag, " ", x.Hodls))
	}
	return out
}

func testTags(t *testing.T, w *world) {
	ctx := t.Context()
	put := func(tags ...string) hodl.Hodl {
		h := w.newHodl("")
		h.Tags = tags
		return w.putHodl(t, h)
	}
	first := put("go", "go", "Zebra", "été")
	put("go", "goat")
	put()
	equal(t, "tags", w.tags(t, "", ""), []string{"Zebra 1", "go 2", "goat 1"})
	equal(t, "the next page", w.tags(t, "", "goat"), []string{"été 1"})
	equal(t, "by prefix", w.tags(t, "go", ""), []string{"go 2", "goat 1"})
	equal(t, "by prefix, next page", w.tags(t, "go", "go"), []string{"goat 1"})
	equal(t, "a hostile prefix", w.tags(t, `%_'`, ""), nil)

	changed := first
	changed.Tags, changed.UpdatedAt = []string{"goat"}, w.Now()
	must(t, w.PutHodl(ctx, store.HodlWrite{Workspace: w.ws, Mode: hodl.Live, User: w.user, Hodl: changed, Expect: first.UpdatedAt}))
	equal(t, "after a change", w.tags(t, "", ""), []string{"go 1", "goat 2"})
	gone := w.deletion(changed)
	must(t, w.PutHodl(ctx, gone))
	equal(t, "after a deletion", w.tags(t, "", ""), []string{"go 1", "goat 1"})
	must(t, w.PutHodl(ctx, w.restoration(gone.Hodl)))
	equal(t, "after a restoration", w.tags(t, "", ""), []string{"go 1", "goat 2"})
}

// restoration is the write that takes a deletion back.
func (w *world) restoration(h hodl.Hodl) store.HodlWrite {
	x := store.HodlWrite{Workspace: w.ws, Mode: hodl.Live, User: w.user, Hodl: h, Expect: h.UpdatedAt, Restore: true}
	x.Hodl.DeletedAt, x.Hodl.UpdatedAt = time.Time{}, w.Now()
	return x
}

func testRestoreHodl(t *testing.T, w *world) {
	ctx := t.Context()
	h := w.putHodl(t, w.newHodl(""))
	refused(t, "restore what is not deleted", w.PutHodl(ctx, w.restoration(h)), hodl.NotFound)
	gone := w.deletion(h)
	must(t, w.PutHodl(ctx, gone))
	got, err := w.DeletedHodl(ctx, w.ws, hodl.Live, w.user, h.ID)
	must(t, err)
	equal(t, "the deleted", *got, gone.Hodl)
	back := w.restoration(*got)
	must(t, w.PutHodl(ctx, back))
	got, err = w.Hodl(ctx, w.ws, hodl.Live, w.user, h.ID)
	must(t, err)
	equal(t, "the restored", *got, back.Hodl)

	gone = w.deletion(*got)
	must(t, w.PutHodl(ctx, gone))
	w.clock.advance(hodl.Undoable)
	_, err = w.DeletedHodl(ctx, w.ws, hodl.Live, w.user, h.ID)
	refused(t, "deleted too long ago", err, hodl.NotFound)
	equal(t, "in the list of the deleted", len(w.hodlIDs(t, store.HodlFilter{Query: parse(t, "is:deleted"), Limit: 9})), 0)
	equal(t, "in a search of the deleted", len(w.hodlIDs(t, store.HodlFilter{Query: parse(t, "is:deleted clear"), Limit: 9})), 0)
}

func testPurgeHodls(t *testing.T, w *world) {
	ctx := t.Context()
	kept, young := w.putHodl(t, w.newHodl("")), w.putHodl(t, w.newHodl(""))
	var old []store.HodlWrite
	for range 450 {
		old = append(old, w.deletion(w.putHodl(t, w.newHodl(""))))
	}
	for _, err := range w.PutHodls(ctx, old) {
		must(t, err)
	}
	must(t, w.Chores(ctx))
	equal(t, "hodls before their time", one[int](t, w, `select count(*) from hodls`), 452)
	w.clock.advance(hodl.Undoable)
	must(t, w.PutHodl(ctx, w.deletion(young)))
	must(t, w.Chores(ctx))
	equal(t, "hodls after", one[int](t, w, `select count(*) from hodls`), 2)
	words := `select count(*) from hodl_words`
	if w.Engine() == "sqlite" {
		words = `select count(*) from hodl_words_docsize`
	}
	equal(t, "indexed after", one[int](t, w, words), 2)
	equal(t, "found after", w.hodlIDs(t, store.HodlFilter{Query: parse(t, "clear"), Limit: 9}), []hodl.HodlID{kept.ID})
}

// Hodls of a database from before there was an index are found after the chores.
func testIndexHodls(t *testing.T, w *world) {
	ctx := t.Context()
	old, changed, gone := w.putHodl(t, w.newHodl("")), w.putHodl(t, w.newHodl("")), w.deletion(w.putHodl(t, w.newHodl("")))
	must(t, w.PutHodl(ctx, gone))
	box := w.newHodl("")
	must(t, w.PutHodl(ctx, store.HodlWrite{Workspace: w.ws, Mode: hodl.Sandbox, User: w.user, Hodl: box}))
	empty := `x''`
	if w.Engine() == "postgres" {
		empty = `''`
	}
	exec(t, w.raw(t), `delete from hodl_words`)
	exec(t, w.raw(t), `delete from hodl_tags`)
	exec(t, w.raw(t), `update hodls set known = `+empty)
	if w.Engine() == "sqlite" {
		exec(t, w.raw(t), `update hodls set place = -place`) // as a restoration leaves them: anywhere
	}

	before := changed.UpdatedAt
	changed.UpdatedAt = w.Now()
	must(t, w.PutHodl(ctx, store.HodlWrite{Workspace: w.ws, Mode: hodl.Live, User: w.user, Hodl: changed, Expect: before}))
	for range 2 {
		must(t, w.Chores(ctx))
		equal(t, "found", w.hodlIDs(t, store.HodlFilter{Query: parse(t, "clear"), Limit: 9}), []hodl.HodlID{changed.ID, old.ID})
		equal(t, "deleted", w.hodlIDs(t, store.HodlFilter{Query: parse(t, "is:deleted clear"), Limit: 9}), []hodl.HodlID{gone.Hodl.ID})
		equal(t, "tags", w.tags(t, "", ""), []string{"one 2", "two 2"})
		got, err := w.Hodl(ctx, w.ws, hodl.Sandbox, w.user, box.ID)
		must(t, err)
		equal(t, "of the other mode", *got, box)
	}
	known, err := w.KnownHodls(ctx, w.ws, hodl.Live, w.user, old.URL, 9)
	must(t, err)
	equal(t, "known", len(known), 2)
}

func testKnownHodls(t *testing.T, w *world) {
	ctx := t.Context()
	kept := w.putHodl(t, w.newHodl(""))
	h := kept
	for url, want := range map[string]int{h.URL: 1, "http://www.example.com/a/?utm_source=x#top": 1, "https://example.com/b": 0, "": 0} {
		list, err := w.KnownHodls(ctx, w.ws, hodl.Live, w.user, url, 9)
		must(t, err)
		equal(t, url, len(list), want)
	}
	h.ID = ""
	titled, noted, thought := h, h, h
	titled.Title, noted.Note = "another", "another"
	thought.URL = ""
	there := func(what string, all []hodl.Hodl, want ...bool) {
		t.Helper()
		got, err := w.HodlsThere(ctx, w.ws, hodl.Live, w.user, all)
		must(t, err)
		equal(t, what, got, want)
	}
	there("the same", []hodl.Hodl{h, titled, noted, thought}, true, false, false, false)
	there("twice in one list", []hodl.Hodl{titled, titled, thought}, false, true, false)
	there("by id", []hodl.Hodl{kept, {ID: "hdl_none", Title: "x"}, {ID: "hdl_none", Title: "y"}}, true, false, true)
	anew := h
	anew.ID = "hdl_none"
	there("the same under another id", []hodl.Hodl{anew}, false)
	thought.ID = hodl.HodlID(w.NewID("hdl"))
	w.putHodl(t, thought)
	must(t, w.PutHodl(ctx, w.deletion(kept)))
	thought.ID = ""
	there("after one is deleted", []hodl.Hodl{h, thought, kept}, false, true, true)
}
