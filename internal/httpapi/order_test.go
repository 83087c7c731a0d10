package httpapi_test

import (
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"hodl"
)

// exec changes rows behind the server's back, and query reads them.
func (w *world) exec(statement string, args ...any) {
	w.t.Helper()
	db := w.database()
	defer db.Close()
	_, err := db.ExecContext(w.t.Context(), statement, args...)
	w.must(err)
}

func (w *world) query(statement string, args ...any) []string {
	w.t.Helper()
	db := w.database()
	defer db.Close()
	rows, err := db.QueryContext(w.t.Context(), statement, args...)
	w.must(err)
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		w.must(rows.Scan(&s))
		out = append(out, s)
	}
	w.must(rows.Err())
	return out
}

func (w *world) database() *sql.DB {
	w.t.Helper()
	w.must(w.Settle(w.t.Context()))
	db, err := sql.Open("sqlite", "file:"+filepath.Join(w.dir, "hodl.db")+"?_pragma=busy_timeout(5000)")
	w.must(err)
	return db
}

// claimsOf reads the claims of a token.
func (w *world) claimsOf(token string) *hodl.Claims {
	w.t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	w.must(err)
	c := &hodl.Claims{}
	w.must(json.Unmarshal(raw, c))
	return c
}

// sign signs claims with the server's own key.
func (w *world) sign(c *hodl.Claims) string {
	w.t.Helper()
	token, err := w.signer.Sign(c, w.Now())
	w.must(err)
	return token
}

// An attempt is a hydration that may go wrong in several ways at once.
type attempt struct {
	*world
	claims  *hodl.Claims
	id      string // of the path's session
	forged  bool
	headers []string
}

func (w *world) attempt(id string) *attempt {
	w.t.Helper()
	w.capture(id)
	return &attempt{world: w, id: id, claims: w.claimsOf(w.token(id, "read:context", `"max_hydrations":1`))}
}

func (a *attempt) make() *answer {
	a.t.Helper()
	token := a.sign(a.claims)
	if a.forged {
		token = token[:len(token)-4] + "AAAA"
	}
	return a.hydrate(token, a.id, a.headers...)
}

// faults are what can be wrong, in the order it is looked for.
var faults = []struct {
	name   string
	status int
	code   hodl.Code
	apply  func(*attempt)
}{
	{"signature", 401, hodl.InvalidToken, func(a *attempt) { a.forged = true }},
	{"issuer", 401, hodl.InvalidToken, func(a *attempt) { a.claims.Issuer = "https://other.example.com" }},
	{"expired", 401, hodl.TokenExpired, func(a *attempt) {
		a.claims.IssuedAt, a.claims.NotBefore = a.claims.IssuedAt-3600, a.claims.NotBefore-3600
		a.claims.Expires = a.claims.IssuedAt + 60
	}},
	{"audience of the other door", 403, hodl.AudienceMismatch, func(a *attempt) { a.claims.Audience = issuer + "/mcp" }},
	{"audience it does not claim", 403, hodl.AudienceMismatch, func(a *attempt) { a.headers = []string{"Hodl-Audience", "gemini.google.com"} }},
	{"unknown", 401, hodl.InvalidToken, func(a *attempt) { a.claims.ID = "rt_unknown" }},
	{"revoked", 403, hodl.TokenRevoked, func(a *attempt) {
		a.exec(`update tokens set revoked_at = 1 where id = $1`, string(a.claims.ID))
	}},
	{"another session", 404, hodl.NotFound, func(a *attempt) { a.id = "ses_other" }},
	{"archived", 409, hodl.InvalidTransition, func(a *attempt) {
		a.exec(`update sessions set state = 'archived' where id = $1`, string(a.claims.Session))
	}},
	{"scope", 403, hodl.InsufficientScope, func(a *attempt) {
		a.claims.Scopes, a.claims.Nonce = []hodl.Scope{hodl.WriteNotes}, "nonce"
	}},
	{"used up", 403, hodl.HydrationsExhausted, func(a *attempt) {
		a.exec(`update tokens set hydrations = max_hydrations where id = $1`, string(a.claims.ID))
	}},
	{"quota", 429, hodl.QuotaExceeded, func(a *attempt) {
		a.exec(`insert or replace into usage (workspace, mode, month, hydrations) values ($1, 'live', '2026-11', 10000)`, string(a.ws))
	}},
}

// Of two faults the one that stands earlier in the order wins, and no refusal holds
// a byte of the session.
func TestOrderOfChecks(t *testing.T) {
	w := newWorld(t, setting{plan: hodl.Developer})
	serial := 0
	try := func(want, other int) {
		t.Helper()
		serial++
		w.exec(`delete from usage`)
		w.clock.advance(time.Second) // slower than the plan's rates
		a := w.attempt("ses_order" + string(rune('a'+serial/26)) + string(rune('a'+serial%26)))
		faults[other].apply(a)
		if want != other {
			faults[want].apply(a)
		}
		got := a.make()
		if f := faults[want]; got.status != f.status || got.code() != string(f.code) {
			t.Errorf("%s before %s: %s, want %d %s", f.name, faults[other].name, got, f.status, f.code)
		}
		if strings.Contains(string(got.body), "canary") || strings.Contains(string(got.body), "cache bug") {
			t.Errorf("%s and %s: content in %s", faults[want].name, faults[other].name, got)
		}
	}
	for i := range faults {
		for j := i; j < len(faults); j++ {
			if faults[i].name != "unknown" || faults[j].name != "revoked" && faults[j].name != "used up" { // there is no row to change
				try(i, j)
			}
		}
	}
	if got := w.attempt("ses_sound").make(); got.code() != "quota_exceeded" {
		t.Errorf("the quota of the last try: %s", got)
	}
	w.exec(`delete from usage`)
	if got := w.attempt("ses_sounder").make(); got.status != 200 {
		t.Errorf("without a fault: %s", got)
	}
}

// A session that is not there and one that is another's are the same 404, under a
// good token for a third.
func TestTokenOpensOneSession(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_mine")
	w.ok(member, "PUT", "/v1/sessions/ses_theirs", fullSession)
	token := w.token("ses_mine", "read:context")
	theirs, never := w.hydrate(token, "ses_theirs"), w.hydrate(token, "ses_nobody")
	if theirs.status != 404 || strings.ReplaceAll(theirs.String(), "ses_theirs", "ses_nobody") != never.String() {
		t.Errorf("%s is told from %s", theirs, never)
	}
}

func TestClockSkew(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_skew")
	minted := w.token("ses_skew", "read:context", `"ttl_seconds":60`, `"max_hydrations":100`)
	for _, tt := range []struct {
		name string
		nbf  time.Duration // from now
		exp  time.Duration
		want string
	}{
		{"now", 0, time.Minute, ""},
		{"starts in 29 s", 29 * time.Second, time.Minute, ""},
		{"starts in 31 s", 32 * time.Second, time.Minute, "token_not_yet_valid"},
		{"ended 29 s ago", -2 * time.Minute, -29 * time.Second, ""},
		{"ended 31 s ago", -2 * time.Minute, -31 * time.Second, "token_expired"},
	} {
		c, now := w.claimsOf(minted), w.Now().Unix()
		c.NotBefore, c.Expires = now+int64(tt.nbf.Seconds()), now+int64(tt.exp.Seconds())
		c.IssuedAt = min(now, c.NotBefore)
		if got := w.hydrate(w.sign(c), "ses_skew"); got.code() != tt.want {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
	token := w.token("ses_skew", "read:context", `"ttl_seconds":60`)
	w.clock.advance(91 * time.Second)
	if got := w.hydrate(token, "ses_skew"); got.code() != "token_expired" {
		t.Errorf("a minute and a half later: %s", got)
	}
}

func TestAudiences(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_aud")
	token := w.token("ses_aud", "read:context write:notes")
	mcp := w.token("ses_aud", "read:context write:notes", `"audience":"`+issuer+`/mcp"`)
	const path, notes, note = "/v1/sessions/ses_aud/hydrate", "/v1/sessions/ses_aud/notes", `{"body":"x"}`
	w.run([]scenario{
		{name: "names nobody", as: token, method: "POST", path: path, status: 200},
		{name: "names its own", as: token, method: "POST", path: path, headers: []string{"Hodl-Audience", "claude.anthropic.com"}, status: 200},
		{name: "names another", as: token, method: "POST", path: path, headers: []string{"Hodl-Audience", "sdk.unihodl.app"}, status: 403, code: "audience_mismatch"},
		{name: "names another, in a write", as: token, method: "POST", path: notes, body: note, headers: []string{"Hodl-Audience", "sdk.unihodl.app"}, status: 403, code: "audience_mismatch"},
		{name: "for the other door", as: mcp, method: "POST", path: path, status: 403, code: "audience_mismatch", has: []string{issuer + "/mcp"}},
		{name: "for the other door, in a write", as: mcp, method: "POST", path: notes, body: note, status: 403, code: "audience_mismatch"},
		{name: "unknown at mint", as: live, method: "POST", path: "/v1/resume_tokens", body: `{"session_id":"ses_aud","audience":"stranger.example.com","scopes":["read:context"]}`, status: 422, code: "validation_failed", has: []string{`"audience"`}},
		{name: "no session at mint", as: live, method: "POST", path: "/v1/resume_tokens", body: `{"session_id":"ses_gone","audience":"sdk.unihodl.app","scopes":["read:context"]}`, status: 404, code: "not_found"},
		{name: "read:redacted by a member", as: member, method: "POST", path: "/v1/resume_tokens", body: `{"session_id":"ses_aud","audience":"sdk.unihodl.app","scopes":["read:redacted"]}`, status: 403, code: "forbidden"},
	})
	if used := w.records("hydrate")[0]; used["bearer"] != true || used["actor"] != "claude.anthropic.com" {
		t.Errorf("an unbound use is recorded as %v", used)
	}
}
