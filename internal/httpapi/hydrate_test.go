package httpapi_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hodl"
	"hodl/internal/resume"
	"hodl/internal/store"
)

// A broken store cannot write down what was done.
type broken struct {
	*store.Store
	err error
}

func (b broken) Hydrate(context.Context, store.TokenUse, func(store.Admission) error, *hodl.Record, hodl.RecordDetail) error {
	return b.err
}

func (b broken) Read(context.Context, store.TokenUse, func(store.Admission) error, *hodl.Record, hodl.RecordDetail) error {
	return b.err
}

func (b broken) Append(context.Context, *hodl.Record, hodl.RecordDetail) error { return b.err }

// Not a byte of the session leaves before its record is committed.
func TestNoRecordNoContent(t *testing.T) {
	for name, tt := range map[string]struct {
		err    error
		status int
		code   string
	}{
		"a fault of ours": {errors.New("canary: disk"), 500, "internal"},
		"a full queue":    {hodl.Errorf(hodl.Unavailable, "too many writes are waiting").WithHint("try again"), 503, "unavailable"},
	} {
		t.Run(name, func(t *testing.T) { noRecordNoContent(t, tt.err, tt.status, tt.code) })
	}
}

func noRecordNoContent(t *testing.T, fault error, status int, code string) {
	w := newWorld(t, setting{resumeStore: func(s *store.Store) resume.Store { return broken{s, fault} }})
	w.capture("ses_broken")
	token := w.token("ses_broken", "read:context read:reasoning read:transcript")
	for _, format := range []string{"json", "prompt-ready"} {
		r, err := http.NewRequestWithContext(t.Context(), "POST", w.url+"/v1/sessions/ses_broken/hydrate?format="+format, nil)
		w.must(err)
		r.Header.Set("Authorization", "Bearer "+token)
		a := w.send(r)
		if a.status != status || a.code() != code || len(a.body) > 400 {
			t.Errorf("%s: %s", format, a)
		}
		for _, word := range []string{"canary", "cache bug", "example.com", "race"} {
			if bytes.Contains(a.body, []byte(word)) || strings.Contains(fmt.Sprint(a.header), word) {
				t.Errorf("%s: %q leaves in %v %s", format, word, a.header, a)
			}
		}
	}
	if used := w.ok(live, "GET", "/v1/usage", "").object()["hydrations"]; used != 0.0 {
		t.Errorf("%v hydrations are counted", used)
	}
}

// The record's digest is that of the bytes that came over the wire, without the
// field that differs per call.
func TestRecordTellsTheBytes(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_bytes")
	token := w.token("ses_bytes", "read:context read:reasoning")
	for _, format := range []string{"json", "prompt-ready"} {
		a := w.hydrate(token, "ses_bytes", "X-Unihodl-Format", format)
		id := a.header.Get("Hodl-Hydration")
		plain := bytes.Replace(a.body, []byte(`,"hydration_id":"`+id+`"`), nil, 1)
		sum := sha256.Sum256(plain)
		record := w.ok(live, "GET", "/v1/access_records/"+id, "").object()
		returned := record["returned"].(object)
		if returned["sha256"] != hex.EncodeToString(sum[:]) || returned["bytes"] != float64(len(plain)) || returned["format"] != format {
			t.Errorf("%s: the record says %v of %d bytes %x", format, returned, len(plain), sum)
		}
		if got := `"` + record["fingerprint"].(string) + `"`; got != a.header.Get("ETag") {
			t.Errorf("%s: the record says %s, the ETag %s", format, got, a.header.Get("ETag"))
		}
	}
	first, second := w.hydrate(token, "ses_bytes"), w.hydrate(token, "ses_bytes")
	cut := func(a *answer) string { before, _, _ := strings.Cut(string(a.body), `,"hydration_id":`); return before }
	if cut(first) != cut(second) || bytes.Equal(first.body, second.body) {
		t.Errorf("equal inputs give\n%s\n%s", first.body, second.body)
	}
}

// What a hydration left out, and what changed since, over the wire.
func TestHydrateOptions(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_options")
	tabs := strings.Repeat(`{"url":"https://example.com/canary","title":"`+strings.Repeat("canary ", 30)+`"},`, 60)
	w.ok(live, "PUT", "/v1/sessions/ses_options", `{"title":"t","tabs":[`+strings.TrimSuffix(tabs, ",")+`]}`)
	token := w.token("ses_options", "read:context", `"max_hydrations":1`)
	path := "/v1/sessions/ses_options/hydrate"
	first := w.ok(token, "POST", path+"?max_tokens=2000", "").object()
	omitted := first["omitted"].([]any)[0].(object)
	if omitted["what"] != "sources" || omitted["items"] != float64(60-len(first["tabs"].([]any))) {
		t.Fatalf("omitted: %v", omitted)
	}
	rest := w.ok(token, "POST", path+"?format=markdown&include="+omitted["handle"].(string), "")
	if n := strings.Count(string(rest.body), "|   url: "); n != 60-len(first["tabs"].([]any)) || len(w.records("continue")) != 1 {
		t.Errorf("%d of %v, and %d records", n, omitted["items"], len(w.records("continue")))
	}
	same := w.ok(token, "POST", path+"?since="+first["hydration_id"].(string), "").object()
	if delta := same["delta"].(object); len(delta["changed"].([]any)) != 0 || len(w.records("unchanged")) != 1 || len(w.records("hydrate")) != 1 {
		t.Errorf("nothing changed: %v", delta)
	}
	for query, want := range map[string]struct {
		status int
		has    string
	}{
		"max_tokens=1199":   {422, "max_tokens"},
		"max_tokens=x":      {422, "max_tokens"},
		"include=x":         {422, "include[0]"},
		"include=x&since=y": {422, "since"},
		"include=" + strings.Repeat("0", 26) + strings.Repeat("A", 22) + "a0": {410, "gone"},
	} {
		if a := w.call(token, "POST", path+"?"+query, ""); a.status != want.status || !strings.Contains(string(a.body), want.has) {
			t.Errorf("%s: %s", query, a)
		}
	}
}

// A scope that is not granted is an empty list and a name, not a hole.
func TestScopesSlice(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_scopes")
	for scopes, want := range map[string]struct{ has, hasNot string }{
		"read:context":                 {"canary selection", "canary node"},
		"read:reasoning":               {"canary node", "canary selection"},
		"read:context read:reasoning":  {"canary note", "canary transcript"},
		"read:context read:transcript": {"canary transcript", "canary node"},
	} {
		for _, format := range []string{"json", "prompt-ready"} {
			body := string(w.hydrate(w.token("ses_scopes", scopes), "ses_scopes", "X-Unihodl-Format", format).body)
			if !strings.Contains(body, want.has) || strings.Contains(body, want.hasNot) {
				t.Errorf("%s as %s: %s", scopes, format, body)
			}
		}
	}
}

// together makes n calls at once and counts those that succeed.
func (w *world) together(n int, call func(i int) *answer) int {
	var good atomic.Int64
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if call(i).status == 200 {
				good.Add(1)
			}
		})
	}
	all.Wait()
	return int(good.Load())
}

func TestHydrationsAreExact(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_exact")
	token := w.token("ses_exact", "read:context", `"max_hydrations":7`)
	if got := w.together(40, func(int) *answer { return w.hydrate(token, "ses_exact") }); got != 7 {
		t.Errorf("%d of 40 hydrations succeeded, want 7", got)
	}
	if got := len(w.records("hydrate")); got != 7 {
		t.Errorf("there are %d records", got)
	}
	one := w.ok(live, "GET", "/v1/sessions/ses_exact", "").object()
	if one["total_hydrations"] != 7.0 {
		t.Errorf("the session counts %v", one["total_hydrations"])
	}
	if left := w.ok(live, "GET", "/v1/resume_tokens/"+string(w.claimsOf(token).ID), "").object()["hydrations_left"]; left != 0.0 {
		t.Errorf("the token has %v left", left)
	}
}

func TestQuotaIsExact(t *testing.T) {
	w := newWorld(t, setting{plan: hodl.Developer})
	w.capture("ses_quota")
	w.exec(`insert into usage (workspace, mode, month, hydrations) values ($1, 'live', '2026-11', 9991)`, string(w.ws))
	tokens := []string{w.token("ses_quota", "read:context", `"max_hydrations":100`), w.token("ses_quota", "read:context", `"max_hydrations":100`)}
	if got := w.together(36, func(i int) *answer { return w.hydrate(tokens[i%2], "ses_quota") }); got != 9 {
		t.Errorf("%d of 36 hydrations succeeded, want 9", got)
	}
	usage := w.ok(live, "GET", "/v1/usage", "").object()
	if usage["hydrations"] != 10_000.0 || usage["quota"] != 10_000.0 || len(w.records("hydrate")) != 9 {
		t.Errorf("usage is %v with %d records", usage, len(w.records("hydrate")))
	}
	a := w.hydrate(tokens[0], "ses_quota")
	if a.code() != "quota_exceeded" || a.header.Get("Retry-After") == "1" {
		t.Errorf("the next: %v %s", a.header, a)
	}
	w.clock.advance(hodl.NextMonth(w.Now()).Sub(w.Now()))
	if a := w.hydrate(w.token("ses_quota", "read:context"), "ses_quota"); a.status != 200 {
		t.Errorf("in the next month: %s", a)
	}
}

func TestFirstHydrationHandsOff(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_first")
	token := w.token("ses_first", "read:context")
	events := func() string {
		return strings.Join(w.query(`select type || ' ' || session || ' ' || jti from outbox order by at`), "; ")
	}
	jti := string(w.claimsOf(token).ID)
	before := events()
	if want := "session.held ses_first ; session.shared ses_first " + jti; before != want {
		t.Errorf("before: %s, want %s", before, want)
	}
	for range 3 {
		w.hydrate(token, "ses_first")
	}
	if got, want := events(), before+"; session.handed_off ses_first "+jti; got != want {
		t.Errorf("after: %s, want %s", got, want)
	}
	if got := w.ok(live, "GET", "/v1/sessions/ses_first", "").text("state"); got != "handed_off" {
		t.Errorf("the session is %s", got)
	}
}

func TestTheEndOfTokens(t *testing.T) {
	w := newWorld(t)
	for name, tt := range map[string]struct {
		end  func(id string)
		want string
	}{
		"revoked":  {func(id string) {}, "token_revoked"},
		"archived": {func(id string) { w.ok(live, "POST", "/v1/sessions/"+id+"/archive", "") }, "token_revoked"},
		"archived and restored": {func(id string) {
			w.ok(live, "POST", "/v1/sessions/"+id+"/archive", "")
			w.ok(live, "POST", "/v1/sessions/"+id+"/restore", "")
		}, "token_revoked"},
		"deleted":                    {func(id string) { w.ok(live, "DELETE", "/v1/sessions/"+id, "") }, "token_revoked"},
		"deleted and captured again": {func(id string) { w.ok(live, "DELETE", "/v1/sessions/"+id, ""); w.capture(id) }, "token_revoked"},
	} {
		id := "ses_" + strings.ReplaceAll(name, " ", "")
		w.capture(id)
		token := w.token(id, "read:context write:notes", `"max_hydrations":50`)
		if a := w.hydrate(token, id); a.status != 200 {
			t.Fatalf("%s: before: %s", name, a)
		}
		if name == "revoked" {
			w.ok(live, "POST", "/v1/resume_tokens/"+string(w.claimsOf(token).ID)+"/revoke", "")
		}
		tt.end(id)
		for _, a := range []*answer{w.hydrate(token, id), w.call(token, "POST", "/v1/sessions/"+id+"/notes", `{"body":"x"}`)} {
			if a.code() != tt.want || bytes.Contains(a.body, []byte("canary")) {
				t.Errorf("%s: %s", name, a)
			}
		}
	}
	if a := w.call(live, "GET", "/v1/sessions/ses_deleted", ""); a.status != 404 {
		t.Errorf("a deleted session: %s", a)
	}
	if got := w.ok(live, "GET", "/v1/access_records?session_id=ses_deleted", ""); !bytes.Contains(got.body, []byte(`"hydrate"`)) {
		t.Errorf("the records of a deleted session: %s", got)
	}
}

// Equal refusals of one token are one record a minute, which tells how many.
func TestDenialsAreCounted(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_denied")
	minted := w.mint("ses_denied", "read:context")
	token := minted.text("token")
	w.ok(live, "POST", "/v1/resume_tokens/"+minted.text("jti")+"/revoke", "")
	counts := func() string {
		var out []string
		for _, r := range w.records("denied") {
			out = append(out, fmt.Sprint(r["code"], " ", r["count"]))
		}
		return strings.Join(out, "; ")
	}
	for range 4 {
		w.hydrate(token, "ses_denied")
	}
	w.hydrate(token, "ses_denied", "Hodl-Audience", "x.ai")
	w.hydrate("a.b.c", "ses_denied") // no good signature, no record
	if got, want := counts(), "audience_mismatch 1; token_revoked 1"; got != want {
		t.Errorf("at once: %s, want %s", got, want)
	}
	w.clock.advance(time.Minute)
	w.hydrate(token, "ses_denied")
	if got, want := counts(), "token_revoked 4; audience_mismatch 1; token_revoked 1"; got != want {
		t.Errorf("a minute later: %s, want %s", got, want)
	}
	w.hydrate(token, "ses_denied")
	w.resume.FlushDenials(t.Context(), false)
	if got := len(w.records("denied")); got != 3 {
		t.Errorf("flushed too early: %d records", got)
	}
	w.clock.advance(time.Minute)
	w.resume.FlushDenials(t.Context(), false)
	if got, want := counts(), "token_revoked 1; token_revoked 4; audience_mismatch 1; token_revoked 1"; got != want {
		t.Errorf("flushed: %s, want %s", got, want)
	}
}
