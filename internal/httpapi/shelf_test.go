package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// list returns the objects of a list in an answer.
func (a *answer) list(name string) []object {
	var out []object
	all, _ := a.object()[name].([]any)
	for _, x := range all {
		out = append(out, x.(object))
	}
	return out
}

// titles are those of the hodls a query finds, the newest first.
func (w *world) titles(query string) string {
	w.t.Helper()
	var out []string
	for _, h := range w.ok(live, "GET", "/v1/hodls?"+query, "").list("hodls") {
		title, _ := h["title"].(string)
		out = append(out, title)
	}
	return strings.Join(out, " ")
}

// tick lets a millisecond pass, after which ids sort behind those before.
func (w *world) tick() { w.clock.advance(time.Millisecond) }

// hodl captures a hodl and returns its id.
func (w *world) hodl(body string) string {
	w.t.Helper()
	defer w.tick()
	return w.ok(live, "POST", "/v1/hodls", body).text("id")
}

// Every good hodl of a batch is captured, every bad one is told what it would have
// been told by itself.
func TestBatch(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_a")
	items := []string{
		`{"title":"one"}`, `{"title":7}`, `{}`, `{"title":"two","colour":1}`, `{"url":"no address"}`, `"text"`, `null`,
		`{"title":"joins","session_id":"ses_a"}`, `{"title":"joins too","session_id":"ses_a"}`, `{"title":"lost","session_id":"ses_none"}`,
		`{"title":"last","tags":["x"],"source":"cli"}`,
	}
	a := w.ok(live, "POST", "/v1/hodls/batch", `{"hodls":[`+strings.Join(items, ",")+`]}`)
	want := []string{"201 one", "422 title", "422 url", "422 colour", "422 url", "422 body", "422 url", "201 joins", "201 joins too", "422 session_id", "201 last"}
	var got []string
	for _, r := range a.list("results") {
		what := fmt.Sprint(r["status"], " ")
		if h, ok := r["hodl"].(object); ok {
			what += h["title"].(string)
		}
		if e, ok := r["error"].(object); ok {
			what += e["fields"].([]any)[0].(object)["path"].(string)
		}
		got = append(got, what)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if n := len(w.ok(live, "GET", "/v1/sessions/ses_a/content", "").list("hodls")); n != 2 {
		t.Errorf("the session holds %d hodls", n)
	}
	if n := len(w.ok(live, "GET", "/v1/sessions/ses_a/versions", "").list("versions")); n != 2 {
		t.Errorf("the session has %d versions: those that join together make one", n)
	}
	many := func(n int) string {
		return `{"hodls":[` + strings.TrimSuffix(strings.Repeat(`{"title":"x"},`, n), ",") + `]}`
	}
	w.run([]scenario{
		{name: "most", as: live, method: "POST", path: "/v1/hodls/batch", body: many(1000), status: 200},
		{name: "one more", as: live, method: "POST", path: "/v1/hodls/batch", body: many(1001), status: 422, code: "validation_failed", has: []string{"hodls has 1001 entries; at most 1000"}},
		{name: "none", as: live, method: "POST", path: "/v1/hodls/batch", body: `{"hodls":[]}`, status: 422, code: "validation_failed", has: []string{"at least one"}},
		{name: "no list", as: live, method: "POST", path: "/v1/hodls/batch", body: `{"hodls":{}}`, status: 422, code: "validation_failed", has: []string{"hodls is an object; it must be an array"}},
		{name: "another field", as: live, method: "POST", path: "/v1/hodls/batch", body: `{"hodl":[]}`, status: 422, code: "validation_failed", has: []string{`"path":"hodl"`, "no field of this request"}},
		{name: "no JSON", as: live, method: "POST", path: "/v1/hodls/batch", body: `{"hodls":[`, status: 400, code: "malformed_json"},
	})
}

func TestSearch(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_a")
	w.hodl(`{"title":"alpha","note":"the cache bug","tags":["go"],"source":"cli"}`)
	w.hodl(`{"title":"beta","url":"https://example.com/x","tags":["Go","web"],"session_id":"ses_a"}`)
	w.hodl(`{"title":"gamma","location":{"file":"cmd/main.go","repository":"github.com/acme/x","selection":{"text":"secretword"}}}`)
	for query, want := range map[string]string{
		"":                               "gamma beta alpha",
		"q=":                             "gamma beta alpha",
		"q=cache+bug":                    "alpha",
		"q=-cache":                       "gamma beta",
		"q=alpha+or+gamma":               "gamma alpha",
		"q=tag:go":                       "beta alpha",
		"tag=GO":                         "beta alpha",
		"tag=go&q=cache":                 "alpha",
		"tag=go&source=rest":             "beta",
		"source=cli":                     "alpha",
		"session_id=ses_a":               "beta",
		"session_id=ses_a&q=example":     "beta",
		"session_id=ses_b":               "",
		"q=is:code":                      "gamma",
		"q=secretword":                   "",
		"q=file:main.go+repo:acme":       "gamma",
		"since=2026-11-21T00:00:00Z":     "gamma beta alpha",
		"until=2026-11-21T00:00:00Z":     "",
		"q=go+before:2026&limit=1":       "",
		"q=after:2026-11-21+example.com": "beta",
	} {
		if got := w.titles(query); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	for _, query := range []string{"", "q=-nothing", "tag=go"} {
		first := w.ok(live, "GET", "/v1/hodls?limit=1&"+query, "")
		if rest := w.titles(query + "&cursor=" + first.text("next_cursor")); !strings.HasSuffix(rest, "alpha") || strings.Contains(rest, first.list("hodls")[0]["title"].(string)) {
			t.Errorf("%s: the second page is %q", query, rest)
		}
	}
}

// Whatever is typed, it is a search or a 422 that names q and the place.
func TestHostileQueries(t *testing.T) {
	w := newWorld(t)
	w.hodl(`{"title":"alpha"}`)
	for _, q := range []string{
		`"open`, "or", "a or", "is:x", "after:x", "-is:deleted", "tag:", strings.Repeat("a ", 40), strings.Repeat("a", 1025), "!!", "a or after:2026",
	} {
		a := w.call(live, "GET", "/v1/hodls?q="+url.QueryEscape(q), "")
		if a.status != 422 || !strings.Contains(string(a.body), `"path":"q"`) {
			t.Errorf("%.30q: %s", q, a)
		}
	}
	for _, q := range []string{
		"NEAR(a b)", "a AND b", "col:a", "a*", "^a", "{url}:a", "a\\", "';--", "a & b | c", "!a", "a <-> b", "a:*", "(((((", "\"a\"\"b\"", "%", "_oabc", "title:x NOT y", "\u202e\u0000"[:3],
		strings.Repeat("-a ", 32), strings.Repeat("a or ", 30) + "b", "\U0001F600 x", strings.Repeat("漢", 300),
	} {
		if a := w.call(live, "GET", "/v1/hodls?q="+url.QueryEscape(q), ""); a.status != 200 && a.status != 422 {
			t.Errorf("%.30q: %s", q, a)
		}
	}
	w.run([]scenario{
		{name: "a source", as: live, method: "GET", path: "/v1/hodls?source=fax", status: 422, code: "validation_failed", has: []string{`"path":"source"`}},
		{name: "a time", as: live, method: "GET", path: "/v1/hodls?until=now", status: 422, code: "validation_failed", has: []string{`"path":"until"`}},
		{name: "a cursor", as: live, method: "GET", path: "/v1/hodls?q=a&cursor=%21", status: 422, code: "validation_failed", has: []string{`"path":"cursor"`}},
		{name: "somebody's place", as: live, method: "GET", path: "/v1/hodls?q=alpha&cursor=aGRsX25vbmU", status: 200},
	})
}

func TestTags(t *testing.T) {
	w := newWorld(t)
	w.hodl(`{"title":"a","tags":["go","web"]}`)
	w.hodl(`{"title":"b","tags":["go","goat"]}`)
	a := w.ok(live, "GET", "/v1/tags?limit=2", "")
	if got := fmt.Sprint(a.list("tags")); got != "[map[hodls:2 tag:go] map[hodls:1 tag:goat]]" {
		t.Errorf("the first page is %s", got)
	}
	a = w.ok(live, "GET", "/v1/tags?limit=2&cursor="+a.text("next_cursor"), "")
	if got := fmt.Sprint(a.list("tags"), a.object()["next_cursor"]); got != "[map[hodls:1 tag:web]] <nil>" {
		t.Errorf("the second page is %s", got)
	}
	if got := fmt.Sprint(w.ok(live, "GET", "/v1/tags?prefix=goa", "").list("tags")); got != "[map[hodls:1 tag:goat]]" {
		t.Errorf("by prefix: %s", got)
	}
}

func TestCheck(t *testing.T) {
	w := newWorld(t)
	id := w.hodl(`{"url":"https://www.Example.com/a/?utm_source=x#part"}`)
	w.run([]scenario{
		{name: "known", as: live, method: "GET", path: "/v1/hodls/check?url=http://example.com/a", status: 200, has: []string{`"known":true`, `"url":"example.com/a"`, id}},
		{name: "unknown", as: live, method: "GET", path: "/v1/hodls/check?url=http://example.com/b", status: 200, has: []string{`"known":false`, `"hodls":[]`}},
		{name: "no address", as: live, method: "GET", path: "/v1/hodls/check?url=example", status: 422, code: "validation_failed", has: []string{`"path":"url"`}},
		{name: "none", as: live, method: "GET", path: "/v1/hodls/check", status: 422, code: "validation_failed", has: []string{`"path":"url"`}},
	})
	w.ok(live, "DELETE", "/v1/hodls/"+id, "")
	w.run([]scenario{{name: "deleted", as: live, method: "GET", path: "/v1/hodls/check?url=http://example.com/a", status: 200, has: []string{`"known":false`}}})
}

// A deletion is undone for thirty days, whoever asks how often.
func TestRestore(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_a")
	id := w.hodl(`{"title":"x","tags":["t"],"session_id":"ses_a"}`)
	holds := func() int { return len(w.ok(live, "GET", "/v1/sessions/ses_a/content", "").list("hodls")) }
	path := "/v1/hodls/" + id
	w.ok(live, "DELETE", path, "")
	w.run([]scenario{
		{name: "deleted", as: live, method: "GET", path: path, status: 404, code: "not_found"},
		{name: "in the list of the deleted", as: live, method: "GET", path: "/v1/hodls?q=is:deleted", status: 200, has: []string{id, `"deleted_at"`}},
		{name: "another's", as: member, method: "POST", path: path + "/restore", status: 404, code: "not_found"},
	})
	if holds() != 0 {
		t.Error("the session holds the deleted hodl")
	}
	for range 2 {
		a := w.ok(live, "POST", path+"/restore", "")
		if a.text("title") != "x" || a.text("session_id") != "ses_a" || a.text("deleted_at") != "" || a.header.Get("ETag") == "" {
			t.Errorf("restored: %s", a)
		}
	}
	if holds() != 1 {
		t.Error("the session does not hold the restored hodl")
	}
	w.ok(live, "DELETE", path, "")
	w.ok(live, "DELETE", "/v1/sessions/ses_a", "")
	if a := w.ok(live, "POST", path+"/restore", ""); a.text("session_id") != "" {
		t.Errorf("it names a session that is gone: %s", a)
	}
	w.ok(live, "DELETE", path, "")
	w.clock.advance(31 * 24 * time.Hour)
	w.run([]scenario{
		{name: "too late", as: live, method: "POST", path: path + "/restore", status: 404, code: "not_found"},
		{name: "gone from the list", as: live, method: "GET", path: "/v1/hodls?q=is:deleted", status: 200, hasNot: []string{id}},
	})
}

func TestHodlIfMatch(t *testing.T) {
	w := newWorld(t)
	a := w.ok(live, "POST", "/v1/hodls", `{"title":"x"}`)
	path, first := "/v1/hodls/"+a.text("id"), a.header.Get("ETag")
	if got := w.ok(live, "GET", path, "").header.Get("ETag"); first == "" || got != first {
		t.Errorf("the ETag is %s, then %s", first, got)
	}
	a = w.ok(live, "PATCH", path, `{"title":"y"}`, "If-Match", first)
	second := a.header.Get("ETag")
	if second == first {
		t.Error("a change leaves the ETag")
	}
	w.run([]scenario{
		{name: "stale change", as: live, method: "PATCH", path: path, body: `{"title":"z"}`, headers: []string{"If-Match", first}, status: 412, code: "rejected_by_concurrency"},
		{name: "stale delete", as: live, method: "DELETE", path: path, headers: []string{"If-Match", first}, status: 412, code: "rejected_by_concurrency"},
		{name: "unchanged", as: live, method: "GET", path: path, status: 200, has: []string{`"title":"y"`}},
		{name: "any", as: live, method: "PATCH", path: path, body: `{"title":"z"}`, headers: []string{"If-Match", "*"}, status: 200},
	})
	third := w.ok(live, "GET", path, "").header.Get("ETag")
	w.run([]scenario{{name: "delete", as: live, method: "DELETE", path: path, headers: []string{"If-Match", third}, status: 200}})
}

func TestHodlResume(t *testing.T) {
	w := newWorld(t)
	code := "/v1/hodls/" + w.hodl(`{"location":{"repository":"github.com/acme/x.git","file":"cmd/main.go","line":3,"column":7}}`) + "/resume"
	page := "/v1/hodls/" + w.hodl(`{"url":"https://example.com/a#top","location":{"selection":{"text":"two-part words, really"}}}`) + "/resume"
	video := "/v1/hodls/" + w.hodl(`{"url":"https://www.youtube.com/watch?v=x","location":{"timestamp_s":61.5}}`) + "/resume"
	for _, c := range []struct{ path, body, want string }{
		{code, "", "vscode://hodl.hodl/open?"},
		{code, `{}`, "vscode://hodl.hodl/open?"},
		{code, `{"editor":"cursor"}`, "cursor://hodl.hodl/open?"},
		{code, `{"editor":"goland"}`, "jetbrains://goland/navigate/reference?path=cmd%2Fmain.go%3A3%3A7&project=x"},
		{code, `{"editor":"zed","root":"/home/me/my code"}`, "zed://file/home/me/my%20code/cmd/main.go:3:7"},
		{page, "", "https://example.com/a#top:~:text=two%2Dpart%20words%2C%20really"},
		{page, `{"editor":"zed"}`, "https://example.com/a#top:~:text="},
		{video, "", "https://www.youtube.com/watch?v=x&t=61s"},
	} {
		if a := w.ok(live, "POST", c.path, c.body); !strings.HasPrefix(a.text("deep_link"), c.want) {
			t.Errorf("%s: %s, want %s", c.body, a.text("deep_link"), c.want)
		}
	}
	w.run([]scenario{
		{name: "no such editor", as: live, method: "POST", path: code, body: `{"editor":"ed"}`, status: 422, code: "validation_failed", has: []string{"editor"}},
		{name: "no folder", as: live, method: "POST", path: code, body: `{"editor":"zed"}`, status: 422, code: "validation_failed", has: []string{`"path":"root"`}},
		{name: "no hodl", as: live, method: "POST", path: "/v1/hodls/hdl_none/resume", status: 404, code: "not_found"},
	})
}

// What is exported is imported as it was, and only once.
func TestExportImport(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_a")
	w.hodl(`{"title":"a","note":"line\nline","tags":["x","y"],"source":"cli"}`)
	w.hodl(`{"title":"a","note":"line\nline","tags":["x","y"],"source":"cli"}`)
	w.hodl(`{"location":{"repository":"r","file":"f.go","line":3,"selection":{"start_line":3,"end_line":4,"text":"sealed"}}}`)
	w.hodl(`{"url":"https://example.com","session_id":"ses_a"}`)
	w.ok(live, "DELETE", "/v1/hodls/"+w.hodl(`{"title":"gone"}`), "")
	for range 250 {
		w.hodl(`{"title":"more"}`)
	}
	file := w.ok(live, "GET", "/v1/hodls/export", "")
	if kind := file.header.Get("Content-Type"); kind != "application/x-ndjson" {
		t.Errorf("an export is %s", kind)
	}
	if n := strings.Count(string(file.body), "\n"); n != 254 || strings.Contains(string(file.body), "gone") {
		t.Errorf("%d lines were exported", n)
	}
	for _, want := range []string{`{"imported":254,"skipped":0,"failed":0,"errors":[]}`, `{"imported":0,"skipped":254,"failed":0,"errors":[]}`} {
		a := w.ok(stranger, "POST", "/v1/hodls/import", string(file.body), "Content-Type", "application/x-ndjson")
		if string(a.body) != want {
			t.Errorf("imported: %s, want %s", a, want)
		}
	}
	again := w.ok(stranger, "GET", "/v1/hodls/export", "")
	without := strings.Replace(string(file.body), `,"session_id":"ses_a"`, "", 1) // it is not the stranger's
	if diff := cmp.Diff(without, string(again.body)); diff != "" {
		t.Errorf("the round trip changes: %s", diff)
	}
	if a := w.ok(live, "POST", "/v1/hodls/import", string(file.body)); !strings.Contains(string(a.body), `"skipped":254`) {
		t.Errorf("into where it came from: %s", a)
	}
}

func TestImportTellsWhatFails(t *testing.T) {
	w := newWorld(t)
	lines := []string{
		`{"title":"good"}`, ``, `{"title":7}`, `not JSON`, `{}`, `{"title":"x","colour":1}`, `{"title":"x","id":"hdl_mine"}`,
		`{"title":"x","created_at":"1960-01-01T00:00:00Z"}`, `{"title":"x","created_at":"2999-01-01T00:00:00Z"}`,
		`{"title":"old","created_at":"2001-02-03T04:05:06.789Z","tags":["t"]}`, `{"title":"good"}`, `{"title":"` + strings.Repeat("x", 2<<20) + `"}`, `{"title":"end"}`,
	}
	a := w.ok(live, "POST", "/v1/hodls/import", strings.Join(lines, "\n"), "Content-Type", "application/x-ndjson; charset=utf-8")
	var report struct {
		Imported, Skipped, Failed int
		Errors                    []struct {
			Line    int
			Message string
		}
	}
	w.must(json.Unmarshal(a.body, &report))
	var at []int
	for _, e := range report.Errors {
		at = append(at, e.Line)
	}
	if diff := cmp.Diff([]int{3, 4, 5, 6, 7, 8, 9, 12}, at); diff != "" || report.Imported != 3 || report.Skipped != 1 || report.Failed != 8 {
		t.Errorf("%.2000s\n%s", a, diff)
	}
	if got := w.titles("q=before:2002"); got != "old" {
		t.Errorf("of old there is %q", got)
	}
	many := w.ok(live, "POST", "/v1/hodls/import", strings.Repeat("{}\n", 300))
	if n := len(many.list("errors")); n != 50 || !strings.Contains(string(many.body), `"failed":300`) {
		t.Errorf("%d errors are told: %.200s", n, many)
	}
	w.run([]scenario{
		{name: "another type", as: live, method: "POST", path: "/v1/hodls/import", body: "x", headers: []string{"Content-Type", "text/csv"}, status: 415, code: "unsupported_media_type"},
		{name: "another format", as: live, method: "POST", path: "/v1/hodls/import?format=csv", body: "x", status: 422, code: "validation_failed", has: []string{`"path":"format"`}},
		{name: "nothing", as: live, method: "POST", path: "/v1/hodls/import", status: 200, has: []string{`"imported":0`}},
	})
}

func TestImportBookmarks(t *testing.T) {
	w := newWorld(t)
	const file = `<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><p>
		<DT><H3>Work</H3><DL><p>
			<DT><A HREF="https://go.dev/" ADD_DATE="1700000000" TAGS="lang">Go</A><DD>a note
			<DT><A HREF="no address">Bad</A>
			<DT><A HREF="https://go.dev" ADD_DATE="1700000000">Go</A>
		</DL><DT><A HREF="https://example.com">Example</A></DL>`
	for _, headers := range [][]string{{"Content-Type", "text/html"}, {"Content-Type", "text/html; charset=UTF-8"}} {
		a := w.ok(live, "POST", "/v1/hodls/import", file, headers...)
		if n := fmt.Sprint(a.object()["imported"], a.object()["skipped"], a.object()["failed"]); n != "3 0 1" && n != "0 3 1" {
			t.Errorf("%s", a)
		}
	}
	a := w.ok(live, "GET", "/v1/hodls?q=tag:work+tag:lang", "").list("hodls")
	if len(a) != 1 || a[0]["created_at"] != "2023-11-14T22:13:20Z" || a[0]["note"] != "a note" || a[0]["source"] != "browser" {
		t.Errorf("the bookmark is %v", a)
	}
	if got := w.ok(live, "POST", "/v1/hodls/import?format=netscape", file, "Content-Type", "text/html"); !strings.Contains(string(got.body), `"skipped":3`) {
		t.Errorf("a third time: %s", got)
	}
}
