package query_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"hodl"
	"hodl/internal/query"
)

// write spells a query so that a test can compare it.
func write(q *query.Query) string {
	var all []string
	for _, c := range q.Clauses {
		var terms []string
		for _, t := range c {
			s := strings.Join(t.Words, "+")
			if t.Field != query.Any {
				s = []string{"", "url", "repo", "file", "text"}[t.Field] + ":" + s
			}
			if t.Not {
				s = "!" + s
			}
			terms = append(terms, s)
		}
		all = append(all, strings.Join(terms, "|"))
	}
	for name, t := range map[string]time.Time{"after": q.After, "before": q.Before} {
		if !t.IsZero() {
			all = append(all, name+"="+t.Format(time.RFC3339))
		}
	}
	if q.Deleted {
		all = append(all, "deleted")
	}
	return strings.Join(all, " ")
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "",
		"  \t ":                           "",
		"cache":                           "cache",
		"Cache BUG":                       "cache bug",
		`"cache bug" x`:                   "cache+bug x",
		"-cache":                          "!cache",
		`-"cache bug"`:                    "!cache+bug",
		"a or b":                          "a|b",
		"a OR b Or c d":                   "a|b|c d",
		"a -b or c":                       "a !b|c",
		`"or"`:                            "or",
		`a "or" b`:                        "a or b",
		"-or":                             "!or",
		"user_name":                       "user+name",
		"Zürich ÉCOLE":                    "zurich ecole",
		"ﬁn ｗｉｄｅ":                         "fin wide",
		"日本語":                             "日+本+語",
		"한국어":                             "한국어",
		"https://example.com/a?b=c":       "https+example+com+a+b+c",
		"TODO:fix":                        "todo+fix",
		"url:example.com":                 "url:example+com",
		`repo:"a/b" FILE:main.go`:         "repo:a+b file:main+go",
		"is:code or is:page":              "_icode|_ipage",
		"source:cli":                      "_fcli",
		"after:2026":                      "after=2026-01-01T00:00:00Z",
		"x before:2026-03-02":             "x before=2026-03-02T00:00:00Z",
		"after:2026-11-21T10:00:00+01:00": "after=2026-11-21T09:00:00Z",
		"is:deleted x":                    "x deleted",
		`a"b"`:                            "a b",
		"''); drop table hodls; --x":      "drop table hodls !x",
		"salt & pepper ++ ":               "salt pepper",
		"x y or z is:deleted":             "x y|z deleted",
	} {
		q, err := query.Parse(text)
		if err != nil || write(q) != want {
			t.Errorf("%q: %v, %v; want %s", text, q, err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`"open`:                   "character 1: a double quote",
		`a "open`:                 "character 3: a double quote",
		"or a":                    "character 1: or has nothing to its left",
		"a or":                    "character 3: or has nothing to its right",
		"a or !!":                 "character 3: or has nothing to its right",
		"a or or b":               "character 6: two or",
		"after:2026 or b":         "character 12: or has nothing to its left",
		"a or after:2026":         "character 6: after: narrows",
		"-after:2026":             "character 1: after: narrows",
		"-is:deleted":             "character 1: is: narrows",
		"after:tomorrow":          `"tomorrow" is no time`,
		"is:x":                    "is: is one of untagged",
		"source:fax":              "source: is one of editor",
		"tag:":                    "tag: has no value",
		"tag: x":                  "tag: has no value",
		`url:"--"`:                "no letter or digit",
		"!! ??":                   "character 4: there is no letter",
		"-":                       "no letter or digit",
		`""`:                      "no letter or digit",
		strings.Repeat("a ", 33):  "at most 32 terms",
		strings.Repeat("a", 1025): "1025 bytes",
	} {
		_, err := query.Parse(text)
		e, ok := errors.AsType[*hodl.Error](err)
		if !ok || e.Code != hodl.ValidationFailed || e.Fields[0].Path != "q" || e.Hint == "" || !strings.Contains(e.Fields[0].Message, want) {
			t.Errorf("%.40q: %v; want %s", text, err, want)
		}
	}
}

func TestTagKeys(t *testing.T) {
	if query.TagKey("Très Bon") != query.TagKey("tres bon") || query.TagKey("a") == query.TagKey("b") {
		t.Error("a tag's key does not follow its words")
	}
	a := query.OwnerKey("wks_1", hodl.Live, "usr_1")
	for _, b := range []string{query.OwnerKey("wks_2", hodl.Live, "usr_1"), query.OwnerKey("wks_1", hodl.Sandbox, "usr_1"), query.OwnerKey("wks_1", hodl.Live, "usr_2")} {
		if a == b {
			t.Error("two owners share a key")
		}
	}
}

func TestIndex(t *testing.T) {
	h := &hodl.Hodl{
		URL: "https://example.com/a", Title: "The Title", Tags: []string{"x y"}, Note: "a note", Source: "editor",
		Location: &hodl.Location{Repository: "github.com/a/b", File: "dir/main.go", Branch: "fix/it", Selection: &hodl.Selection{Text: "sealed"}},
	}
	d := query.Index(h)
	for i, want := range []string{"https example com a", "github com a b", "dir main go", "the title _ x y _ a note _ fix it"} {
		if got := strings.Join(d.Words[i], " "); got != want {
			t.Errorf("field %d is %q, want %q", i, got, want)
		}
	}
	if want := []string{"_feditor", "_icode", "_itagged", query.TagKey("x y")}; !slices.Equal(d.Keys, want) {
		t.Errorf("keys are %q, want %q", d.Keys, want)
	}
}

func TestIndexIsBounded(t *testing.T) {
	d := query.Index(&hodl.Hodl{Title: "a", Note: strings.Repeat("b ", 300) + strings.Repeat("x y ", 8000)})
	words := d.Words[query.Text-1]
	if len(words) != query.MaxWords {
		t.Errorf("%d words are indexed", len(words))
	}
	count := map[string]int{}
	for _, w := range words {
		count[w]++
	}
	if count["b"] != query.MaxRepeats || count["x"] != query.MaxRepeats || count["a"] != 1 {
		t.Errorf("b counts %d times, x %d, a %d", count["b"], count["x"], count["a"])
	}
	long := query.Words(strings.Repeat("é", 100) + " " + strings.Repeat("ж", 100))
	if len(long) != 2 || len(long[0]) != 64 || len(long[1]) != 64 {
		t.Errorf("long words are %q", long)
	}
}

// Whatever is typed is read or refused, and what is read holds nothing but words.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"a or b", `"x y" -z`, "tag:a after:2026", "日本 url:é", "''\" OR 1=1", "a\x00b", "is:deleted", "\xff\xfe", "col : a* NEAR(b c) ^d + e"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := query.Parse(text)
		if err != nil {
			if hodl.CodeOf(err) != hodl.ValidationFailed {
				t.Fatal(err)
			}
			return
		}
		for _, c := range q.Clauses {
			if len(c) == 0 {
				t.Fatal("an empty clause")
			}
			for _, x := range c {
				checkWords(t, x.Words)
			}
		}
	})
}

func checkWords(t *testing.T, words []string) {
	t.Helper()
	if len(words) == 0 {
		t.Fatal("a term without words")
	}
	for _, w := range words {
		if w == "" || w == query.Blank || len(w) > 64 || strings.ContainsAny(w, "'\"\\ \x00():*&|!<>^+-{}") {
			t.Fatalf("the word %q", w)
		}
		if again := query.Words(w); w[0] != '_' && !slices.Equal(again, []string{w}) {
			t.Fatalf("%q is cut again into %q", w, again)
		}
	}
}
