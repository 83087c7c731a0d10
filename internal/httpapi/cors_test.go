package httpapi_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// Who is calling, in world.keys.
const page = "the capture-only key of a page"

func (w *world) makePage() {
	w.makeKey(page, live, `{"name":"page","scopes":["capture"],"origins":["https://app.example.com","chrome-extension://abcdef"]}`)
}

// A page may ask before it sends, whoever it is; what it then sends is refused
// unless its key lists where it comes from, and only then may it read the answer.
func TestOrigins(t *testing.T) {
	w := newWorld(t)
	w.makePage()
	w.makeKey("whole", live, `{"name":"app","origins":["https://app.example.com"]}`)
	w.capture("ses_owned")
	token := w.token("ses_owned", "read:context")
	for _, tt := range []struct {
		as, method, path, body, origin string
		status                         int
		readable                       bool
	}{
		{page, "POST", "/v1/hodls", `{"title":"x"}`, "https://app.example.com", 201, true},
		{page, "POST", "/v1/hodls", `{"title":"x"}`, "chrome-extension://abcdef", 201, true},
		{page, "POST", "/v1/hodls", `{"title":"x"}`, "", 201, false},
		{page, "POST", "/v1/hodls", `{"title":"x"}`, "https://evil.example", 403, false},
		{page, "POST", "/v1/hodls", `{"title":"x"}`, "https://app.example.com.evil.example", 403, false},
		{page, "POST", "/v1/hodls", `{"title":"x"}`, "http://app.example.com", 403, false},
		{page, "POST", "/v1/hodls", `{"title":"x"}`, "null", 403, false},
		{page, "POST", "/v1/hodls", `{"title":1}`, "https://app.example.com", 422, true},
		{page, "GET", "/v1/hodls", "", "https://app.example.com", 403, true},
		{"whole", "GET", "/v1/sessions/ses_owned", "", "https://app.example.com", 200, true},
		{"whole", "GET", "/v1/sessions/ses_nowhere", "", "https://app.example.com", 404, true},
		{"whole", "GET", "/api/v1/me", "", "https://app.example.com", 200, true},
		{"whole", "GET", "/v1/me", "", "https://other.example.com", 403, false},
		{live, "GET", "/v1/me", "", "https://app.example.com", 403, false},
		{"garbage", "GET", "/v1/me", "", "https://app.example.com", 401, false},
		{nobody, "GET", "/v1/me", "", "https://app.example.com", 401, false},
		{token, "POST", "/v1/sessions/ses_owned/hydrate", "", "https://app.example.com", 200, false},
	} {
		a := w.call(tt.as, tt.method, tt.path, tt.body, "Origin", tt.origin)
		at := fmt.Sprintf("%s %s as %s from %q", tt.method, tt.path, tt.as, tt.origin)
		if a.status != tt.status {
			t.Errorf("%s: %s", at, a)
		}
		want := ""
		if tt.readable {
			want = tt.origin
		}
		if got := a.header.Get("Access-Control-Allow-Origin"); got != want {
			t.Errorf("%s: may be read from %q", at, got)
		}
		if (a.header.Get("Access-Control-Expose-Headers") != "") != tt.readable || a.header.Get("Vary") != "Origin" {
			t.Errorf("%s: headers %v", at, a.header)
		}
		if a.header.Get("Access-Control-Allow-Credentials") != "" || a.header.Get("Set-Cookie") != "" {
			t.Errorf("%s: cookies: %v", at, a.header)
		}
	}
}

func TestPreflight(t *testing.T) {
	w := newWorld(t)
	asks := []string{"Origin", "https://anywhere.example", "Access-Control-Request-Method", "PUT", "Access-Control-Request-Headers", "authorization"}
	for _, path := range []string{"/v1/hodls", "/api/v1/sessions/ses_a", "/v1/nowhere"} {
		a := w.call(nobody, "OPTIONS", path, "", asks...)
		if a.status != 200 || string(a.body) != "{}" || a.header.Get("Access-Control-Allow-Origin") != "*" || a.header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: %s %v", path, a, a.header)
		}
		for header, has := range map[string]string{"Access-Control-Allow-Methods": "PUT", "Access-Control-Allow-Headers": "Authorization", "Vary": "Origin"} {
			if got := a.header.Get(header); !strings.Contains(got, has) || strings.Contains(got, "*") {
				t.Errorf("%s: %s is %q", path, header, got)
			}
		}
	}
	w.run([]scenario{
		{name: "not asked by a browser", as: live, method: "OPTIONS", path: "/v1/hodls", status: 405, code: "method_not_allowed"},
		{name: "no path of the API", as: nobody, method: "OPTIONS", path: "/metrics", headers: asks, status: 405, code: "method_not_allowed"},
	})
}

// ids are what the server makes anew each time.
var made = regexp.MustCompile(`(hdl|ses|acr|req)_[0-9A-Z]{26}|[0-9a-f]{64}|\d{4}-\d\d-\d\dT[0-9:.]+Z`)

// Whoever reads a page has its key, so a capture-only key tells nothing of what is
// there: no route, body or header gets another answer for what exists, whosever it
// is, than for what never was.
func TestCaptureOnlyKeysAreNoOracle(t *testing.T) {
	w := newWorld(t)
	w.makePage()
	names := w.owned()
	other := w.ok(member, "PUT", "/v1/sessions/ses_theirs", `{"title":"theirs"}`)
	theirs := strings.NewReplacer("{ses}", "ses_theirs", "{fp}", other.text("fingerprint"), "{hdl}", w.ok(member, "POST", "/v1/hodls", `{"title":"t"}`).text("id"),
		"{jti}", "rt_theirs", "{acr}", "acr_theirs", "{key}", "key_theirs")
	absent := strings.NewReplacer("{ses}", "ses_nowhere", "{fp}", strings.Repeat("0", 64), "{hdl}", "hdl_nowhere", "{jti}", "rt_nowhere", "{acr}", "acr_nowhere", "{key}", "key_nowhere")
	probes := append([]route{
		{"POST", "/v1/hodls", `{"title":"x","session_id":"{ses}"}`},
		{"POST", "/v1/hodl", `{"title":"x","session_id":"{ses}"}`},
		{"POST", "/v1/hodls/batch", `{"hodls":[{"title":"x","session_id":"{ses}"},{"title":"y"}]}`},
		{"POST", "/v1/hodl", `{"tabs":[],"hodl_ids":["{hdl}"]}`},
		{"POST", "/v1/sessions", `{"session_id":"{ses}"}`},
		{"POST", "/v1/sessions", `{"hodl_ids":["{hdl}"]}`},
		{"POST", "/v1/sessions", `{"title":"canary","notes":[{"body":"canary note"}]}`},
	}, append(keyRoutes, tokenRoutes...)...)
	for _, r := range probes {
		for _, headers := range [][]string{nil, {"If-Match", `"{fp}"`}, {"Idempotency-Key", "{ses}"}} {
			var answers []string
			for _, of := range []*strings.Replacer{names, theirs, absent} {
				var sent []string
				for _, h := range headers {
					sent = append(sent, of.Replace(h))
				}
				a := w.call(page, r.method, of.Replace(r.path), of.Replace(r.body), sent...)
				answers = append(answers, fmt.Sprint(a.status, " ", made.ReplaceAllString(string(a.body), "…"), a.header.Get("ETag") != ""))
			}
			if answers[0] != answers[1] || answers[1] != answers[2] {
				t.Errorf("%s %s %s %v tells what is there:\n%s", r.method, r.path, r.body, headers, strings.Join(answers, "\n"))
			}
		}
	}
	if a := w.ok(live, "GET", "/v1/sessions/ses_owned/content", ""); !strings.Contains(string(a.body), "canary node") || strings.Contains(string(a.body), "page") {
		t.Errorf("the page changed what was there: %s", a)
	}
}

// A repeated key that a page sends is somebody else's: it makes a new thing.
func TestCaptureOnlyKeysMakeNewThings(t *testing.T) {
	w := newWorld(t)
	w.makePage()
	const body = `{"title":"t","notes":[{"body":"from the page"}],"reasoning_thread":[{"id":"n1","kind":"question","text":"why"}]}`
	first := w.ok(page, "POST", "/v1/sessions", body, "Idempotency-Key", "k")
	second := w.ok(page, "POST", "/v1/hodl", body, "Idempotency-Key", "k")
	if first.text("session_id") == second.text("session_id") {
		t.Error("the second capture is the first")
	}
	path := "/v1/sessions/" + first.text("session_id")
	if a := w.ok(live, "GET", path+"/content", ""); strings.Count(string(a.body), `"trust":"page"`) != 2 {
		t.Errorf("what a page says is trusted: %s", a)
	}
	// The person may take it over: what is rewritten is theirs, the rest stays the page's.
	w.ok(live, "PUT", path, strings.Replace(body, "why", "why not", 1))
	if a := w.ok(live, "GET", path+"/content", ""); strings.Count(string(a.body), `"trust":"page"`) != 1 || strings.Count(string(a.body), `"trust":"user"`) != 1 {
		t.Errorf("%s", a)
	}
	w.run([]scenario{
		{name: "a hodl", as: page, method: "POST", path: "/v1/hodl", body: `{"url":"https://example.com"}`, status: 200, has: []string{"hdl_"}},
		{name: "who it is", as: page, method: "GET", path: "/v1/me", status: 403, code: "insufficient_scope"},
		{name: "a session by a key for hodls", as: "hodls", method: "POST", path: "/v1/hodl", body: `{}`, status: 401, code: "invalid_key"},
	})
	w.makeKey("hodls", live, `{"name":"x","scopes":["hodls:write"]}`)
	w.run([]scenario{
		{name: "a hodl by a key for hodls", as: "hodls", method: "POST", path: "/v1/hodl", body: `{"url":"https://example.com"}`, status: 200},
		{name: "a session by a key for hodls", as: "hodls", method: "POST", path: "/v1/hodl", body: body, status: 403, code: "insufficient_scope", has: []string{"sessions:write"}},
	})
}
