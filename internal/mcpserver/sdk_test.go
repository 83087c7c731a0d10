package mcpserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"hodl"
	"hodl/internal/mcpserver"
	"hodl/internal/resume"
)

// What follows holds what the SDK leaves to its users or does otherwise than this
// product wants. Each test names one such thing.

func timeout(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), d)
}

// The SDK marks results as public; a shared cache would hand one caller's to another.
func TestResultsArePrivate(t *testing.T) {
	w := newWorld(t)
	for method, params := range map[string]string{
		"server/discover": "", "tools/list": "", "resources/list": "", "resources/templates/list": "", "prompts/list": "",
		"resources/read": `{"uri":"hodl://sessions/ses_1"}`,
	} {
		a := w.rpc(w.ada.key, method, params)
		var r struct {
			Scope string `json:"cacheScope"`
			TTL   int    `json:"ttlMs"`
		}
		w.must(json.Unmarshal(a.Result, &r))
		if r.Scope != "private" || strings.HasPrefix(method, "resources/") && !strings.Contains(method, "templates") && r.TTL != 0 {
			t.Errorf("%s: %s for %d ms", method, r.Scope, r.TTL)
		}
		if got := a.header.Get("Cache-Control"); !strings.Contains(got, "no-store") {
			t.Errorf("%s: Cache-Control: %s", method, got)
		}
	}
}

// The SDK subscribes without the request's extras, ends no stream with its
// credential, and tells every subscriber of a URI. Here who listens is known, a
// change is told to those alone who may read the session, under the URI they asked
// for, and the stream ends with the token.
func TestSubscription(t *testing.T) {
	w := newWorld(t)
	w.put(w.eve, "ses_1", "another workspace's session of the same id")
	bearer := w.mint(hodl.ReadContext, hodl.WriteNotes)
	mine, _ := w.listen(bearer.Signed, "hodl://sessions/ses_1")
	hers, _ := w.listen(w.eve.key, "hodl://sessions/ses_1")
	w.tool(bearer.Signed, "note", `{"body":"x"}`)
	if e := mine.next(t); !strings.Contains(e, "notifications/resources/updated") || !strings.Contains(e, `"uri":"hodl://sessions/ses_1"`) {
		t.Errorf("the subscriber is told %s", e)
	}
	w.put(w.eve, "ses_1", "changed")
	if e := hers.next(t); !strings.Contains(e, "notifications/resources/updated") {
		t.Errorf("the other subscriber is told %s", e)
	}
	if n := len(mine.events) + len(hers.events); n != 0 {
		t.Errorf("%d events too many", n)
	}
}

func TestStreamEndsWithItsToken(t *testing.T) {
	w := newWorld(t)
	bearer := w.mint(hodl.ReadContext)
	end := bearer.ExpiresAt.Add(hodl.ClockSkew).Add(-100 * time.Millisecond)
	w.micros.Store(end.UnixMicro())
	s, a := w.listen(bearer.Signed, "hodl://sessions/ses_1")
	if a != nil {
		t.Fatalf("a token that is still good: %s", a)
	}
	s.ends(t)
}

func TestStreamEndsWhenRevoked(t *testing.T) {
	w := newWorld(t)
	bearer := w.mint(hodl.ReadContext)
	s, _ := w.listen(bearer.Signed, "hodl://sessions/ses_1")
	_, err := w.resume.Revoke(t.Context(), resume.Caller{Principal: &w.ada.Principal}, bearer.ID, "")
	w.must(err)
	s.ends(t)
	other := w.keyOf(w.ada, "sessions:read")
	s, _ = w.listen(other.key, "hodl://sessions/ses_1")
	w.must(w.ChangeKey(t.Context(), w.ada.Workspace, other.Key, revoke(w.now())))
	w.micros.Add(2 * time.Second.Microseconds()) // as long as a key is remembered
	s.ends(t)
}

func TestStreamsEndWithTheServer(t *testing.T) {
	w := newWorld(t)
	s, _ := w.listen(w.ada.key, "hodl://sessions/ses_1")
	w.door.Close()
	s.ends(t)
}

// One credential has a bounded number of streams, and gets its place back.
func TestStreamsAreBounded(t *testing.T) {
	w := newWorld(t)
	var open []*stream
	for {
		s, a := w.listen(w.ada.key, "hodl://sessions/ses_1")
		if a != nil {
			if !bytes.Contains(a.raw, []byte("rate_limited")) {
				t.Errorf("one too many: %s", a)
			}
			break
		}
		if open = append(open, s); len(open) > 50 {
			t.Fatal("streams are not bounded")
		}
	}
	open[0].cancel()
	open[0].ends(t)
	for try := 0; ; try++ {
		if _, a := w.listen(w.ada.key, "hodl://sessions/ses_1"); a == nil {
			break
		}
		if try > 1000 {
			t.Fatal("the place is not given back")
		}
		runtime.Gosched()
	}
}

// In the older protocol the SDK accepts a subscription that never delivers. It is
// refused, and not offered.
func TestNoEmptySubscriptions(t *testing.T) {
	w := newWorld(t)
	a := w.do(w.request(t.Context(), legacy, w.ada.key, "resources/subscribe", `{"uri":"hodl://sessions/ses_1"}`))
	if a.code() != -32601 {
		t.Errorf("subscribe: %s", a)
	}
	a = w.do(w.request(t.Context(), legacy, w.ada.key, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}`))
	if a.status != 200 || bytes.Contains(a.raw, []byte(`"subscribe"`)) || bytes.Contains(a.raw, []byte(`"listChanged"`)) {
		t.Errorf("initialize: %s", a)
	}
	if a := w.rpc(w.ada.key, "server/discover", ""); !bytes.Contains(a.raw, []byte(`"subscribe":true`)) || bytes.Contains(a.raw, []byte(`"logging"`)) {
		t.Errorf("discover: %s", a)
	}
}

// A server's write timeout would cut streams; theirs is lifted, and only theirs.
func TestStreamsOutliveTimeouts(t *testing.T) {
	w := newWorld(t)
	const limit = 200 * time.Millisecond
	server := httptest.NewUnstartedServer(w.door)
	server.Config.ReadTimeout, server.Config.WriteTimeout = limit, limit
	server.Start()
	t.Cleanup(server.Close)
	w.url = server.URL
	s, _ := w.listen(w.ada.key, "hodl://sessions/ses_1")
	late := time.After(3 * limit)
	<-late
	w.put(w.ada, "ses_1", "changed after the timeout")
	if e := s.next(t); !strings.Contains(e, "updated") {
		t.Errorf("the stream says %s", e)
	}
	w.door.Close() // before the server waits for it
	s.ends(t)
}

// A refusal of a tool is text alone: with an SDK's typed tool it would carry a
// made-up result beside it.
func TestRefusalsAreTextAlone(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"resume", "list", "hodl", "note"} {
		a := w.rpc(w.ada.key, "tools/call", `{"name":"`+name+`","arguments":{"no_such":1}}`)
		if _, failed := a.text(); !failed || a.status != 200 || bytes.Contains(a.raw, []byte("structuredContent")) {
			t.Errorf("%s: %s", name, a)
		}
	}
	if a := w.rpc(w.ada.key, "tools/call", `{"name":"no_such","arguments":{}}`); a.code() != -32602 || a.status != 400 {
		t.Errorf("an unknown tool: %s", a)
	}
	if raw := string(w.rpc(w.ada.key, "tools/list", "").raw); strings.Contains(raw, `["null"`) || strings.Contains(raw, `"null"]`) {
		t.Error("a schema allows null")
	}
}

// What a session hands over stands in text alone; a small result is the same in both
// of its halves.
func TestBothHalvesAreTheSame(t *testing.T) {
	w := newWorld(t)
	a := w.rpc(w.ada.key, "tools/call", `{"name":"resume","arguments":{}}`)
	if bytes.Contains(a.raw, []byte("structuredContent")) {
		t.Errorf("resume: %s", a)
	}
	a = w.rpc(w.ada.key, "tools/call", `{"name":"list","arguments":{}}`)
	var r struct{ StructuredContent any }
	var text any
	said, _ := a.text()
	w.must(json.Unmarshal(a.Result, &r))
	w.must(json.Unmarshal([]byte(said), &text))
	one, _ := json.Marshal(r.StructuredContent)
	two, _ := json.Marshal(text)
	if !bytes.Equal(one, two) {
		t.Errorf("list: %s and %s", one, two)
	}
}

// Answers are streams of events: as one JSON value they would drop what is told on
// the way.
func TestAnswersAreStreams(t *testing.T) {
	w := newWorld(t)
	a := w.rpc(w.ada.key, "tools/list", "")
	if got := a.header.Get("Content-Type"); got != "text/event-stream" || a.header.Get("X-Accel-Buffering") != "no" {
		t.Errorf("Content-Type: %s, X-Accel-Buffering: %s", got, a.header.Get("X-Accel-Buffering"))
	}
}

// Pages of other origins and names that were pointed here are kept out: the SDK no
// longer looks at the origin by itself. A key lets in the pages it lists, and a
// proxy on the same machine may pass on the public name.
func TestOriginsAndHosts(t *testing.T) {
	w := newWorld(t)
	paged := w.keyOf(w.ada, "sessions:read")
	w.must(w.ChangeKey(t.Context(), w.ada.Workspace, paged.Key, withOrigin("https://app.example.com")))
	for name, c := range map[string]struct {
		key, origin, host string
		status            int
	}{
		"no page":                    {w.ada.key, "", "", 200},
		"a foreign page":             {w.ada.key, "https://evil.example", "", 403},
		"a page of the key's":        {paged.key, "https://app.example.com", "", 200},
		"another page with that key": {paged.key, "https://evil.example", "", 403},
		"a foreign name":             {w.ada.key, "", "evil.example", 403},
		"the public name":            {w.ada.key, "", "hodl.example.com", 200},
		"localhost":                  {w.ada.key, "", "localhost:8484", 200},
	} {
		r := w.request(t.Context(), modern, c.key, "tools/list", "")
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
			r.Header.Set("Sec-Fetch-Site", "cross-site")
		}
		if c.host != "" {
			r.Host = c.host
		}
		a := w.do(r)
		if a.status != c.status || c.status == 403 && a.refusal() != "forbidden" {
			t.Errorf("%s: %s", name, a)
		}
		if got := a.header.Get("Access-Control-Allow-Origin"); c.status == 200 && got != c.origin {
			t.Errorf("%s: Access-Control-Allow-Origin: %s", name, got)
		}
	}
}

// What the transport refuses in plain text comes in the envelope of every other
// refusal.
func TestTransportErrors(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		change func(*http.Request)
		status int
		code   string
	}{
		"GET":            {func(r *http.Request) { r.Method = "GET" }, 405, "method_not_allowed"},
		"DELETE":         {func(r *http.Request) { r.Method = "DELETE" }, 405, "method_not_allowed"},
		"XML":            {func(r *http.Request) { r.Header.Set("Content-Type", "text/xml") }, 415, "unsupported_media_type"},
		"accepts JSON":   {func(r *http.Request) { r.Header.Set("Accept", "application/json") }, 400, "bad_request"},
		"no JSON":        {func(r *http.Request) { body(r, "{") }, 400, "bad_request"},
		"a batch":        {func(r *http.Request) { body(r, `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`) }, 400, "bad_request"},
		"an old version": {func(r *http.Request) { r.Header.Set("Mcp-Protocol-Version", "1999-01-01") }, 400, "bad_request"},
	} {
		r := w.request(t.Context(), modern, w.ada.key, "tools/list", "")
		c.change(r)
		if a := w.do(r); a.status != c.status || a.refusal() != c.code || a.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %s", name, a)
		}
	}
}

func body(r *http.Request, s string) {
	r.Body, r.ContentLength, r.GetBody = http.NoBody, int64(len(s)), nil
	r.Body = readCloser{strings.NewReader(s)}
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }

// A message is bounded in size and depth.
func TestMessagesAreBounded(t *testing.T) {
	w := newWorld(t)
	large := w.request(t.Context(), modern, w.ada.key, "tools/call", `{"name":"hodl","arguments":{"note":"`+strings.Repeat("x", 2<<20)+`"}}`)
	if a := w.do(large); a.status != 413 || a.refusal() != "payload_too_large" {
		t.Errorf("2 MiB: %s", a)
	}
	deep := w.request(t.Context(), modern, w.ada.key, "tools/list", "")
	body(deep, strings.Repeat("[", 100_000))
	if a := w.do(deep); a.status != 400 {
		t.Errorf("100,000 deep: %s", a)
	}
}

// Nothing of a caller stays behind: each request stands alone.
func TestNothingStays(t *testing.T) {
	w := newWorld(t)
	w.rpc(w.ada.key, "tools/list", "")
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	for _, version := range []string{modern, legacy} {
		if a := w.do(w.request(t.Context(), version, w.ada.key, "tools/list", "")); a.header.Get("Mcp-Session-Id") != "" {
			t.Errorf("%s: a session was opened: %s", version, a.header.Get("Mcp-Session-Id"))
		}
	}
	door := mcpserver.New(mcpserver.Options{Store: w.Store, PublicURL: public})
	defer door.Close()
	before := runtime.NumGoroutine()
	for range 300 {
		w.rpc(w.ada.key, "tools/list", "")
	}
	for try := 0; runtime.NumGoroutine() > before+100; try++ { // others run tests beside this one
		if try > 1_000_000 {
			t.Fatalf("%d goroutines, before %d", runtime.NumGoroutine(), before)
		}
		runtime.Gosched()
	}
}

// The SDK's switches for what it did in the past vanish with its next release.
func TestNoCompatibilitySwitches(t *testing.T) {
	if v := os.Getenv("MCPGODEBUG"); v != "" {
		t.Errorf("MCPGODEBUG is %s", v)
	}
	for _, file := range []string{"../../go.mod", "../../Makefile", "../../cmd/hodl/main.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("MCPGODEBUG")) || bytes.Contains(text, []byte("mcpgodebug")) {
			t.Errorf("%s names a switch", file)
		}
	}
}

// A URI is read by this package, whichever of the templates the SDK thinks it fits:
// nothing that only resembles one of ours is one.
func TestURIs(t *testing.T) {
	w := newWorld(t)
	for _, uri := range []string{
		"hodl://sessions/ses_none", "hodl://sessions/", "hodl://sessions/ses_1/x", "hodl://sessions/ses_1#x", "hodl://sessions/..", "hodl://sessions/ses_1?x=1",
		"hodl://hodls/hdl_none", "hodl://hodls/ses_1?format=json", "hodl://nothing/ses_1", "unihodl://session/", "unihodl://sessions/ses_1", "file:///etc/passwd", "ses_1", "%", "hodl://sessions/%00",
		"hodl://a@sessions/ses_1",
	} {
		a := w.rpc(w.ada.key, "resources/read", string(must(json.Marshal(map[string]string{"uri": uri}))))
		var e struct{ Data struct{ URI string } }
		_ = json.Unmarshal(a.Error, &e)
		if a.code() != -32602 || a.status != 400 || e.Data.URI != uri {
			t.Errorf("%q: %s", uri, a)
		}
	}
	if a := w.rpc(w.ada.key, "resources/read", `{"uri":"hodl://sessions/ses_1-the-cache-bug?format=prompt-ready"}`); a.status != 200 || !bytes.Contains(a.raw, []byte("text/x-unihodl-prompt")) {
		t.Errorf("with a name and a format: %s", a)
	}
	if a := w.rpc(w.ada.key, "resources/read", `{"uri":"unihodl://session/ses_1"}`); !bytes.Contains(a.raw, []byte("application/vnd.unihodl.context+json")) {
		t.Errorf("by its published name: %s", a)
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}
