package storetest

import (
	"strings"
	"testing"

	"hodl"
	"hodl/internal/query"
	"hodl/internal/store"
)

// The hodls that the table of searches speaks of, by a name of one letter.
func library(w *world) map[string]hodl.Hodl {
	all := map[string]hodl.Hodl{
		"a": {URL: "https://go.dev/blog/Cache-Aside?x=1", Title: "The cache bug", Tags: []string{"Go", "to read"}, Source: "browser"},
		"b": {Title: "Zürich notes", Note: "the bug in the cache, said the École", Tags: []string{}, Source: "cli"},
		"c": {
			Title: "main loop", Tags: []string{"go"}, Source: "editor",
			Location: &hodl.Location{Repository: "github.com/acme/hodl", File: "cmd/main.go", Line: 3, Branch: "fix/cache_bug", Selection: &hodl.Selection{Text: "sealedword"}},
		},
		"d": {Note: "日本語のノート 한국어 ﬁn", Tags: []string{"très bon"}, Source: "rest"},
		"e": {URL: "https://example.com/x", Title: "don't", Note: strings.Repeat("many ", 300) + "needle in the hay", Tags: []string{"go", "x"}, Source: "rest"},
		"f": {Note: strings.Repeat("filler word ", query.MaxWords) + "unreachable", Tags: []string{}, Source: "rest"},
	}
	for name, h := range all {
		h.ID, h.CreatedAt = hodl.HodlID(w.NewID("hdl")), w.Now()
		h.UpdatedAt = h.CreatedAt
		all[name] = h
	}
	return all
}

// What each query finds, on every engine.
func testSearch(t *testing.T, w *world) {
	names := map[hodl.HodlID]string{}
	for name, h := range library(w) {
		names[w.putHodl(t, h).ID] = name
	}
	gone := w.newHodl("")
	gone.Title = "cache of the deleted"
	w.putHodl(t, gone)
	must(t, w.PutHodl(t.Context(), w.deletion(gone)))
	names[gone.ID] = "gone"
	for text, want := range map[string]string{
		"cache":                         "abc",
		"CACHE bug":                     "abc",
		`"cache bug"`:                   "ac",
		`"bug the cache"`:               "",
		`"bug in the cache"`:            "b",
		"cache -bug":                    "",
		"cache -loop":                   "ab",
		`-"cache bug"`:                  "bdef",
		"-go":                           "bdf",
		"zurich":                        "b",
		"ZÜRICH":                        "b",
		"ecole":                         "b",
		"zurich or needle":              "be",
		"zurich or needle -hay":         "b",
		"-cache or zurich":              "bdef",
		"bug zurich or loop":            "bc",
		"日本":                            "d",
		"本日":                            "",
		"한국어":                           "d",
		"fin":                           "d",
		"dont":                          "",
		"don't":                         "e",
		"sealedword":                    "",
		"cache_bug":                     "ac",
		"https://go.dev/blog/":          "a",
		"tag:go":                        "ace",
		"tag:GO":                        "ace",
		`tag:"to read"`:                 "a",
		"tag:to":                        "",
		"tag:tres":                      "",
		`tag:"tres bon"`:                "d",
		"-tag:go":                       "bdf",
		"read":                          "a",
		`"read browser"`:                "",
		"is:untagged":                   "bf",
		"is:tagged":                     "acde",
		"is:code":                       "c",
		"is:page":                       "ae",
		"is:note":                       "bdf",
		"is:page or is:code":            "ace",
		"source:editor or source:cli":   "bc",
		"-source:rest":                  "abc",
		"repo:acme/hodl":                "c",
		"repo:main":                     "",
		"file:main.go":                  "c",
		"file:main":                     "c",
		"url:go.dev":                    "a",
		"url:cache":                     "a",
		"url:bug":                       "",
		`"com x the"`:                   "", // no phrase crosses from part to part
		`"x don t"`:                     "",
		"main":                          "c",
		"needle hay":                    "e",
		"unreachable":                   "",
		"filler":                        "f",
		`"filler word filler"`:          "f",
		"nothing of that":               "",
		"is:deleted":                    "gone",
		"is:deleted cache":              "gone",
		"is:deleted bug":                "",
		"cache after:2030":              "",
		"cache before:2030":             "abc",
		"after:2026-11-21":              "abcdef",
		"cache before:2026-11-21":       "",
		"a.b*c^d:e(f)":                  "",
		"NEAR(cache bug)":               "",
		"url : cache":                   "",
		"cache AND bug":                 "",
		`cache' | 'x`:                   "a",
		`"cache & bug"`:                 "ac",
		"bug:*":                         "abc",
		"title:bug or text:zurich":      "",
		"\"cache\u0301\"":               "abc",
		"is:untagged -is:note or cache": "b",
	} {
		q, err := query.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var got []string
		for _, id := range w.hodlIDs(t, store.HodlFilter{Query: *q, Limit: 50}) {
			got = append(got, names[id])
		}
		if !sameSet(got, want) {
			t.Errorf("%s: finds %v, want %s", text, got, want)
		}
	}
}

// sameSet compares names with want, whose letters are names unless it is one itself.
func sameSet(got []string, want string) bool {
	if want == "gone" {
		return len(got) == 1 && got[0] == want
	}
	for _, name := range got {
		if !strings.Contains(want, name) {
			return false
		}
	}
	return len(got) == len(want)
}

func parse(t *testing.T, text string) query.Query {
	t.Helper()
	q, err := query.Parse(text)
	must(t, err)
	return *q
}

// A search goes on where it stopped, and sees what has changed.
func testSearchPages(t *testing.T, w *world) {
	s := w.session(t, "word")
	var all []hodl.HodlID
	var last hodl.Hodl
	for i := range 7 {
		h := w.newHodl("")
		if i%3 == 0 {
			h.SessionID = s.ID
		}
		last = w.putHodl(t, h)
		all = append([]hodl.HodlID{h.ID}, all...)
	}
	f := store.HodlFilter{Query: parse(t, "clear title tag:one"), Limit: 3}
	var seen []hodl.HodlID
	for page := w.hodlIDs(t, f); len(page) > 0; page = w.hodlIDs(t, f) {
		seen = append(seen, page...)
		f.Before = page[len(page)-1]
	}
	equal(t, "pages", seen, all)
	f = store.HodlFilter{Query: parse(t, "clear"), Limit: 9, Session: s.ID}
	equal(t, "of a session", w.hodlIDs(t, f), []hodl.HodlID{all[0], all[3], all[6]})
	equal(t, "of a session, any words", w.hodlIDs(t, store.HodlFilter{Limit: 9, Session: s.ID}), []hodl.HodlID{all[0], all[3], all[6]})
	f = store.HodlFilter{Query: parse(t, "clear"), Limit: 9, Since: last.CreatedAt}
	equal(t, "since", w.hodlIDs(t, f), all[:1])
	f = store.HodlFilter{Query: parse(t, "clear"), Limit: 9, Until: last.CreatedAt}
	equal(t, "until", w.hodlIDs(t, f), all[1:])

	changed := last
	changed.Title, changed.UpdatedAt = "quite another", w.Now()
	must(t, w.PutHodl(t.Context(), store.HodlWrite{Workspace: w.ws, Mode: hodl.Live, User: w.user, Hodl: changed, Expect: last.UpdatedAt}))
	equal(t, "the new words", w.hodlIDs(t, store.HodlFilter{Query: parse(t, "quite"), Limit: 9}), all[:1])
	equal(t, "the old words", w.hodlIDs(t, store.HodlFilter{Query: parse(t, `"clear title"`), Limit: 9}), all[1:])
	must(t, w.DeleteSession(t.Context(), w.move(s.ID, "")))
	equal(t, "after the session is deleted", len(w.hodlIDs(t, store.HodlFilter{Query: parse(t, "clear"), Limit: 9, Session: s.ID})), 0)
	equal(t, "all of them", len(w.hodlIDs(t, store.HodlFilter{Query: parse(t, "https"), Limit: 9})), 7)
}

// What is rare is found behind a thousand newer ones, and what is frequent among them.
func testSearchDeep(t *testing.T, w *world) {
	names := map[hodl.HodlID]string{}
	for name, h := range library(w) {
		names[w.putHodl(t, h).ID] = name
	}
	var list []store.HodlWrite
	for range 1100 {
		h := w.newHodl("")
		h.Tags = []string{"new"}
		list = append(list, store.HodlWrite{Workspace: w.ws, Mode: hodl.Live, User: w.user, Hodl: h})
	}
	for _, err := range w.PutHodls(t.Context(), list) {
		must(t, err)
	}
	for text, want := range map[string]string{"needle": "e", "-tag:new": "abcdef", `"cache bug"`: "ac", "tag:go -file:main": "ae", "nowhere": "", "zurich before:2026": ""} {
		var got []string
		for _, id := range w.hodlIDs(t, store.HodlFilter{Query: parse(t, text), Limit: 50}) {
			got = append(got, names[id])
		}
		if !sameSet(got, want) {
			t.Errorf("%s: finds %v, want %s", text, got, want)
		}
	}
	f := store.HodlFilter{Query: parse(t, "tag:new or needle"), Limit: 700}
	first := w.hodlIDs(t, f)
	f.Before = first[len(first)-1]
	equal(t, "over the edge", len(first)+len(w.hodlIDs(t, f)), 1101)
}

func testSearchOthers(t *testing.T, w *world) {
	ctx := t.Context()
	w.putHodl(t, w.newHodl(""))
	other, stranger := w.workspace(t, "other", hodl.Scale)
	for name, f := range map[string]store.HodlFilter{
		"another user":      {Workspace: w.ws, Mode: hodl.Live, User: w.member(t)},
		"another workspace": {Workspace: other, Mode: hodl.Live, User: stranger},
		"the user, there":   {Workspace: other, Mode: hodl.Live, User: w.user},
		"another mode":      {Workspace: w.ws, Mode: hodl.Sandbox, User: w.user},
	} {
		for _, text := range []string{"", "clear", "-nothing", "tag:one", "source:editor", "clear or " + query.OwnerKey(w.ws, hodl.Live, w.user)} {
			f.Query, f.Limit = parse(t, text), 9
			list, err := w.Hodls(ctx, f)
			must(t, err)
			if len(list) != 0 {
				t.Errorf("%s finds %d by %q", name, len(list), text)
			}
		}
		tags, err := w.Tags(ctx, f.Workspace, f.Mode, f.User, "", "", 9)
		must(t, err)
		equal(t, "tags of "+name, len(tags), 0)
		known, err := w.KnownHodls(ctx, f.Workspace, f.Mode, f.User, "https://example.com/a", 9)
		must(t, err)
		equal(t, "known to "+name, len(known), 0)
	}
}
