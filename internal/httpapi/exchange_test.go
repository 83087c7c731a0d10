package httpapi_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"hodl"
)

const exchangePath = "/v1/resume_tokens/exchange"

// exchange asks for a narrower token in JSON. Fields beside the scopes come as JSON
// members.
func (w *world) exchange(token, audience, scopes string, more ...string) *answer {
	w.t.Helper()
	body := `{"audience":"` + audience + `","scopes":["` + strings.Join(strings.Fields(scopes), `","`) + `"]`
	for _, m := range more {
		body += "," + m
	}
	return w.call(token, "POST", exchangePath, body+"}")
}

func (w *world) form(as, path string, pairs ...string) *answer {
	w.t.Helper()
	values := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		values.Add(pairs[i], pairs[i+1])
	}
	return w.call(as, "POST", path, values.Encode(), "Content-Type", "application/x-www-form-urlencoded; charset=UTF-8")
}

const (
	exchangeGrant = "urn:ietf:params:oauth:grant-type:token-exchange"
	tokenName     = "urn:ietf:params:oauth:token-type:access_token"
	jwtName       = "urn:ietf:params:oauth:token-type:jwt"
)

func TestExchange(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_x")
	parent := w.token("ses_x", "read:context read:reasoning write:notes session:hand_off", `"ttl_seconds":600`, `"max_hydrations":3`)
	a := w.exchange(parent, "agents.openai.com", "read:context session:hand_off", `"ttl_seconds":60`)
	child := a.text("token")
	c := w.claimsOf(child)
	if a.status != 200 || a.text("audience") != "agents.openai.com" || c.Actor == nil || c.Actor.Subject != "claude.anthropic.com" || c.MaxHydrations != 3 {
		t.Fatalf("%s, claims %+v", a, c)
	}
	if got := w.hydrate(child, "ses_x"); got.status != 200 || strings.Contains(string(got.body), "canary node") {
		t.Errorf("hydrate with the child: %s", got)
	}
	if got := w.call(child, "POST", "/v1/sessions/ses_x/notes", `{"body":"x"}`); got.code() != "insufficient_scope" {
		t.Errorf("write with the child: %s", got)
	}
	w.ok(parent, "POST", "/v1/sessions/ses_x/hydrate", "")
	grandchild := w.exchange(child, "crewai.com", "read:context").text("token")
	w.ok(grandchild, "POST", "/v1/sessions/ses_x/hydrate", "")
	for _, token := range []string{parent, child, grandchild} {
		if got := w.hydrate(token, "ses_x"); got.code() != "hydrations_exhausted" {
			t.Errorf("the fourth of three: %s", got)
		}
	}
	record := w.records("hydrate")[0]
	if fmt.Sprint(record["chain"]) != "[agents.openai.com claude.anthropic.com]" || record["actor"] != "crewai.com" {
		t.Errorf("the grandchild's hydration is recorded as %v", record)
	}
	record = w.records("exchange")[1]
	if record["actor"] != "claude.anthropic.com" || record["parent"] != string(w.claimsOf(parent).ID) || record["jti"] != string(c.ID) {
		t.Errorf("the first exchange is recorded as %v", record)
	}
	listed := w.ok(live, "GET", "/v1/resume_tokens/"+string(c.ID), "").object()
	if listed["parent"] != string(w.claimsOf(parent).ID) || listed["depth"] != 1.0 || listed["children"] != 1.0 || listed["hydrations_left"] != 0.0 {
		t.Errorf("the child is listed as %v", listed)
	}
	w.ok(live, "POST", "/v1/resume_tokens/"+string(w.claimsOf(parent).ID)+"/revoke", `{"reason":"lost"}`)
	for _, token := range []string{parent, child, grandchild} {
		if got := w.hydrate(token, "ses_x"); got.code() != "token_revoked" {
			t.Errorf("once the first is revoked: %s", got)
		}
	}
	if listed = w.ok(live, "GET", "/v1/resume_tokens/"+string(c.ID), "").object(); listed["revoked_at"] == nil || listed["reason"] != "lost" {
		t.Errorf("the child of a revoked token is listed as %v", listed)
	}
}

func TestExchangeForm(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_x")
	parent := w.token("ses_x", "read:context read:redacted write:notes session:hand_off", `"ttl_seconds":600`)
	good := []string{"grant_type", exchangeGrant, "subject_token", parent, "subject_token_type", tokenName, "audience", "agents.openai.com"}
	for _, as := range []string{nobody, parent} {
		a := w.form(as, exchangePath, append(good, "scope", "read:context", "requested_token_type", jwtName, "client_id", "ignored")...)
		o := a.object()
		if a.status != 200 || o["issued_token_type"] != jwtName || o["token_type"] != "Bearer" || o["scope"] != "read:context" || o["expires_in"].(float64) > 600 || len(o) != 5 {
			t.Errorf("as %.9q: %s", as, a)
		}
		if got := w.hydrate(a.text("access_token"), "ses_x"); got.status != 200 {
			t.Errorf("hydrate: %s", got)
		}
	}
	if a := w.form(nobody, exchangePath, good...); a.object()["scope"] != "read:context write:notes" || a.object()["issued_token_type"] != tokenName {
		t.Errorf("without scope: %s", a)
	}
	with := func(name, value string) []string {
		out := slices.Clone(good)
		for i := 0; i < len(out); i += 2 {
			if out[i] == name {
				out[i+1] = value
				return out
			}
		}
		return append(out, name, value)
	}
	for _, tt := range []struct {
		name   string
		pairs  []string
		status int
		code   string
		field  string
	}{
		{"another grant", with("grant_type", "password"), 422, "validation_failed", "grant_type"},
		{"no token", with("subject_token", ""), 422, "validation_failed", "subject_token"},
		{"a key for a token", with("subject_token", w.keys[live]), 401, "invalid_token", ""},
		{"another kind", with("subject_token_type", "urn:ietf:params:oauth:token-type:saml2"), 422, "validation_failed", "subject_token_type"},
		{"wants another kind", with("requested_token_type", "urn:ietf:params:oauth:token-type:refresh_token"), 422, "validation_failed", "requested_token_type"},
		{"an actor", with("actor_token", "x"), 422, "validation_failed", "actor_token"},
		{"a resource", with("resource", "https://example.com"), 422, "validation_failed", "resource"},
		{"no audience", with("audience", ""), 422, "validation_failed", "audience"},
		{"audience twice", append(slices.Clone(good), "audience", "crewai.com"), 422, "validation_failed", "audience"},
		{"wider", with("scope", "read:context read:reasoning"), 403, "insufficient_scope", ""},
		{"no such scope", with("scope", "everything"), 422, "validation_failed", "scopes[0]"},
		{"not UTF-8", with("audience", "\xff"), 422, "validation_failed", "audience"},
	} {
		a := w.form(nobody, exchangePath, tt.pairs...)
		if a.status != tt.status || a.code() != tt.code || !strings.Contains(string(a.body), tt.field) {
			t.Errorf("%s: %s", tt.name, a)
		}
		if a.status == 403 && !strings.Contains(a.header.Get("WWW-Authenticate"), "insufficient_scope") {
			t.Errorf("%s: WWW-Authenticate is %q", tt.name, a.header.Get("WWW-Authenticate"))
		}
	}
	other := w.token("ses_x", "read:context session:hand_off")
	if a := w.form(other, exchangePath, good...); a.status != 422 {
		t.Errorf("two tokens: %s", a)
	}
	if a := w.call(nobody, "POST", exchangePath, "%zz=1", "Content-Type", "application/x-www-form-urlencoded"); a.code() != "bad_request" {
		t.Errorf("no form: %s", a)
	}
	if a := w.call(parent, "POST", exchangePath, "<x/>", "Content-Type", "application/xml"); a.status != 415 {
		t.Errorf("XML: %s", a)
	}
}

func TestExchangeRefusals(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_x")
	parent := w.token("ses_x", "read:context read:redacted write:notes session:hand_off", `"ttl_seconds":600`, `"max_hydrations":3`)
	plain := w.token("ses_x", "read:context")
	at := func(body string) scenario {
		return scenario{as: parent, method: "POST", path: exchangePath, body: body, status: 422, code: "validation_failed"}
	}
	list := []scenario{}
	add := func(name string, s scenario, status int, code string, has ...string) {
		s.name, s.status, s.code, s.has = name, status, code, has
		list = append(list, s)
	}
	const ok = `"audience":"crewai.com","scopes":["read:context"]`
	add("no scopes", at(`{"audience":"crewai.com"}`), 422, "validation_failed", "scopes")
	add("empty scopes", at(`{"audience":"crewai.com","scopes":[]}`), 422, "validation_failed", "scopes")
	add("null", at(`null`), 422, "validation_failed", "audience")
	add("unknown field", at(`{`+ok+`,"session_id":"ses_y"}`), 422, "validation_failed", "session_id")
	add("wrong type", at(`{"audience":1,"scopes":["read:context"]}`), 422, "validation_failed", "audience", "a number")
	add("twice", at(`{`+ok+`,"audience":"x.ai"}`), 400, "malformed_json")
	add("unknown audience", at(`{"audience":"stranger.example.com","scopes":["read:context"]}`), 422, "validation_failed", "audience")
	add("lives longer", at(`{`+ok+`,"ttl_seconds":3600}`), 422, "validation_failed", "ttl_seconds")
	add("more hydrations", at(`{`+ok+`,"max_hydrations":4}`), 422, "validation_failed", "max_hydrations")
	add("wider", at(`{"audience":"crewai.com","scopes":["read:transcript"]}`), 403, "insufficient_scope", "scopes[0]")
	add("read:redacted", at(`{"audience":"crewai.com","scopes":["read:redacted"]}`), 403, "forbidden")
	s := at(`{` + ok + `}`)
	s.as = plain
	add("without the right", s, 403, "insufficient_scope", "session:hand_off")
	s = at(`{` + ok + `}`)
	s.headers = []string{"Hodl-Audience", "x.ai"}
	add("names another", s, 403, "audience_mismatch")
	w.run(list)
	if n := len(w.records("exchange")); n != 0 {
		t.Errorf("%d exchanges are on record", n)
	}
	denied := map[any]bool{}
	for _, r := range w.records("denied") {
		denied[r["code"]] = true
	}
	if !denied["insufficient_scope"] || !denied["forbidden"] || !denied["audience_mismatch"] || denied["validation_failed"] {
		t.Errorf("denials on record: %v", denied)
	}
	for i := range hodl.MaxChildren + 1 {
		if a := w.exchange(parent, "crewai.com", "read:context"); (a.status == 200) != (i < hodl.MaxChildren) || a.status != 200 && a.code() != "conflict" {
			t.Errorf("child %d: %s", i+1, a)
		}
	}
	w.ok(live, "POST", "/v1/sessions/ses_x/archive", "")
	if a := w.exchange(parent, "crewai.com", "read:context"); a.code() != "token_revoked" {
		t.Errorf("of an archived session: %s", a)
	}
}

// However tokens are exchanged, nothing ever widens down a chain.
func TestAttenuation(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_x")
	random := rand.New(rand.NewPCG(8693, 4))
	for range 30 {
		first := w.mint("ses_x", "read:context read:reasoning read:transcript write:notes write:next_step session:hand_off",
			fmt.Sprintf(`"ttl_seconds":%d`, 60+random.IntN(3600)), fmt.Sprintf(`"max_hydrations":%d`, 1+random.IntN(9)))
		token, depth := first.text("token"), 0
		for range 8 {
			scopes, more := []string{"session:hand_off"}, []string{}
			for _, s := range hodl.Scopes {
				if random.IntN(2) == 0 && s != hodl.HandOff {
					scopes = append(scopes, string(s))
				}
			}
			if random.IntN(2) == 0 {
				more = append(more, fmt.Sprintf(`"ttl_seconds":%d`, 60+random.IntN(3600)))
			}
			if random.IntN(2) == 0 {
				more = append(more, fmt.Sprintf(`"max_hydrations":%d`, 1+random.IntN(9)))
			}
			a := w.exchange(token, hodl.Audiences[random.IntN(len(hodl.Audiences))], strings.Join(scopes, " "), more...)
			if a.status != 200 {
				continue
			}
			narrower(t, w.claimsOf(token), w.claimsOf(a.text("token")))
			token = a.text("token")
			depth++
		}
		if depth > hodl.MaxDepth || len(w.claimsOf(token).Actor.Chain()) != depth {
			t.Errorf("a chain of %d: %v", depth, w.claimsOf(token).Actor.Chain())
		}
	}
	deep := w.token("ses_x", "read:context session:hand_off")
	for i := range hodl.MaxDepth + 1 {
		a := w.exchange(deep, "crewai.com", "read:context session:hand_off")
		if (a.status == 200) != (i < hodl.MaxDepth) || i == hodl.MaxDepth && a.code() != "forbidden" {
			t.Errorf("exchange %d: %s", i+1, a)
		}
		if a.status == 200 {
			deep = a.text("token")
		}
	}
}

func narrower(t *testing.T, parent, child *hodl.Claims) {
	t.Helper()
	for _, s := range child.Scopes {
		if !parent.Has(s) || s == hodl.ReadRedacted {
			t.Errorf("%s came from %v", s, parent.Scopes)
		}
	}
	if child.Expires > parent.Expires || child.MaxHydrations > parent.MaxHydrations || child.RedactionPolicy != parent.RedactionPolicy ||
		child.Session != parent.Session || child.Subject != parent.Subject || child.Mode != parent.Mode {
		t.Errorf("%+v came from %+v", child, parent)
	}
	if !slices.Equal(child.Actor.Chain(), append([]string{parent.Audience}, parent.Actor.Chain()...)) {
		t.Errorf("the chain %v came from %s behind %v", child.Actor.Chain(), parent.Audience, parent.Actor.Chain())
	}
}

func TestIntrospect(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_x")
	parent := w.token("ses_x", "read:context session:hand_off", `"max_hydrations":4`)
	token := w.exchange(parent, "crewai.com", "read:context").text("token")
	w.ok(token, "POST", "/v1/sessions/ses_x/hydrate", "")
	const path = "/v1/resume_tokens/introspect"
	ask := func(as, token string) *answer { return w.call(as, "POST", path, `{"token":"`+token+`"}`) }
	inactive := func(name string, a *answer) {
		t.Helper()
		if a.status != 200 || strings.TrimSpace(string(a.body)) != `{"active":false}` {
			t.Errorf("%s: %s", name, a)
		}
	}
	colleague := hodl.UserID(w.NewID("usr"))
	w.must(w.AddMember(t.Context(), w.ws, colleague, "Second", hodl.Admin))
	w.keys["admin"] = w.key(w.ws, colleague, hodl.Live, "*")
	for _, as := range []string{live, "admin"} {
		o := ask(as, token).object()
		if o["active"] != true || o["scope"] != "read:context" || o["aud"] != "crewai.com" || o["hydrations_left"] != 3.0 || o["token_type"] != "Bearer" || o["act"].(object)["sub"] != "claude.anthropic.com" {
			t.Errorf("as %s: %v", as, o)
		}
	}
	if a := w.form(live, path, "token", token, "token_type_hint", "access_token"); a.object()["active"] != true {
		t.Errorf("by form: %s", a)
	}
	for _, as := range []string{sandbox, member, stranger} {
		inactive(as, ask(as, token))
	}
	inactive("garbage", ask(live, "a.b.c"))
	inactive("forged", ask(live, token[:len(token)-4]+"AAAA"))
	if a := w.call(live, "POST", path, `{}`); a.code() != "validation_failed" {
		t.Errorf("no token: %s", a)
	}
	w.ok(live, "POST", "/v1/resume_tokens/"+string(w.claimsOf(parent).ID)+"/revoke", "")
	inactive("below a revoked one", ask(live, token))
	brief := w.token("ses_x", "read:context", `"ttl_seconds":60`)
	w.clock.advance(2 * time.Minute)
	inactive("expired", ask(live, brief))
	last := w.token("ses_x", "read:context")
	w.ok(live, "POST", "/v1/sessions/ses_x/archive", "")
	inactive("archived", ask(live, last))
	for _, r := range w.records("denied") {
		t.Errorf("to ask is no use: %v", r)
	}
}

func TestRevokeAll(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_x")
	w.ok(member, "PUT", "/v1/sessions/ses_m", `{"title":"theirs"}`)
	theirs := func() string {
		return w.ok(member, "POST", "/v1/resume_tokens", `{"session_id":"ses_m","audience":"sdk.unihodl.app","scopes":["read:context"]}`).text("token")
	}
	const path = "/v1/resume_tokens/revoke"
	colleague := w.ok(member, "GET", "/v1/me", "")
	me := w.ok(live, "GET", "/v1/me", "")
	for _, tt := range []struct{ name, as, body, code string }{
		{"nothing", live, `{}`, "validation_failed"},
		{"two things", live, `{"session_id":"ses_x","all":true}`, "validation_failed"},
		{"a session that is not there", live, `{"session_id":"ses_none"}`, "not_found"},
		{"a colleague's session", member, `{"session_id":"ses_x"}`, "not_found"},
		{"a stranger's session", stranger, `{"session_id":"ses_x"}`, "not_found"},
		{"a colleague's key", member, `{"api_key_id":"` + me.text("key_id") + `"}`, "not_found"},
		{"a stranger's key", stranger, `{"api_key_id":"` + me.text("key_id") + `"}`, "not_found"},
		{"a colleague", member, `{"user_id":"` + me.text("user_id") + `"}`, "not_found"},
		{"nobody", live, `{"user_id":"usr_none"}`, "validation_failed"},
		{"nobody, by a member", member, `{"user_id":"usr_none"}`, "not_found"},
		{"a stranger, by an admin", stranger, `{"user_id":"` + me.text("user_id") + `"}`, "validation_failed"},
		{"everything, by a member", member, `{"all":true}`, "forbidden"},
		{"a reason too long", live, `{"all":true,"reason":"` + strings.Repeat("x", 1025) + `"}`, "validation_failed"},
	} {
		if a := w.call(tt.as, "POST", path, tt.body); a.code() != tt.code {
			t.Errorf("%s: %s", tt.name, a)
		}
	}
	for _, tt := range []struct{ name, as, body string }{
		{"my session", live, `{"session_id":"ses_x","reason":"leak"}`},
		{"my key", live, `{"api_key_id":"` + me.text("key_id") + `","reason":"leak"}`},
		{"me", live, `{"user_id":"` + me.text("user_id") + `","reason":"leak"}`},
		{"all", live, `{"all":true,"reason":"leak"}`},
		{"a colleague's session, by an admin", live, `{"session_id":"ses_m","reason":"leak"}`},
		{"a colleague, by an admin", live, `{"user_id":"` + colleague.text("user_id") + `","reason":"leak"}`},
		{"herself", member, `{"user_id":"` + colleague.text("user_id") + `","reason":"leak"}`},
	} {
		mine, other := w.token("ses_x", "read:context"), theirs()
		a := w.ok(tt.as, "POST", path, tt.body)
		if o := a.object(); o["revoked"] != true || o["reason"] != "leak" {
			t.Errorf("%s: %s", tt.name, a)
		}
		endsTheirs := strings.Contains(tt.body, "ses_m") || strings.Contains(tt.body, colleague.text("user_id"))
		endsAll := strings.Contains(tt.body, "all")
		if got := w.hydrate(mine, "ses_x"); (got.code() == "token_revoked") != (!endsTheirs || endsAll) {
			t.Errorf("%s: mine: %s", tt.name, got)
		}
		if got := w.hydrate(other, "ses_m"); (got.code() == "token_revoked") != (endsTheirs || endsAll) {
			t.Errorf("%s: theirs: %s", tt.name, got)
		}
		if got := w.hydrate(w.token("ses_x", "read:context"), "ses_x"); got.status != 200 {
			t.Errorf("%s: one minted after: %s", tt.name, got)
		}
	}
	if r := w.records("revoke")[0]; r["subject"] == nil || r["reason"] != "leak" {
		t.Errorf("the last is recorded as %v", r)
	}
}

func TestRevokedKeyEndsItsTokens(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_x")
	made := w.ok(live, "POST", "/v1/api_keys", `{"name":"leaked"}`)
	w.keys["leaked"] = made.text("key")
	token := w.ok("leaked", "POST", "/v1/resume_tokens", `{"session_id":"ses_x","audience":"sdk.unihodl.app","scopes":["read:context","session:hand_off"]}`).text("token")
	child := w.exchange(token, "crewai.com", "read:context").text("token")
	spared := w.token("ses_x", "read:context")
	w.ok(live, "POST", "/v1/api_keys/"+made.text("id")+"/revoke", "")
	for _, dead := range []string{token, child} {
		if got := w.hydrate(dead, "ses_x"); got.code() != "token_revoked" {
			t.Errorf("a token of a revoked key: %s", got)
		}
	}
	if got := w.hydrate(spared, "ses_x"); got.status != 200 {
		t.Errorf("a token of another key: %s", got)
	}
}

func TestWorkspaceLimits(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_x")
	w.capture("ses_y")
	w.must(w.SetLimits(t.Context(), w.ws, hodl.TokenLimits{TTL: 10 * time.Minute, MaxHydrations: 3, Hourly: 4}))
	c := w.claimsOf(w.token("ses_x", "read:context"))
	if c.Expires-c.IssuedAt != 600 || c.MaxHydrations != 3 {
		t.Errorf("what is left open is within the limits: %+v", c)
	}
	for field, value := range map[string]string{"ttl_seconds": "601", "max_hydrations": "4"} {
		a := w.call(live, "POST", "/v1/resume_tokens", `{"session_id":"ses_x","audience":"sdk.unihodl.app","scopes":["read:context"],"`+field+`":`+value+`}`)
		if a.code() != "validation_failed" || !strings.Contains(string(a.body), field) {
			t.Errorf("%s %s: %s", field, value, a)
		}
	}
	for i := range 5 {
		a := w.hydrate(w.token("ses_x", "read:context"), "ses_x")
		if (a.status == 200) != (i < 4) || i == 4 && (a.code() != "quota_exceeded" || a.header.Get("Retry-After") != "3600") {
			t.Errorf("hydration %d of 4 an hour: %s, Retry-After %s", i+1, a, a.header.Get("Retry-After"))
		}
	}
	if a := w.hydrate(w.token("ses_y", "read:context"), "ses_y"); a.status != 200 {
		t.Errorf("another session: %s", a)
	}
	w.clock.advance(time.Hour)
	if a := w.hydrate(w.token("ses_x", "read:context"), "ses_x"); a.status != 200 {
		t.Errorf("an hour later: %s", a)
	}
}
