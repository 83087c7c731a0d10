package httpapi_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hodl"
	"hodl/internal/resume"
	"hodl/internal/store"
)

const (
	keyHeader      = "Idempotency-Key"
	replayedHeader = "Idempotency-Replayed"
)

// counts is how many rows each table holds.
func (w *world) counts() map[string]int {
	w.t.Helper()
	driver, address, list := "sqlite", "file:"+filepath.Join(w.dir, "hodl.db")+"?mode=ro&_pragma=busy_timeout(10000)", `select group_concat(name, ' ') from sqlite_master where type = 'table'`
	if w.superuser != "" {
		driver, address, list = "pgx", w.superuser, `select string_agg(tablename, ' ') from pg_tables where schemaname = 'public'`
	}
	db, err := sql.Open(driver, address)
	w.must(err)
	defer db.Close()
	var names string
	w.must(db.QueryRow(list).Scan(&names))
	out := map[string]int{}
	for name := range strings.FieldsSeq(names) {
		var n int
		w.must(db.QueryRow(`select count(*) from ` + name).Scan(&n))
		out[name] = n
	}
	return out
}

// keyed lists the operations that the document gives the header.
func keyed(t *testing.T) map[string]bool {
	out := map[string]bool{}
	for path, item := range document(t)["paths"].(object) {
		for method, o := range item.(object) {
			parameters, _ := o.(object)["parameters"].([]any)
			for _, p := range parameters {
				if p.(object)["name"] == keyHeader {
					out[strings.ToUpper(method)+" "+path] = true
				}
			}
		}
	}
	return out
}

// keyless are the calls that are no GET and take no idempotency key: a hydration is
// metered each time, the last uses up its credential, the others change nothing.
var keyless = []string{"/v1/sessions/{id}/hydrate", "/v1/resume_tokens/introspect", "/v1/hodls/{id}/resume", "/v1/redaction_policies/{name}/preview", "/v1/members/join"}

func TestWritesTakeAKey(t *testing.T) {
	got := keyed(t)
	for path, item := range document(t)["paths"].(object) {
		for method := range item.(object) {
			at := strings.ToUpper(method) + " " + path
			if want := method != "get" && !slices.Contains(keyless, path); got[at] != want {
				t.Errorf("%s takes an idempotency key: %t, want %t", at, got[at], want)
			}
		}
	}
}

// same is what a replay has in common with the answer it repeats.
func (a *answer) same() string {
	h := a.header.Clone()
	for _, name := range []string{"Date", "X-Request-Id", replayedHeader} {
		h.Del(name)
	}
	return fmt.Sprintf("%d %v %s", a.status, h, a.body)
}

// A write has one effect under one key, and every repeat gets the bytes of the first
// answer; the key means nothing to anybody else, nor with another request.
func TestWritesTakeEffectOnce(t *testing.T) {
	for _, r := range append(keyRoutes, tokenRoutes...) {
		if r.method == "GET" || slices.Contains(keyless, strings.NewReplacer("{ses}", "{id}", "{hdl}", "{id}", "{pol}", "{name}").Replace(r.path)) {
			continue
		}
		t.Run(r.method+" "+r.path, func(t *testing.T) {
			w := newWorld(t)
			names := w.owned()
			as := live
			w.keys["another key of the user"] = w.key(w.ws, w.user, hodl.Live, "*")
			others := []string{sandbox, member, stranger, "another key of the user"}
			if isTokenRoute(r) {
				as = w.token("ses_owned", agentScopes)
				others = []string{w.token("ses_owned", agentScopes)}
			}
			w.once(as, others, r.method, names.Replace(r.path), names.Replace(r.body))
		})
	}
}

const agentScopes = "read:context write:notes write:next_step session:hand_off"

func isTokenRoute(r route) bool {
	for _, x := range tokenRoutes {
		if x == r {
			return true
		}
	}
	return false
}

func (w *world) once(as string, others []string, method, path, body string) {
	w.t.Helper()
	first := w.ok(as, method, path, body, keyHeader, "k")
	before := w.counts()
	for range 2 {
		again := w.call(as, method, path, body, keyHeader, "k")
		if diff := cmp.Diff(first.same(), again.same()); diff != "" {
			w.t.Errorf("the replay differs:\n%s", diff)
		}
		if first.header.Get(replayedHeader) != "" || again.header.Get(replayedHeader) != "true" {
			w.t.Errorf("%s is %q, then %q", replayedHeader, first.header.Get(replayedHeader), again.header.Get(replayedHeader))
		}
	}
	w.mismatch(w.call(as, method, path+"?other=1", body, keyHeader, "k"))
	if body != "" {
		w.mismatch(w.call(as, method, path, body+" ", keyHeader, "k"))
	}
	if diff := cmp.Diff(before, w.counts()); diff != "" {
		w.t.Errorf("repeats changed the database:\n%s", diff)
	}
	for _, other := range others {
		if a := w.call(other, method, path, body, keyHeader, "k"); a.header.Get(replayedHeader) != "" || a.code() == "idempotency_mismatch" {
			w.t.Errorf("another caller (%.30s) meets the key: %s", other, a)
		}
	}
}

// A batch that broke off goes on where it did: what was captured stays what it is.
func TestBatchBrokenOff(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_batch")
	const batch = `{"hodls":[{"title":"a"},{"title":""},{"title":"b","session_id":"ses_batch"},{"title":"c"},{"title":"d","session_id":"ses_batch"}]}`
	first := w.ok(live, "POST", "/v1/hodls/batch", batch, keyHeader, "k")
	before := w.counts()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(w.dir, "hodl.db")+"?_pragma=busy_timeout(10000)")
	w.must(err)
	defer db.Close()
	_, err = db.Exec(`delete from idempotency_keys where rowid = (select max(rowid) from idempotency_keys)`) // the answer to the whole
	w.must(err)
	again := w.ok(live, "POST", "/v1/hodls/batch", batch, keyHeader, "k")
	if diff := cmp.Diff(first.String(), again.String()); diff != "" || again.header.Get(replayedHeader) != "" {
		t.Errorf("gone on with:\n%s", diff)
	}
	if diff := cmp.Diff(before, w.counts()); diff != "" {
		t.Errorf("the database changed:\n%s", diff)
	}
	w.mismatch(w.call(live, "POST", "/v1/hodls/batch", `{"hodls":[{"title":"z"}]}`, keyHeader, "k"))
}

func (w *world) mismatch(a *answer) {
	w.t.Helper()
	if a.status != 422 || a.code() != "idempotency_mismatch" || a.header.Get(replayedHeader) != "" {
		w.t.Errorf("another request under the key: %s", a)
	}
}

// With and without a key the answer has the same shape: the same headers and members.
func TestKeyedAnswersLookLikeOthers(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_shape")
	token := w.token("ses_shape", "write:notes write:next_step")
	for i, r := range []struct{ as, method, path, body string }{
		{live, "POST", "/v1/hodls", `{"title":"<&>\u2028é","url":"https://example.com/?a=1&b=2","x":1}`},
		{live, "POST", "/v1/hodl", `{"url":"https://example.com"}`},
		{live, "POST", "/v1/hodl", `{"tabs":[]}`},
		{live, "POST", "/v1/sessions", `{"title":"x"}`},
		{live, "POST", "/v1/sessions/ses_shape/resume", ``},
		{live, "POST", "/v1/resume_tokens", `{"session_id":"ses_shape","audience":"sdk.unihodl.app","scopes":["read:context"]}`},
		{token, "POST", "/v1/sessions/ses_shape/notes", `{"body":"x"}`},
	} {
		plain, kept := w.ok(r.as, r.method, r.path, r.body), w.ok(r.as, r.method, r.path, r.body, keyHeader, fmt.Sprint("k", i))
		if diff := cmp.Diff(shape(plain), shape(kept)); diff != "" {
			t.Errorf("%s (-without +with a key):\n%s", r.path, diff)
		}
	}
}

func shape(a *answer) map[string]string {
	out := map[string]string{"": fmt.Sprint(a.status, " ", a.header.Get("Content-Type"))}
	for name := range a.header {
		out[name] = "header"
	}
	for name, value := range a.object() {
		out[name] = fmt.Sprintf("%T", value)
	}
	delete(out, "Content-Length")
	return out
}

// What was true when the answer was given need not be true any more.
func TestReplaysOutliveWhatTheyTell(t *testing.T) {
	w := newWorld(t)
	first := w.capture("ses_gone")
	match := first.header.Get("ETag")
	put := func() *answer {
		return w.call(live, "PUT", "/v1/sessions/ses_gone", `{"title":"second"}`, "If-Match", match, keyHeader, "put")
	}
	made := put()
	w.ok(live, "PUT", "/v1/sessions/ses_gone", `{"title":"third"}`)
	if again := put(); made.status != 200 || made.same() != again.same() {
		t.Errorf("with If-Match: %s, then %s", made, again)
	}
	if a := w.call(live, "PUT", "/v1/sessions/ses_gone", `{"title":"second"}`, keyHeader, "put"); a.code() != "idempotency_mismatch" {
		t.Errorf("without the If-Match it had: %s", a)
	}
	w.ok(live, "DELETE", "/v1/sessions/ses_gone", "")
	if again := put(); made.same() != again.same() {
		t.Errorf("of a session that is gone: %s, then %s", made, again)
	}
}

// A refused request is not kept: mended, or in another world, it may succeed.
func TestRefusalsAreNotKept(t *testing.T) {
	w := newWorld(t)
	mint := `{"session_id":"ses_later","audience":"sdk.unihodl.app","scopes":["read:context"]}`
	before := w.counts()["idempotency_keys"]
	for _, r := range []struct {
		method, path, body string
		status             int
	}{
		{"POST", "/v1/hodls", `{`, 400},
		{"POST", "/v1/hodls", `{}`, 422},
		{"POST", "/v1/hodls", `{"title":1}`, 422},
		{"POST", "/v1/resume_tokens", mint, 404},
		{"DELETE", "/v1/sessions/ses_later", "", 404},
		{"PATCH", "/v1/hodls/hdl_none", `{"title":"x"}`, 404},
	} {
		if a := w.call(live, r.method, r.path, r.body, keyHeader, "k"); a.status != r.status {
			t.Errorf("%s %s: %s", r.method, r.path, a)
		}
	}
	if n := w.counts()["idempotency_keys"]; n != before {
		t.Errorf("%d refusals are kept", n-before)
	}
	w.capture("ses_later")
	w.ok(live, "POST", "/v1/resume_tokens", mint, keyHeader, "k")
	w.ok(live, "POST", "/v1/hodls", `{"title":"mended"}`, keyHeader, "k")
}

// Who may no longer ask gets no answer, not even an old one.
func TestAuthorisationComesFirst(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_auth")
	w.keys["short-lived"] = w.key(w.ws, w.user, hodl.Live, "*")
	made := w.ok("short-lived", "POST", "/v1/api_keys", `{"name":"x"}`, keyHeader, "k")
	w.ok(live, "POST", "/v1/hodls", `{"title":"x"}`, keyHeader, "k")
	id := ""
	for _, k := range w.ok(live, "GET", "/v1/api_keys", "").object()["api_keys"].([]any) {
		if k := k.(object); k["last_four"] == w.keys["short-lived"][len(w.keys["short-lived"])-4:] {
			id = k["id"].(string)
		}
	}
	w.ok(live, "POST", "/v1/api_keys/"+id+"/revoke", "")
	if a := w.call("short-lived", "POST", "/v1/api_keys", `{"name":"x"}`, keyHeader, "k"); a.status != 401 || bytes.Contains(a.body, []byte(made.text("key"))) {
		t.Errorf("with a revoked key: %s", a)
	}
	minted := w.mint("ses_auth", "write:notes")
	token := minted.text("token")
	w.ok(token, "POST", "/v1/sessions/ses_auth/notes", `{"body":"x"}`, keyHeader, "k")
	w.ok(live, "POST", "/v1/resume_tokens/"+minted.text("jti")+"/revoke", "")
	if a := w.call(token, "POST", "/v1/sessions/ses_auth/notes", `{"body":"x"}`, keyHeader, "k"); a.status != 403 || a.code() != "token_revoked" {
		t.Errorf("with a revoked token: %s", a)
	}
}

func TestSecretsAreKeptSealed(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_secret")
	mint := `{"session_id":"ses_secret","audience":"sdk.unihodl.app","scopes":["read:context"]}`
	token := w.ok(live, "POST", "/v1/resume_tokens", mint, keyHeader, "clientskey").text("token")
	key := w.ok(live, "POST", "/v1/api_keys", `{"name":"x"}`, keyHeader, "clientskey").text("key")
	for _, closed := range []bool{false, true} {
		if closed {
			w.must(w.Close()) // folds the log into the database file
		}
		files, err := filepath.Glob(filepath.Join(w.dir, "hodl.db*"))
		w.must(err)
		for _, file := range files {
			data, err := os.ReadFile(file)
			w.must(err)
			for _, secret := range []string{token, token[strings.LastIndexByte(token, '.'):], key, "clientskey"} {
				if len(secret) < 8 || bytes.Contains(data, []byte(secret)) {
					t.Errorf("%s shows %.20q", filepath.Base(file), secret)
				}
			}
		}
	}
	if log := w.log.String(); strings.Contains(log, token) || strings.Contains(log, key) || strings.Contains(log, "clientskey") {
		t.Error("the log shows a secret")
	}
}

func TestKeyForm(t *testing.T) {
	w := newWorld(t)
	for name, sent := range map[string][]string{
		"empty": {""}, "too long": {strings.Repeat("k", 256)}, "a space": {"a b"}, "not ASCII": {"clé"}, "two": {"a", "b"},
	} {
		a := w.keyedBy(sent)
		if a.status != 422 || a.code() != "validation_failed" || !bytes.Contains(a.body, []byte(`"path":"Idempotency-Key"`)) {
			t.Errorf("%s: %s", name, a)
		}
	}
	for _, good := range []string{"k", strings.Repeat("k", 255), `"8e03978e-40d5-43dd-bc93-6894a57f9324"`, "!~"} {
		if a := w.keyedBy([]string{good}); a.status != 201 {
			t.Errorf("%s: %s", good, a)
		}
	}
}

func (w *world) keyedBy(keys []string) *answer {
	w.t.Helper()
	r := w.request(live, "POST", "/v1/hodls", `{"title":"x"}`)
	r.Header[keyHeader] = keys
	return w.send(r)
}

// A hydration is metered each time, whatever it carries.
func TestHydrateIgnoresTheKey(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_hydrate")
	token := w.token("ses_hydrate", "read:context")
	for _, key := range []string{"k", "k", "not a key"} {
		if a := w.hydrate(token, "ses_hydrate", keyHeader, key); a.status != 200 || a.header.Get(replayedHeader) != "" {
			t.Errorf("%s", a)
		}
	}
	if n := len(w.records("hydrate")); n != 3 {
		t.Errorf("%d hydrations are recorded, want 3", n)
	}
}

// slow is a store whose mints wait.
type slow struct {
	resume.Store
	entered, leave chan struct{}
}

func (s slow) Mint(ctx context.Context, t hodl.Token, rec *hodl.Record, d hodl.RecordDetail) error {
	s.entered <- struct{}{}
	<-s.leave
	return s.Store.Mint(ctx, t, rec, d)
}

// While a request is being answered an equal one is told to wait.
func TestInFlight(t *testing.T) {
	gate := slow{entered: make(chan struct{}), leave: make(chan struct{})}
	w := newWorld(t, setting{resumeStore: func(s *store.Store) resume.Store { gate.Store = s; return gate }})
	w.capture("ses_flight")
	mint := func() *answer {
		return w.call(live, "POST", "/v1/resume_tokens", `{"session_id":"ses_flight","audience":"sdk.unihodl.app","scopes":["read:context"]}`, keyHeader, "k")
	}
	var first *answer
	var group sync.WaitGroup
	group.Go(func() { first = mint() })
	<-gate.entered
	if a := mint(); a.status != 409 || a.code() != "conflict" || a.header.Get("Retry-After") != "1" {
		t.Errorf("while the first is being answered: %s", a)
	}
	close(gate.leave)
	group.Wait()
	if again := mint(); first.status != 201 || first.same() != again.same() {
		t.Errorf("%s, then %s", first, again)
	}
}

func TestRepeatsAtOnce(t *testing.T) {
	w := newWorld(t)
	before := w.counts()["hodls"]
	var mu sync.Mutex
	answers := map[string]int{}
	w.together(60, func(int) *answer {
		a := w.call(live, "POST", "/v1/hodls", `{"title":"x"}`, keyHeader, "k")
		mu.Lock()
		defer mu.Unlock()
		if a.code() != "conflict" {
			answers[a.same()]++
		}
		return a
	})
	if n := w.counts()["hodls"] - before; n != 1 || len(answers) != 1 {
		t.Errorf("%d hodls, and the answers %v", n, answers)
	}
}
