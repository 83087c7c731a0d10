package httpapi_test

import (
	"strings"
	"testing"

	"hodl"
)

// A route is one operation: a request that succeeds for whom it is meant.
type route struct{ method, path, body string }

// keyRoutes are the routes an API key opens. {ses}, {hdl}, {jti}, {acr}, {key}, {aud}, {pol}
// and {fp} stand for what is the live key's own.
var keyRoutes = []route{
	{"POST", "/v1/hodls", `{"title":"x"}`},
	{"POST", "/v1/hodls/batch", `{"hodls":[{"title":"x"}]}`},
	{"POST", "/v1/hodls/import", `{"title":"z"}`},
	{"GET", "/v1/hodls/export", ""},
	{"GET", "/v1/hodls/check?url=https://example.com", ""},
	{"GET", "/v1/tags", ""},
	{"GET", "/v1/hodls", ""},
	{"GET", "/v1/hodls/latest", ""},
	{"GET", "/v1/hodls/{hdl}", ""},
	{"PATCH", "/v1/hodls/{hdl}", `{"title":"y"}`},
	{"POST", "/v1/hodls/{hdl}/resume", ""},
	{"POST", "/v1/hodls/{hdl}/restore", ""},
	{"POST", "/v1/hodl", `{"title":"x"}`},
	{"POST", "/v1/sessions", `{"title":"x"}`},
	{"PUT", "/v1/sessions/{ses}", `{"title":"y"}`},
	{"GET", "/v1/sessions", ""},
	{"GET", "/v1/sessions/{ses}", ""},
	{"GET", "/v1/sessions/{ses}/content", ""},
	{"GET", "/v1/sessions/{ses}/versions", ""},
	{"GET", "/v1/sessions/{ses}/versions/{fp}", ""},
	{"GET", "/v1/sessions/{ses}/diff", ""},
	{"POST", "/v1/sessions/{ses}/fork", `{}`},
	{"POST", "/v1/sessions/{ses}/resume", ""},
	{"POST", "/v1/resume_tokens", `{"session_id":"{ses}","audience":"sdk.unihodl.app","scopes":["read:context"]}`},
	{"GET", "/v1/resume_tokens", ""},
	{"GET", "/v1/resume_tokens/{jti}", ""},
	{"POST", "/v1/resume_tokens/{jti}/revoke", `{}`},
	{"POST", "/v1/resume_tokens/introspect", `{"token":"a.b.c"}`},
	{"POST", "/v1/resume_tokens/revoke", `{"session_id":"{ses}"}`},
	{"POST", "/v1/audiences", `{"name":"b.example.com"}`},
	{"GET", "/v1/audiences", ""},
	{"GET", "/v1/audiences/{aud}", ""},
	{"PATCH", "/v1/audiences/{aud}", `{"description":"y"}`},
	{"GET", "/v1/redaction_policies", ""},
	{"PUT", "/v1/redaction_policies/{pol}", `{"extends":"balanced"}`},
	{"GET", "/v1/redaction_policies/{pol}", ""},
	{"GET", "/v1/redaction_policies/{pol}/versions", ""},
	{"POST", "/v1/redaction_policies/{pol}/rollback", `{"version":1}`},
	{"POST", "/v1/redaction_policies/{pol}/preview", `{"session_id":"{ses}"}`},
	{"POST", "/v1/redaction_policies/{pol}/use", ""},
	{"POST", "/v1/redaction_policies/balanced/use", ""},
	{"DELETE", "/v1/redaction_policies/{pol}", ""},
	{"GET", "/v1/access_records", ""},
	{"GET", "/v1/access_records/{acr}", ""},
	{"GET", "/v1/access_records/{acr}/proof", ""},
	{"GET", "/v1/access_records/export", ""},
	{"GET", "/v1/workspaces/{wks}/log/checkpoint", ""},
	{"GET", "/v1/workspaces/{wks}/log/tile/entries/000.p/1", ""},
	{"GET", "/v1/workspaces/{wks}/log/keys", ""},
	{"GET", "/v1/workspaces/{wks}/log/anchors", ""},
	{"GET", "/v1/workspaces/{wks}/log/sandbox/checkpoint", ""},
	{"GET", "/v1/workspaces/{wks}/log/sandbox/keys", ""},
	{"GET", "/v1/workspaces/{wks}/log/sandbox/anchors", ""},
	{"POST", "/v1/api_keys", `{"name":"x"}`},
	{"GET", "/v1/api_keys", ""},
	{"GET", "/v1/api_keys/{key}", ""},
	{"PATCH", "/v1/api_keys/{key}", `{"name":"y"}`},
	{"POST", "/v1/api_keys/{key}/rotate", `{}`},
	{"GET", "/v1/members", ""},
	{"POST", "/v1/members", `{"name":"x"}`},
	{"GET", "/v1/members/{usr}", ""},
	{"PATCH", "/v1/members/{usr}", `{"name":"y"}`},
	{"GET", "/v1/workspaces", ""},
	{"POST", "/v1/workspaces", `{"name":"x"}`},
	{"GET", "/v1/workspaces/{wks}", ""},
	{"PATCH", "/v1/workspaces/{wks}", `{"name":"y"}`},
	{"GET", "/v1/me", ""},
	{"GET", "/v1/usage", ""},
	{"POST", "/v1/sessions/{ses}/archive", ""},
	{"POST", "/v1/sessions/{ses}/restore", ""},
	{"DELETE", "/v1/hodls/{hdl}", ""},
	{"DELETE", "/v1/sessions/{ses}", ""},
	{"DELETE", "/v1/audiences/{aud}", ""},
	{"POST", "/v1/api_keys/{key}/revoke", ""},
	{"DELETE", "/v1/members/{usr}", ""},
}

var tokenRoutes = []route{
	{"POST", "/v1/sessions/{ses}/hydrate", ""},
	{"POST", "/v1/sessions/{ses}/notes", `{"body":"x"}`},
	{"POST", "/v1/sessions/{ses}/reasoning_nodes", `{"id":"n9","kind":"question","text":"why"}`},
	{"PUT", "/v1/sessions/{ses}/next_step", `{"text":"go on"}`},
	{"POST", "/v1/resume_tokens/exchange", `{"audience":"agents.openai.com","scopes":["read:context"]}`},
}

// owned makes one of everything with the live key and returns what stands for it.
func (w *world) owned() *strings.Replacer {
	w.t.Helper()
	captured := w.capture("ses_owned")
	hodl := w.ok(live, "POST", "/v1/hodls", `{"title":"canary hodl","url":"https://example.com/owned","tags":["canary"],"session_id":"ses_owned"}`)
	minted := w.mint("ses_owned", "read:context")
	key := w.ok(live, "POST", "/v1/api_keys", `{"name":"canary key"}`)
	audience := w.ok(live, "POST", "/v1/audiences", `{"name":"canary.example.com"}`)
	w.ok(live, "PUT", "/v1/redaction_policies/canary", `{"classes":{"pii":"keep"}}`)
	record := w.records("mint")[0]
	guest := w.ok(live, "POST", "/v1/members", `{"name":"canary member"}`)
	return strings.NewReplacer("{ses}", "ses_owned", "{fp}", captured.text("fingerprint"), "{hdl}", hodl.text("id"),
		"{pol}", "canary", "{jti}", minted.text("jti"), "{acr}", record["id"].(string), "{key}", key.text("id"), "{aud}", audience.text("id"), "{wks}", string(w.ws), "{usr}", guest.text("user_id"))
}

func TestEveryOperationIsInTheMatrix(t *testing.T) {
	listed := map[string]bool{
		"POST /v1/sessions/{id}/hold":    true, // needs an open session; see the states
		"POST /v1/sessions/{id}/handoff": true, // needs a confirmation; see the hand-off
		"POST /v1/members/join":          true, // needs an invitation; see the members
		"POST /v1/members/{id}/erase":    true, // needs one who was removed; see the erasure

		"GET /v1/workspaces/{id}/log/sandbox/tile/{tile}": true, // needs a record of the sandbox; see the log
	}
	for _, r := range append(keyRoutes, tokenRoutes...) {
		path := strings.NewReplacer("{ses}", "{id}", "{hdl}", "{id}", "{acr}", "{id}", "{key}", "{id}", "{aud}", "{id}", "{usr}", "{id}", "{wks}", "{id}", "{pol}", "{name}", "/balanced/", "/{name}/", "{fp}", "{fingerprint}", "entries/000.p/1", "{tile}").Replace(r.path)
		path, _, _ = strings.Cut(path, "?")
		listed[r.method+" "+path] = true
	}
	for path, item := range document(t)["paths"].(object) {
		for method := range item.(object) {
			if at := strings.ToUpper(method) + " " + path; !listed[at] {
				t.Errorf("%s is not in the matrix: add it", at)
			}
		}
	}
}

func TestKeyRoutesWantAKey(t *testing.T) {
	w := newWorld(t)
	names := w.owned()
	token := w.token("ses_owned", "read:context write:notes write:next_step session:hand_off")
	for _, r := range keyRoutes {
		path, body := names.Replace(r.path), names.Replace(r.body)
		w.run([]scenario{
			{name: "no credentials", as: nobody, method: r.method, path: path, body: body, status: 401, code: "missing_credentials", hasNot: []string{"canary"}},
			{name: "garbage", as: "garbage", method: r.method, path: path, body: body, status: 401, code: "invalid_key", hasNot: []string{"canary"}},
			{name: "a resume token", as: token, method: r.method, path: path, body: body, status: 401, code: "invalid_key", has: []string{"takes an API key", "/hydrate"}, hasNot: []string{"canary"}},
			{name: "another scheme", as: nobody, method: r.method, path: path, body: body, headers: []string{"Authorization", "Basic " + w.keys[live]}, status: 401, code: "missing_credentials"},
		})
	}
	for _, r := range keyRoutes {
		if a := w.call(live, r.method, names.Replace(r.path), names.Replace(r.body)); a.status >= 300 {
			t.Errorf("%s %s with the live key: %s", r.method, r.path, a)
		}
	}
}

func TestTokenRoutesWantAToken(t *testing.T) {
	w := newWorld(t)
	names := w.owned()
	token := w.token("ses_owned", "read:context write:notes write:next_step session:hand_off")
	for _, r := range tokenRoutes {
		path := names.Replace(r.path)
		w.run([]scenario{
			{name: "no credentials", as: nobody, method: r.method, path: path, body: r.body, status: 401, code: "missing_credentials"},
			{name: "garbage", as: "garbage", method: r.method, path: path, body: r.body, status: 401, code: "invalid_token", hasNot: []string{"canary"}},
			{name: "a key", as: live, method: r.method, path: path, body: r.body, status: 401, code: "invalid_token", has: []string{"takes a resume token", "POST /v1/resume_tokens"}, hasNot: []string{"canary"}},
			{name: "garbage in three parts", as: "a.b.c", method: r.method, path: path, body: r.body, status: 401, code: "invalid_token", hasNot: []string{"canary"}},
			{name: "a forged signature", as: token[:len(token)-8] + "AAAAAAAA", method: r.method, path: path, body: r.body, status: 401, code: "invalid_token", hasNot: []string{"canary"}},
			{name: "the token", as: token, method: r.method, path: path, body: r.body, status: 200},
		})
	}
}

// A session id is taken within a workspace and mode, and nowhere else.
func TestSessionIDsOfOthers(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_owned")
	w.run([]scenario{
		{name: "a colleague", as: member, method: "PUT", path: "/v1/sessions/ses_owned", body: `{"title":"mine"}`, status: 409, code: "conflict", hasNot: []string{"cache"}},
		{name: "a stranger", as: stranger, method: "PUT", path: "/v1/sessions/ses_owned", body: `{"title":"mine"}`, status: 200},
		{name: "the sandbox", as: sandbox, method: "PUT", path: "/v1/sessions/ses_owned", body: `{"title":"mine"}`, status: 200},
		{name: "a colleague's hodl", as: member, method: "POST", path: "/v1/hodls", body: `{"title":"x","session_id":"ses_owned"}`, status: 422, code: "validation_failed", has: []string{"session_id"}},
		{name: "the first", as: live, method: "GET", path: "/v1/sessions/ses_owned", status: 200, has: []string{"the cache bug"}},
	})
}

// A key does what its scopes say.
func TestKeyScopes(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_owned")
	w.keys["reader"] = w.key(w.ws, w.user, hodl.Live, "sessions:read")
	w.keys["writer"] = w.key(w.ws, w.user, hodl.Live, "sessions:write")
	w.run([]scenario{
		{name: "reads", as: "reader", method: "GET", path: "/v1/sessions/ses_owned", status: 200},
		{name: "writes", as: "reader", method: "PUT", path: "/v1/sessions/ses_owned", body: `{}`, status: 403, code: "insufficient_scope", has: []string{"sessions:write"}},
		{name: "reads what it writes", as: "writer", method: "GET", path: "/v1/sessions/ses_owned", status: 200},
		{name: "writes", as: "writer", method: "POST", path: "/v1/sessions/ses_owned/archive", status: 200},
		{name: "mints", as: "writer", method: "POST", path: "/v1/resume_tokens", body: `{}`, status: 403, code: "insufficient_scope"},
		{name: "sees itself", as: "reader", method: "GET", path: "/v1/me", status: 200, has: []string{`"sessions:read"`}},
	})
}
