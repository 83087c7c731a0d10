package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"hodl"
)

func TestUnknownPathsAndMethods(t *testing.T) {
	w := newWorld(t)
	w.run([]scenario{
		{name: "root", method: "GET", path: "/", status: 404, code: "not_found"},
		{name: "unknown", method: "GET", path: "/v1/nowhere", status: 404, code: "not_found", has: []string{"/docs"}},
		{name: "unknown under /api", method: "POST", path: "/api/v1/nowhere", body: "{}", status: 404, code: "not_found"},
		{name: "not our prefix", method: "GET", path: "/api/v11/me", status: 404, code: "not_found"},
		{name: "no version", method: "GET", path: "/api/me", status: 404, code: "not_found"},
		{name: "slash at the end", as: live, method: "GET", path: "/v1/me/", status: 404, code: "not_found"},
		{name: "two slashes", as: live, method: "GET", path: "//v1/me", status: 404, code: "not_found"},
		{name: "two slashes within", as: live, method: "GET", path: "/v1//me", status: 404, code: "not_found"},
		{name: "dots", as: live, method: "GET", path: "/v1/../v1/me", status: 404, code: "not_found"},
		{name: "dot", as: live, method: "GET", path: "/v1/./me", status: 404, code: "not_found"},
		{name: "dots, encoded", as: live, method: "GET", path: "/v1/sessions/%2e%2e", status: 404, code: "not_found"},
		{name: "slash, encoded", as: live, method: "GET", path: "/v1/sessions/a%2Fb", status: 404, code: "not_found"},
		{name: "slash, encoded, under /api", as: live, method: "GET", path: "/api/v1/sessions/a%2Fb", status: 404, code: "not_found", has: []string{"a/b"}},
		{name: "DELETE", as: live, method: "DELETE", path: "/v1/me", status: 405, code: "method_not_allowed", has: []string{"GET"}},
		{name: "GET", as: live, method: "GET", path: "/v1/hodl", status: 405, code: "method_not_allowed", has: []string{"use POST"}},
		{name: "OPTIONS", method: "OPTIONS", path: "/v1/sessions", status: 405, code: "method_not_allowed"},
		{name: "PATCH", method: "PATCH", path: "/healthz", body: "{}", status: 405, code: "method_not_allowed"},
		{name: "a method nobody knows", method: "BREW", path: "/v1/me", status: 405, code: "method_not_allowed"},
		{name: "GET telemetry", method: "GET", path: "/api/telemetry", status: 405, code: "method_not_allowed"},
	})
	if a := w.call(live, "DELETE", "/v1/hodl", ""); a.header.Get("Allow") != "POST" {
		t.Errorf("Allow is %q", a.header.Get("Allow"))
	}
	head := w.call(live, "HEAD", "/v1/me", "")
	if head.status != 200 || len(head.body) != 0 {
		t.Errorf("HEAD: %s", head)
	}
	if head = w.call(nobody, "HEAD", "/v1/me", ""); head.status != 401 || len(head.body) != 0 {
		t.Errorf("HEAD without credentials: %s", head)
	}
}

func TestBothPrefixesAnswerTheSame(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_same")
	for _, path := range []string{"/v1/sessions/ses_same", "/v1/sessions", "/v1/sessions/ses_same/content", "/v1/me", "/v1/sessions/ses_none"} {
		short, long := w.call(live, "GET", path, ""), w.call(live, "GET", "/api"+path, "")
		if short.String() != long.String() {
			t.Errorf("%s: %s, under /api %s", path, short, long)
		}
	}
}

func TestMediaTypes(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_media")
	token := w.token("ses_media", "read:context write:notes")
	kind := func(s string) []string { return []string{"Content-Type", s} }
	w.run([]scenario{
		{name: "text", as: live, method: "POST", path: "/v1/sessions", body: `{}`, headers: kind("text/plain"), status: 415, code: "unsupported_media_type", has: []string{"application/json"}},
		{name: "text, lenient", as: live, method: "POST", path: "/v1/hodl", body: `{}`, headers: kind("text/plain"), status: 415, code: "unsupported_media_type"},
		{name: "form", as: live, method: "POST", path: "/v1/hodls", body: `a=b`, headers: kind("application/x-www-form-urlencoded"), status: 415, code: "unsupported_media_type"},
		{name: "other charset", as: live, method: "POST", path: "/v1/hodls", body: `{}`, headers: kind("application/json; charset=latin1"), status: 415, code: "unsupported_media_type"},
		{name: "no type at all", as: live, method: "POST", path: "/v1/hodls", body: `{}`, headers: kind(";;;"), status: 415, code: "unsupported_media_type"},
		{name: "by a token", as: token, method: "POST", path: "/v1/sessions/ses_media/notes", body: `{"body":"x"}`, headers: kind("application/xml"), status: 415, code: "unsupported_media_type"},
		{name: "compressed", as: live, method: "POST", path: "/v1/hodls", body: `{"title":"x"}`, headers: []string{"Content-Encoding", "gzip"}, status: 415, code: "unsupported_media_type", has: []string{"Content-Encoding"}},
		{name: "as it is", as: live, method: "POST", path: "/v1/hodls", body: `{"title":"x"}`, headers: []string{"Content-Encoding", "identity"}, status: 201},
		{name: "credentials come first", as: nobody, method: "POST", path: "/v1/hodls", body: `{}`, headers: kind("text/plain"), status: 401, code: "missing_credentials"},
		{name: "charset", as: live, method: "POST", path: "/v1/hodls", body: `{"title":"x"}`, headers: kind("application/json;charset=UTF-8"), status: 201},
		{name: "case", as: live, method: "POST", path: "/v1/hodls", body: `{"title":"x"}`, headers: kind("Application/JSON"), status: 201},
		{name: "absent", as: live, method: "POST", path: "/v1/hodls", body: `{"title":"x"}`, headers: kind(""), status: 201},
		{name: "a type and no body", as: token, method: "POST", path: "/v1/sessions/ses_media/hydrate", headers: kind("text/plain"), status: 200},
		{name: "unacceptable", as: token, method: "POST", path: "/v1/sessions/ses_media/hydrate", headers: []string{"Accept", "image/png"}, status: 406, code: "not_acceptable"},
		{name: "unknown format", as: token, method: "POST", path: "/v1/sessions/ses_media/hydrate", headers: []string{"X-Unihodl-Format", "pdf"}, status: 406, code: "not_acceptable", has: []string{"prompt-ready"}},
		{name: "unknown format in the query", as: token, method: "POST", path: "/v1/sessions/ses_media/hydrate?format=pdf", status: 422, code: "validation_failed", has: []string{"prompt-ready"}},
	})
}

func TestBodiesThatAreNotJSON(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_json")
	token := w.token("ses_json", "write:notes")
	deep := strings.Repeat("[", 20_000)
	for _, at := range []struct {
		as string
		route
	}{
		{live, route{"POST", "/v1/hodl", ""}},
		{live, route{"POST", "/v1/hodls", ""}},
		{live, route{"POST", "/v1/sessions", ""}},
		{live, route{"POST", "/v1/resume_tokens", ""}},
		{token, route{"POST", "/v1/sessions/ses_json/notes", ""}},
	} {
		bad := func(name, body string) scenario {
			return scenario{name: at.path + ": " + name, as: at.as, method: at.method, path: at.path, body: body, status: 400, code: "malformed_json"}
		}
		w.run([]scenario{
			bad("not closed", `{"title":`), bad("a word", `title`), bad("two values", `{} {}`), bad("a comma", `{"title":"x",}`),
			bad("a name twice", `{"title":"x","title":"y"}`), bad("bytes that are no UTF-8", "{\"title\":\"\xff\xfe\"}"),
			bad("half a surrogate", `{"title":"\ud800"}`), bad("a raw NUL", "{\"title\":\"a\x00b\"}"),
			bad("deep", `{"title":`+deep), bad("deep in an unknown field", `{"zzz":`+deep+strings.Repeat("]", 20_000)+`}`),
			{name: at.path + ": an array", as: at.as, method: at.method, path: at.path, body: `[1]`, status: 422, code: "validation_failed", has: []string{"object"}},
			{name: at.path + ": a string", as: at.as, method: at.method, path: at.path, body: `"x"`, status: 422, code: "validation_failed", has: []string{"object"}},
			{name: at.path + ": nothing", as: at.as, method: at.method, path: at.path, status: 400, code: "bad_request", has: []string{"body"}},
			{name: at.path + ": spaces", as: at.as, method: at.method, path: at.path, body: "   ", status: 400, code: "malformed_json"},
		})
	}
}

func TestURLsThatAreNotText(t *testing.T) {
	w := newWorld(t)
	w.run([]scenario{
		{name: "NUL in the path", as: live, method: "GET", path: "/v1/hodls/%00", status: 400, code: "bad_request"},
		{name: "no UTF-8 in the path", as: live, method: "GET", path: "/v1/access_records/%ff", status: 400, code: "bad_request"},
		{name: "NUL in the query", as: live, method: "GET", path: "/v1/access_records?actor=%00", status: 400, code: "bad_request"},
		{name: "no UTF-8 in the query", as: live, method: "GET", path: "/v1/resume_tokens?session_id=%fe", status: 400, code: "bad_request"},
		{name: "half an escape", as: live, method: "GET", path: "/v1/hodls?limit=%4", status: 400, code: "bad_request"},
		{name: "a limit that is no number", as: live, method: "GET", path: "/v1/hodls?limit=ten", status: 422, code: "validation_failed", has: []string{`"limit"`}},
		{name: "an empty limit", as: live, method: "GET", path: "/v1/sessions?limit=", status: 422, code: "validation_failed", has: []string{`"limit"`}},
		{name: "an empty kind", as: live, method: "GET", path: "/v1/access_records?kind=", status: 422, code: "validation_failed", has: []string{`"kind"`}},
		{name: "an empty format", as: live, method: "POST", path: "/v1/hodls/import?format=", body: "{}", status: 422, code: "validation_failed", has: []string{`"format"`}},
		{name: "an empty q and cursor", as: live, method: "GET", path: "/v1/hodls?q=&cursor=&since=", status: 200},
		{name: "a since that is no time", as: live, method: "GET", path: "/v1/sessions?since=yesterday", status: 422, code: "validation_failed", has: []string{`"since"`, "RFC 3339"}},
		{name: "an until that is no time", as: live, method: "GET", path: "/v1/access_records?until=now", status: 422, code: "validation_failed", has: []string{`"until"`}},
		{name: "a kind that is none", as: live, method: "GET", path: "/v1/access_records?kind=theft", status: 422, code: "validation_failed", has: []string{`"kind"`}},
		{name: "a cursor that is none", as: live, method: "GET", path: "/v1/sessions?cursor=x", status: 422, code: "validation_failed", has: []string{`"cursor"`}},
		{name: "a cursor of another list", as: live, method: "GET", path: "/v1/sessions?cursor=aGRsXzE", status: 422, code: "validation_failed", has: []string{`"cursor"`}},
		{name: "a cursor of no UTF-8", as: live, method: "GET", path: "/v1/hodls?cursor=_w", status: 422, code: "validation_failed", has: []string{`"cursor"`}},
		{name: "a limit beyond the most", as: live, method: "GET", path: "/v1/hodls?limit=100000", status: 200},
		{name: "a limit below one", as: live, method: "GET", path: "/v1/hodls?limit=-5", status: 200},
	})
}

// Each refusal names the field at fault, missing ones too, and says what it must be.
func TestRefusalsNameTheField(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct{ method, path, body, field, message string }{
		{"POST", "/v1/api_keys", `{}`, "name", "is required"},
		{"POST", "/v1/sessions", `{"tabs":[{"url":"https://a.b"}]}`, "tabs[0].title", "is required"},
		{"POST", "/v1/sessions", `{"tabs":[{"url":"https://a.b","title":"x","scroll_y_pct":101}]}`, "tabs[0].scroll_y_pct", "must be at most 100"},
		{"POST", "/v1/sessions", `{"title":1}`, "title", "must be a string"},
		{"POST", "/v1/sessions", `{"state":"gone"}`, "state", "must be one of open, held"},
		{"POST", "/v1/sessions", `{"colour":1}`, "colour", "is not a field here; leave it out"},
		{"POST", "/v1/sessions", `[]`, "body", "must be an object"},
		{"GET", "/v1/hodls?limit=ten", "", "limit", "must be a whole number"},
		{"GET", "/v1/hodls/check", "", "url", "is required"},
	} {
		a := w.call(live, c.method, c.path, c.body)
		want := fmt.Sprintf(`"fields":[{"path":%q,"message":%q}]`, c.field, c.message)
		if a.status != 422 || !strings.Contains(string(a.body), want) {
			t.Errorf("%s %s: %s, want %s", c.path, c.body, a, want)
		}
	}
}

// The most a body may be is accepted; a byte more is not.
func TestBodySize(t *testing.T) {
	w := newWorld(t)
	exact := func(size int) string {
		const open, shut = `{"title":"x","unknown":"`, `"}`
		return open + strings.Repeat("a", size-len(open)-len(shut)) + shut
	}
	w.run([]scenario{
		{name: "as much as may be", as: live, method: "POST", path: "/v1/hodl", body: exact(hodl.MaxRequest), status: 200},
		{name: "a byte more", as: live, method: "POST", path: "/v1/hodl", body: exact(hodl.MaxRequest + 1), status: 413, code: "payload_too_large", has: []string{"2 MiB"}},
		{name: "a byte more, strict", as: live, method: "POST", path: "/v1/sessions", body: exact(hodl.MaxRequest + 1), status: 413, code: "payload_too_large"},
	})
}

// A refusal is small, however much was wrong.
func TestRefusalsAreBounded(t *testing.T) {
	w := newWorld(t)
	var fields strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&fields, `"field%d":1,`, i)
	}
	for _, body := range []string{
		`{` + fields.String() + `"title":1}`,
		`{"` + strings.Repeat("n", 1<<20) + `":1}`,
		`{"tabs":[` + strings.Repeat(`{},`, 5000) + `{}]}`,
		`{"media":[{"url":"https://a.b","kind":"` + strings.Repeat("k", 1<<20) + `"}]}`,
		`{"reasoning_thread":[{"id":"n","kind":"question","text":"?","supports":[` + strings.Repeat(`"x",`, 2000) + `"x"]}]}`,
		`{"reasoning_thread":[{"id":"` + strings.Repeat("i", 1<<20) + `","kind":"question","text":"?","supports":["` + strings.Repeat("s", 1<<19) + `"]}]}`,
	} {
		for _, path := range []string{"/v1/sessions", "/v1/hodl"} {
			if a := w.call(live, "POST", path, body); len(a.body) > 32<<10 {
				t.Errorf("%s: %d bytes of refusal: %.200s", path, len(a.body), a)
			}
		}
	}
}

// raw writes bytes on a connection, shuts its half when told to, and reads an
// answer.
func (w *world) raw(text string, shut bool) *answer {
	w.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	w.must(err)
	defer conn.Close()
	_, err = io.WriteString(conn, text)
	w.must(err)
	if shut {
		w.must(conn.(*net.TCPConn).CloseWrite())
	}
	r, err := http.ReadResponse(bufio.NewReader(conn), nil)
	w.must(err)
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	w.must(err)
	return &answer{r.StatusCode, r.Header, body}
}

func TestBodiesThatDoNotArrive(t *testing.T) {
	w := newWorld(t, setting{bodyTimeout: 50 * time.Millisecond})
	head := "POST /v1/hodls HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + w.keys[live] + "\r\nContent-Type: application/json\r\n"
	slow := w.raw(head+"Content-Length: 100\r\n\r\n{", false)
	if slow.status != 408 {
		t.Errorf("a body that is slow: %s", slow)
	}
	for name, a := range map[string]*answer{
		"slow":          slow,
		"cut off":       w.raw(head+"Content-Length: 100\r\n\r\n{", true),
		"broken chunks": w.raw(head+"Transfer-Encoding: chunked\r\n\r\nzz\r\n", true),
	} {
		if a.status < 400 || a.status > 499 || a.code() != "bad_request" {
			t.Errorf("%s: %s", name, a)
		}
		checkEnvelope(t, name, a)
	}
}

func TestNotReady(t *testing.T) {
	w := newWorld(t, setting{ready: func(context.Context) error { return fmt.Errorf("canary: stopping") }})
	w.run([]scenario{
		{name: "readyz", method: "GET", path: "/readyz", status: 503, code: "unavailable", hasNot: []string{"canary"}},
		{name: "healthz", method: "GET", path: "/healthz", status: 200, has: []string{`"ok"`}},
	})
}
