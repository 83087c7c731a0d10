package httpapi_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"hodl"
)

// rate is what an answer tells of a bound.
func rate(a *answer) string {
	return a.header.Get("RateLimit-Policy") + " " + a.header.Get("RateLimit")
}

// A workspace may send its plan's burst at once and its rate after that, whoever of
// it sends; mints and hydrations each have as much again, and so has the sandbox.
func TestRates(t *testing.T) {
	w := newWorld(t, setting{plan: hodl.Developer})
	w.capture("ses_rates")
	for left := 38; left >= 0; left-- {
		who := []string{live, member}[left%2]
		if got, want := rate(w.ok(who, "GET", "/v1/hodls", "")), fmt.Sprintf(`"default";q=40;w=4 "default";r=%d;t=1`, left); got != want {
			t.Fatalf("the bound is told as %s, want %s", got, want)
		}
	}
	refused := w.call(live, "POST", "/v1/hodls", `{"title":"too fast"}`)
	if refused.code() != "rate_limited" || refused.header.Get("Retry-After") != "1" || rate(refused) != `"default";q=40;w=4 "default";r=0;t=1` {
		t.Errorf("one too many: %v %s", refused.header, refused)
	}
	if a := w.call(member, "GET", "/v1/me", ""); a.code() != "rate_limited" {
		t.Errorf("a colleague: %s", a)
	}
	var token string
	for left := 39; left >= 0; left-- {
		a := w.mint("ses_rates", "read:context", `"max_hydrations":1000`)
		if got, want := rate(a), fmt.Sprintf(`"mints";q=40;w=4 "mints";r=%d;t=1`, left); got != want {
			t.Fatalf("a mint tells %s, want %s", got, want)
		}
		if token = a.text("token"); w.hydrate(token, "ses_rates").status != 200 {
			t.Fatal("a hydration for each mint is refused")
		}
	}
	if a := w.call(live, "POST", "/v1/resume_tokens", `{}`); a.code() != "rate_limited" || !strings.HasPrefix(rate(a), `"mints"`) {
		t.Errorf("a mint too many: %s %s", rate(a), a)
	}
	if a := w.hydrate(token, "ses_rates"); a.code() != "rate_limited" || rate(a) != `"hydrations";q=40;w=4 "hydrations";r=0;t=1` {
		t.Errorf("a hydration too many: %s %s", rate(a), a)
	}
	w.ok(sandbox, "GET", "/v1/hodls", "")
	w.ok(stranger, "GET", "/v1/hodls", "")
	w.clock.advance(100 * time.Millisecond)
	if list := w.ok(live, "GET", "/v1/hodls", ""); each(list.object()["hodls"], "title") != "" {
		t.Errorf("what was refused left %s", list)
	}
	if a := w.hydrate(token, "ses_rates"); a.status != 200 {
		t.Errorf("a hydration after a while: %s", a)
	}
}

// Enterprise is not bounded and tells of no bound; its sandbox goes as Developer.
func TestRatesOfEnterprise(t *testing.T) {
	w := newWorld(t)
	for range 60 {
		if got := rate(w.ok(live, "GET", "/v1/me", "")); got != " " {
			t.Fatalf("a bound is told: %s", got)
		}
	}
	for range 40 {
		w.ok(sandbox, "GET", "/v1/me", "")
	}
	if a := w.call(sandbox, "GET", "/v1/me", ""); a.code() != "rate_limited" {
		t.Errorf("the 41st of the sandbox: %s", a)
	}
}

// A refusal for rate is told on every answer of a key, refusals included, and those
// without a good key tell nothing.
func TestRatesAreToldOnRefusals(t *testing.T) {
	w := newWorld(t, setting{plan: hodl.Startup})
	w.keys["reader"] = w.key(w.ws, w.user, hodl.Live, "sessions:read")
	for name, a := range map[string]*answer{
		"not there":  w.call(live, "GET", "/v1/hodls/hdl_never", ""),
		"not valid":  w.call(live, "POST", "/v1/sessions", `{"colour":1}`),
		"no scope":   w.call("reader", "GET", "/v1/hodls", ""),
		"wrong type": w.call(live, "POST", "/v1/hodls", "x", "Content-Type", "text/plain"),
	} {
		if !strings.HasPrefix(rate(a), `"default";q=400;w=4 "default";r=39`) {
			t.Errorf("%s: %s", name, rate(a))
		}
	}
	if a := w.call("garbage", "GET", "/v1/hodls", ""); rate(a) != " " {
		t.Errorf("a stranger is told %s", rate(a))
	}
}

func TestUsageTellsTheRates(t *testing.T) {
	w := newWorld(t, setting{plan: hodl.Startup})
	for who, want := range map[string]string{
		live:     `1e+06 [{"burst":400,"name":"default","per_second":100},{"burst":400,"name":"captures","per_second":100},{"burst":400,"name":"mints","per_second":100},{"burst":400,"name":"hydrations","per_second":100}]`,
		sandbox:  `10000 [{"burst":40,"name":"default","per_second":10},{"burst":40,"name":"captures","per_second":10},{"burst":40,"name":"mints","per_second":10},{"burst":40,"name":"hydrations","per_second":10}]`,
		stranger: `<nil> []`,
	} {
		u := w.ok(who, "GET", "/v1/usage", "").object()
		if got := fmt.Sprint(u["quota"], " ", encoded(u["rate_limits"])); got != want {
			t.Errorf("%s: %s, want %s", who, got, want)
		}
	}
}

// When more than half as many writes wait as may, those of the smaller plans give
// way: nothing of theirs is written, reads go on, and larger plans are taken.
func TestLargerPlansGoFirst(t *testing.T) {
	w := newWorld(t, setting{plan: hodl.Startup, queue: 32})
	w.capture("ses_busy")
	token := w.token("ses_busy", "read:context", `"max_hydrations":100`)
	if a := w.hydrate(token, "ses_busy"); a.status != 200 {
		t.Fatal(a)
	}
	for _, who := range []string{live, sandbox, stranger} {
		w.ok(who, "GET", "/v1/me", "")
	}
	db := w.database()
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, statement := range []string{`pragma busy_timeout = 5000`, `begin immediate`} { // nobody else writes
		_, err := db.ExecContext(t.Context(), statement)
		w.must(err)
	}
	var all sync.WaitGroup
	for tick := time.NewTicker(20 * time.Millisecond); !w.Busy(); <-tick.C {
		all.Go(func() {
			if a := w.call(stranger, "POST", "/v1/hodls", `{"title":"x"}`); a.status != 201 {
				t.Errorf("a larger plan's write: %s", a)
			}
		})
	}
	w.run([]scenario{
		{name: "a write", as: live, method: "POST", path: "/v1/hodls", body: `{"title":"x"}`, status: 503, code: "unavailable", has: []string{"larger plans go first"}},
		{name: "a sandbox write", as: sandbox, method: "POST", path: "/v1/hodls", body: `{"title":"x"}`, status: 503, code: "unavailable"},
		{name: "a mint", as: live, method: "POST", path: "/v1/resume_tokens", body: `{}`, status: 503, code: "unavailable"},
		{name: "a hydration", as: token, method: "POST", path: "/v1/sessions/ses_busy/hydrate", status: 503, code: "unavailable"},
		{name: "a read", as: live, method: "GET", path: "/v1/hodls", status: 200},
	})
	_, err := db.ExecContext(t.Context(), `rollback`)
	w.must(err)
	all.Wait()
	w.ok(live, "POST", "/v1/hodls", `{"title":"x"}`)
	if got := len(w.records("denied")); got != 0 {
		t.Errorf("giving way was recorded as %d denials", got)
	}
}

// What comes before the body is bounded as well, in the envelope.
func TestURLsAndHeadersAreBounded(t *testing.T) {
	w := newWorld(t)
	long := strings.Repeat("a", 32<<10)
	w.run([]scenario{
		{name: "a long query", as: live, method: "GET", path: "/v1/hodls?cursor=" + long, status: 400, code: "bad_request", has: []string{"32768"}},
		{name: "a long path", as: live, method: "GET", path: "/v1/hodls/" + long, status: 400, code: "bad_request", has: []string{"32768"}},
		{name: "long headers", as: live, method: "GET", path: "/v1/hodls", headers: []string{"X-Long", long + long}, status: 400, code: "bad_request", has: []string{"65536"}},
		{name: "just not too long", as: live, method: "GET", path: "/v1/me?x=" + long[:len(long)-20], headers: []string{"X-Long", long}, status: 200},
	})
}

// Those who send nothing but the promise of a body, and those who send more than may
// be, leave the server's memory as it was.
func TestSlowAndLargeBodiesLeaveMemoryFlat(t *testing.T) {
	w := newWorld(t, setting{bodyTimeout: 2 * time.Second, alone: true})
	head := "POST /v1/sessions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + w.keys[live] + "\r\nContent-Type: application/json\r\n"
	large := `{"title":"` + strings.Repeat("a", hodl.MaxRequest) + `"}`
	round := func() {
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if a := w.raw(head+fmt.Sprintf("Content-Length: %d\r\n\r\n{", hodl.MaxRequest), false); a.status != 408 {
					t.Errorf("a promise: %s", a)
				}
			})
		}
		all.Wait()
		for range 20 {
			if a := w.call(live, "POST", "/v1/sessions", large); a.status != 413 {
				t.Errorf("too large: %s", a)
			}
		}
	}
	round()
	before := heap()
	round()
	if grown := int64(heap()) - int64(before); grown > 8<<20 {
		t.Errorf("a second round of senders left %d KiB", grown>>10)
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
