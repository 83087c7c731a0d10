package httpapi_test

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"hodl"
)

// A probe is a request for what is somebody else's. It is sent twice, once naming
// their things and once things that never were: nobody may tell the answers apart.
type probe struct {
	route
	headers []string
}

// plain are the operations that keyRoutes and tokenRoutes leave out.
var plain = []route{
	{"POST", "/v1/sessions/{ses}/hold", ""},
	{"POST", "/v1/sessions/{ses}/handoff", `{"audience":"crewai.com","scopes":["read:context"]}`},
	{"POST", "/v1/members/join", ""},
	{"POST", "/v1/members/{usr}/erase", `{}`},
	{"GET", "/v1/workspaces/{wks}/log/sandbox/tile/entries/000.p/1", ""},
}

// values is what to send in each query parameter and header of the document: {…}
// where it can name something.
var values = map[string][]string{
	"session_id": {"{ses}"}, "jti": {"{jti}"}, "actor": {"{key}"}, "user": {"{usr}"}, "from": {"{fp}"}, "to": {"{fp}"},
	"q": {"{word}", "-nothing {word}", "is:deleted", "tag:{tag}", "url:{url}"}, "tag": {"{tag}"}, "prefix": {"{tag}"}, "url": {"https://{url}"}, "cursor": {"{cursor}"},
	"limit": {"1", "100"}, "since": {"2020-01-01T00:00:00Z", "{acr}"}, "until": {"2030-01-01T00:00:00Z"}, "version": {"1"}, "source": {"rest"}, "kind": {"mint"}, "status": {"active"},
	"max_tokens": {"1200"}, "include": {"{acr}e1"}, "mode": {"live"}, "by": {"member"}, "format": {},

	"If-Match": {`"{fp}"`, `"{version}"`}, "Idempotency-Key": {}, "Hodl-Audience": {}, "DPoP": {}, "Accept": {}, "Content-Type": {},
	"X-Unihodl-Format": {}, "X-Unihodl-StepUp": {},
}

// named are the bodies that name something, by the operation and the member that
// does; nil where what it names is the caller's own by its nature.
var named = map[string][]string{
	"POST /v1/hodls session_id":                             {`{"title":"x","session_id":"{ses}"}`},
	"POST /v1/hodls/batch session_id":                       {`{"hodls":[{"title":"x","session_id":"{ses}"}]}`},
	"PATCH /v1/hodls/{id} session_id":                       {`{"session_id":"{ses}"}`},
	"POST /v1/hodl session_id":                              {`{"title":"x","session_id":"{tak}"}`, `{"url":"https://example.com","session_id":"{tak}"}`},
	"POST /v1/hodl hodl_ids":                                {`{"title":"x","tabs":[],"hodl_ids":["{hdl}"]}`},
	"POST /v1/sessions session_id":                          {`{"title":"x","session_id":"{tak}"}`},
	"POST /v1/sessions hodl_ids":                            {`{"title":"x","hodl_ids":["{hdl}"]}`},
	"PUT /v1/sessions/{id} session_id":                      {`{"title":"x","session_id":"{tak}"}`},
	"PUT /v1/sessions/{id} hodl_ids":                        {`{"title":"x","hodl_ids":["{hdl}"]}`},
	"POST /v1/resume_tokens session_id":                     {`{"session_id":"{ses}","audience":"sdk.unihodl.app","scopes":["read:context"]}`},
	"POST /v1/resume_tokens/revoke session_id":              {`{"session_id":"{ses}"}`},
	"POST /v1/resume_tokens/revoke api_key_id":              {`{"api_key_id":"{key}"}`},
	"POST /v1/resume_tokens/revoke user_id":                 {`{"user_id":"{usr}"}`},
	"POST /v1/resume_tokens/introspect token":               {`{"token":"{signed}"}`},
	"POST /v1/resume_tokens/exchange subject_token":         nil, // the credential itself
	"POST /v1/redaction_policies/{name}/preview session_id": {`{"session_id":"{ses}"}`},
	"POST /v1/sessions/{id}/handoff delegator_user_id":      {`{"audience":"crewai.com","scopes":["read:context"],"delegator_user_id":"{usr}"}`},
}

// victim is a user with one of everything: the text of what is hers alone holds
// "canary", that of what is her workspace's "kanari".
type victim struct {
	*world
	names map[string]string // what stands for {…}
}

func newVictim(w *world) *victim {
	w.t.Helper()
	session := strings.NewReplacer("the cache bug", "canary title", "a race", "canary summary", `"go"`, `"canaryword"`).Replace(fullSession)
	captured := w.ok(live, "PUT", "/v1/sessions/ses_owned", session)
	w.ok(live, "PUT", "/v1/sessions/ses_taken", session)
	hodl := w.ok(live, "POST", "/v1/hodls", `{"title":"canary hodl","note":"canarynote","url":"https://example.com/its-address","tags":["canarytag"],"session_id":"ses_owned"}`)
	w.ok(live, "POST", "/v1/hodls", `{"title":"canary second","session_id":"ses_owned"}`)
	minted := w.mint("ses_owned", "read:context read:reasoning write:notes")
	w.mint("ses_owned", "read:context")
	w.hydrate(minted.text("token"), "ses_owned")
	key := w.ok(live, "POST", "/v1/api_keys", `{"name":"kanari key"}`)
	w.ok(live, "PUT", "/v1/redaction_policies/owners-policy", `{"allow":[{"value":"kanari allowance"}]}`)
	w.ok(live, "PATCH", "/v1/workspaces/"+string(w.ws), `{"name":"kanari"}`)
	return &victim{w, map[string]string{
		"{ses}": "ses_owned", "{tak}": "ses_taken", "{fp}": captured.text("fingerprint"), "{hdl}": hodl.text("id"), "{version}": strings.Trim(hodl.header.Get("ETag"), `"`),
		"{jti}": minted.text("jti"), "{signed}": minted.text("token"), "{acr}": w.records("mint")[0]["id"].(string), "{key}": key.text("id"), "{wks}": string(w.ws),
		"{aud}":  w.ok(live, "POST", "/v1/audiences", `{"name":"kanari.example.com"}`).text("id"),
		"{usr}":  w.ok(live, "POST", "/v1/members", `{"name":"kanari member"}`).text("user_id"),
		"{pol}":  "owners-policy",
		"{word}": "canarynote", "{tag}": "canarytag", "{url}": "example.com/its-address",
	}}
}

// never is a name of the same form and length that nobody ever had.
func never(name string) string {
	const tail = 4
	return name[:len(name)-tail] + strings.Repeat("0", tail)
}

func (v *victim) theirs() *strings.Replacer {
	return v.replacer(func(name string) string { return name })
}
func (v *victim) nobodys() *strings.Replacer { return v.replacer(never) }

func (v *victim) replacer(as func(string) string) *strings.Replacer {
	var pairs []string
	for mark, name := range v.names {
		pairs = append(pairs, mark, as(name))
	}
	return strings.NewReplacer(pairs...)
}

// told replaces the names that were sent by those that never were.
func (v *victim) told(sent, answer string) string {
	var pairs []string
	for mark, name := range v.names {
		if strings.Contains(sent, mark) {
			pairs = append(pairs, name, never(name))
		}
	}
	return mask(strings.NewReplacer(pairs...).Replace(answer))
}

// mask takes the ids out of an answer that the server made for it.
func mask(answer string) string { return madeID.ReplaceAllString(answer, "ses_made") }

var madeID = regexp.MustCompile(`ses_[0-9A-Z]{26}`)

// sees reports whether something of the victim's is there for who by right.
func sees(who, mark string) bool {
	switch mark {
	case "{wks}", "{usr}":
		return who != stranger
	case "{aud}", "{pol}":
		return who == member
	case "{key}":
		return who == sandbox // the same person's
	case "{tak}":
		return who == member // an id is taken in all of a workspace
	}
	return false
}

// Of every operation, in every way a request can name a thing: what is others' looks
// like what never was, and no byte of it shows.
func TestIsolation(t *testing.T) { onEachEngine(t, isolation) }

func isolation(w *world) {
	v := newVictim(w)
	own := map[string]string{}
	for i, who := range []string{sandbox, member, stranger} {
		id := "ses_mine" + strconv.Itoa(i)
		w.ok(who, "PUT", "/v1/sessions/"+id, `{"title":"mine"}`)
		own["{own} "+who] = id
		own["{ownhdl} "+who] = w.ok(who, "POST", "/v1/hodls", `{"title":"mine"}`).text("id")
		w.keys["token of "+who] = w.ok(who, "POST", "/v1/resume_tokens", `{"session_id":"`+id+`","audience":"sdk.unihodl.app","scopes":["read:context","write:notes","write:next_step","session:hand_off"]}`).text("token")
	}
	before := v.all()
	list := probes(w.t)
	for _, p := range list {
		for _, who := range []string{sandbox, member, stranger} {
			mine := strings.NewReplacer("{own}", own["{own} "+who], "{ownhdl}", own["{ownhdl} "+who])
			v.try(who, p, mine)
		}
	}
	w.run([]scenario{{name: "a sandbox key ends a live key", as: sandbox, method: "POST", path: v.theirs().Replace("/v1/api_keys/{key}/revoke"), status: 404, code: "not_found"}})
	w.t.Logf("%d probes, by three callers: %s", len(list), kinds(w.t, list))
	if after := v.all(); after != before {
		w.t.Errorf("others changed it: %s\nwas\n%s", after, before)
	}
}

// kinds counts the probes by the way they reach for what is others', and fails for a
// way that none takes. Idempotency keys have tests of their own.
func kinds(t *testing.T, list []probe) string {
	ways := []struct{ name, in string }{
		{"id", `^\S+/\{(ses|hdl|jti|acr|key|aud|usr|wks|pol)\}`},
		{"id in a body", `"\w+":\[?"\{\w+\}`},
		{"filter", `[?&](tag|session_id|jti|actor|user|url|prefix|since)=`},
		{"cursor", `cursor=\{cursor\}`},
		{"search", `[?&]q=`},
		{"export", `/export`},
		{"import", `/import `},
		{"version", `\{fp\}|\{version\}|/versions|[?&]version=`},
	}
	var out []string
	for _, way := range ways {
		n := 0
		for _, p := range list {
			if regexp.MustCompile(way.in).MatchString(p.path + " " + p.body + " " + strings.Join(p.headers, " ")) {
				n++
			}
		}
		if n == 0 {
			t.Errorf("no probe by %s", way.name)
		}
		out = append(out, fmt.Sprintf("%d by %s", n, way.name))
	}
	return strings.Join(out, ", ")
}

// all is what the victim has.
func (v *victim) all() string {
	var out strings.Builder
	for _, path := range []string{
		"/v1/sessions", "/v1/sessions/{ses}", "/v1/sessions/{ses}/content", "/v1/sessions/{ses}/versions", "/v1/sessions/{tak}/content", "/v1/hodls?limit=100", "/v1/hodls/{hdl}",
		"/v1/hodls/export", "/v1/tags", "/v1/resume_tokens", "/v1/resume_tokens/{jti}", "/v1/audiences/{aud}", "/v1/api_keys/{key}", "/v1/members/{usr}", "/v1/workspaces/{wks}", "/v1/redaction_policies", "/v1/redaction_policies/{pol}/versions", "/v1/access_records?limit=100",
	} {
		out.Write(v.ok(live, "GET", v.theirs().Replace(path), "").body)
	}
	return out.String()
}

// try sends a probe as someone.
func (v *victim) try(who string, p probe, mine *strings.Replacer) {
	t := v.t
	text := p.path + p.body + strings.Join(p.headers, " ")
	for mark := range v.names {
		if strings.Contains(text, mark) && sees(who, mark) {
			return
		}
	}
	as := who
	if byAgents(p.route) {
		as = "token of " + who
	}
	send := func(names *strings.Replacer, cursor string) *answer {
		v.clock.advance(time.Second) // so that nobody goes too fast
		put := func(s string) string { return mine.Replace(names.Replace(strings.ReplaceAll(s, "{cursor}", cursor))) }
		headers := []string{"X-Unihodl-StepUp", strconv.FormatInt(v.Now().Unix(), 10)}
		for _, h := range p.headers {
			headers = append(headers, put(h))
		}
		return v.call(as, p.method, put(p.path), put(p.body), headers...)
	}
	cursor := ""
	if strings.Contains(p.path, "{cursor}") {
		first := v.call(live, "GET", strings.ReplaceAll(v.theirs().Replace(p.path), "cursor={cursor}", "limit=1"), "")
		cursor, _ = first.object()["next_cursor"].(string)
	}
	there := send(v.theirs(), cursor)
	at := fmt.Sprintf("%s %s %s %s with %s", p.method, p.path, p.body, p.headers, who)
	v.shows(at, who, text, there)
	if v.theirs().Replace(text) == text {
		return // it names nothing
	}
	absent := send(v.nobodys(), cursor)
	if there.status != absent.status {
		t.Errorf("%s: %s is told from %s", at, there, absent)
		return
	}
	if byID := strings.Contains(p.path, "{") && !strings.Contains(p.path, "?") && !strings.Contains(p.path, "{own") && !strings.Contains(p.path, "{tak}"); byID && there.code() != "not_found" {
		t.Errorf("%s: %s; want not_found", at, there)
	}
	if p.method != "GET" && there.status < 300 {
		return // it made something of the caller's own
	}
	if got := v.told(text, string(there.body)); got != mask(string(absent.body)) {
		t.Errorf("%s:\n%s is told from\n%s", at, got, absent.body)
	}
	if got := v.told(text, headersOf(there)); got != mask(headersOf(absent)) {
		t.Errorf("%s:\n%s is told from\n%s", at, got, headersOf(absent))
	}
}

// shows fails for a byte of what is the victim's in an answer.
func (v *victim) shows(at, who, sent string, a *answer) {
	v.t.Helper()
	all := append([]byte(headersOf(a)), a.body...)
	if bytes.Contains(all, []byte("canary")) || who == stranger && bytes.Contains(all, []byte("kanari")) {
		v.t.Errorf("%s shows: %s", at, a)
	}
	if a.header.Get("Idempotency-Replayed") != "" {
		v.t.Errorf("%s is told what another was: %s", at, a)
	}
	for mark, name := range v.names {
		if mark == "{tak}" || strings.Contains(sent, mark) || sees(who, mark) {
			continue // a session of that id may be the caller's own by now
		}
		if bytes.Contains(all, []byte(name)) {
			v.t.Errorf("%s names %s: %s", at, mark, a)
		}
	}
}

// headersOf is the headers that may not differ.
func headersOf(a *answer) string {
	h := a.header.Clone()
	for _, name := range []string{"X-Request-Id", "Date", "RateLimit"} {
		h.Del(name)
	}
	var out strings.Builder
	_ = h.Write(&out) // to memory
	return out.String()
}

// A key takes effect once for whoever sent it, and tells others nothing of what it
// was sent with: an API key, or a resume token.
func TestIdempotencyKeysOfOthers(t *testing.T) { onEachEngine(t, idempotencyKeysOfOthers) }

func idempotencyKeysOfOthers(w *world) {
	names := w.owned()
	for i, r := range keyRoutes {
		if r.method == http.MethodGet {
			continue
		}
		w.sameKey(live, r, names, "of-"+strconv.Itoa(i), sandbox, member, stranger)
	}
}

func TestIdempotencyKeysOfOtherTokens(t *testing.T) { onEachEngine(t, idempotencyKeysOfOtherTokens) }

// The tokens are of her session, a sibling's among them, and of sessions of others
// that have the same id where they can.
func idempotencyKeysOfOtherTokens(w *world) {
	names := w.owned()
	body := `{"session_id":"ses_owned","audience":"sdk.unihodl.app","scopes":["` + strings.ReplaceAll(agentScopes, " ", `","`) + `"]}`
	w.keys["hers"], w.keys["a sibling"] = w.token("ses_owned", agentScopes), w.token("ses_owned", agentScopes)
	for _, who := range []string{sandbox, stranger} {
		w.ok(who, "PUT", "/v1/sessions/ses_owned", fullSession)
		w.keys["token of "+who] = w.ok(who, "POST", "/v1/resume_tokens", body).text("token")
	}
	w.ok(member, "PUT", "/v1/sessions/ses_members", fullSession)
	w.keys["token of "+member] = w.ok(member, "POST", "/v1/resume_tokens", strings.ReplaceAll(body, "ses_owned", "ses_members")).text("token")
	for i, r := range tokenRoutes {
		w.sameKey("hers", r, names, "of-"+strconv.Itoa(i), "a sibling", "token of "+sandbox, "token of "+member, "token of "+stranger, live, stranger)
	}
}

// sameKey sends one request under one idempotency key, first as one caller, then as
// others.
func (w *world) sameKey(as string, r route, names *strings.Replacer, key string, others ...string) {
	w.t.Helper()
	path, body := names.Replace(r.path), names.Replace(r.body)
	hers := w.call(as, r.method, path, body, keyHeader, key)
	for _, who := range others {
		w.clock.advance(time.Second)
		a := w.call(who, r.method, path, body, keyHeader, key)
		if a.header.Get(replayedHeader) != "" || a.code() == string(hodl.IdempotencyMismatch) || a.status < 300 && bytes.Equal(a.body, hers.body) && a.header.Get("Location") != "" {
			w.t.Errorf("%s %s with %s: %s; she was told %s", r.method, path, who, a, hers)
		}
	}
}
