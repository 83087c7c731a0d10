package httpapi_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hodl"
)

// invite makes a member, who joins and is then called name.
func (w *world) invite(name, role string) (user string) {
	w.t.Helper()
	a := w.ok(live, "POST", "/v1/members", `{"name":"`+name+`","role":"`+role+`"}`)
	w.keys["invitation"] = a.text("invitation")
	w.keys[name] = w.ok("invitation", "POST", "/v1/members/join", "").text("key")
	return a.text("user_id")
}

// Who may call what, by role and mode.
func TestRoles(t *testing.T) {
	w := newWorld(t)
	who := "/v1/members/" + w.invite("Ada", "member")
	w.keys["an admin's sandbox key"] = w.keys[sandbox]
	for _, r := range []route{
		{"POST", "/v1/members", `{"name":"x"}`},
		{"PATCH", who, `{"name":"Ada L"}`},
		{"PATCH", "/v1/workspaces/" + string(w.ws), `{"name":"new"}`},
		{"POST", "/v1/workspaces", `{"name":"mine"}`},
		{"DELETE", who, ""},
	} {
		at := r.method + " " + r.path
		w.run([]scenario{
			{name: at + " by a member", as: member, method: r.method, path: r.path, body: r.body, status: 403, code: "forbidden"},
			{name: at + " by oneself", as: "Ada", method: r.method, path: r.path, body: r.body, status: 403, code: "forbidden"},
			{name: at + " by a sandbox key", as: sandbox, method: r.method, path: r.path, body: r.body, status: 403, code: "forbidden"},
		})
		if a := w.call(stranger, r.method, r.path, r.body); strings.Contains(r.path, "_") && a.status != 404 {
			t.Errorf("%s by another workspace's admin: %s", at, a)
		}
		if a := w.call(live, r.method, r.path, r.body); a.status >= 300 {
			t.Errorf("%s by an admin: %s", at, a)
		}
	}
	for _, path := range []string{"/v1/access_records?user=all", "/v1/access_records?user=" + string(w.user), "/v1/usage?by=member", "/v1/api_keys?user=all"} {
		w.run([]scenario{
			{name: path + " by a member", as: member, method: "GET", path: path, status: 403, code: "forbidden"},
			{name: path + " by an admin", as: live, method: "GET", path: path, status: 200},
		})
	}
}

func TestMembers(t *testing.T) {
	w := newWorld(t)
	ada := w.invite("Ada", "member")
	w.run([]scenario{
		{name: "who she is", as: "Ada", method: "GET", path: "/v1/me", status: 200, has: []string{`"name":"Ada"`, ada, `"role":"member"`}},
		{name: "an invitation twice", as: "invitation", method: "POST", path: "/v1/members/join", status: 401, code: "invalid_key"},
		{name: "a key is no invitation", as: "Ada", method: "POST", path: "/v1/members/join", status: 403, code: "forbidden"},
		{name: "the list", as: "Ada", method: "GET", path: "/v1/members", status: 200, has: []string{ada, string(w.user)}},
		{name: "a stranger's list", as: stranger, method: "GET", path: "/v1/members", status: 200, hasNot: []string{ada}},
		{name: "the last admin steps down", as: live, method: "PATCH", path: "/v1/members/" + string(w.user), body: `{"role":"member"}`, status: 409, code: "conflict"},
		{name: "the last admin leaves", as: live, method: "DELETE", path: "/v1/members/" + string(w.user), status: 409, code: "conflict"},
		{name: "a role there is not", as: live, method: "PATCH", path: "/v1/members/" + ada, body: `{"role":"owner"}`, status: 422, code: "validation_failed", has: []string{"role"}},
		{name: "no name", as: live, method: "POST", path: "/v1/members", body: `{"name":""}`, status: 422, code: "validation_failed", has: []string{"name"}},
		{name: "promoted", as: live, method: "PATCH", path: "/v1/members/" + ada, body: `{"role":"admin"}`, status: 200},
		{name: "at once", as: "Ada", method: "GET", path: "/v1/usage?by=member", status: 200, has: []string{ada}},
		{name: "now the other may step down", as: live, method: "PATCH", path: "/v1/members/" + string(w.user), body: `{"role":"member"}`, status: 200},
	})
	w.keys["late"] = w.ok("Ada", "POST", "/v1/members", `{"name":"Late"}`).text("invitation")
	w.run([]scenario{
		{name: "an invitation opens nothing else", as: "late", method: "GET", path: "/v1/hodls", status: 403, code: "insufficient_scope"},
		{name: "nor makes keys", as: "late", method: "POST", path: "/v1/api_keys", body: `{"name":"x"}`, status: 403, code: "insufficient_scope"},
	})
	w.clock.advance(72 * time.Hour)
	w.run([]scenario{{name: "an invitation ends", as: "late", method: "POST", path: "/v1/members/join", status: 401, code: "invalid_key", has: []string{"expired"}}})
}

// A member who is removed is out at once: keys, tokens, and what tokens came of.
func TestRemovedMembersAreOut(t *testing.T) {
	w := newWorld(t)
	ada := w.invite("Ada", "member")
	w.makeKey("sandbox of Ada", "Ada", `{"name":"s","mode":"sandbox"}`)
	tokens := map[string]string{}
	for _, who := range []string{"Ada", "sandbox of Ada"} {
		w.ok(who, "PUT", "/v1/sessions/ses_ada", fullSession)
		tokens[who] = w.ok(who, "POST", "/v1/resume_tokens", `{"session_id":"ses_ada","audience":"sdk.unihodl.app","scopes":["read:context"]}`).text("token")
		w.hydrate(tokens[who], "ses_ada")
	}
	w.ok(live, "DELETE", "/v1/members/"+ada, "")
	for who, token := range tokens {
		w.run([]scenario{
			{name: "key of " + who, as: who, method: "GET", path: "/v1/sessions", status: 401, code: "invalid_key"},
			{name: "token of " + who, as: token, method: "POST", path: "/v1/sessions/ses_ada/hydrate", status: 403, code: "token_revoked"},
		})
	}
	w.run([]scenario{
		{name: "not listed", as: live, method: "GET", path: "/v1/members", status: 200, hasNot: []string{ada}},
		{name: "not there", as: live, method: "GET", path: "/v1/members/" + ada, status: 404, code: "not_found"},
		{name: "not changed", as: live, method: "PATCH", path: "/v1/members/" + ada, body: `{"role":"admin"}`, status: 404, code: "not_found"},
		{name: "again", as: live, method: "DELETE", path: "/v1/members/" + ada, status: 200},
		{name: "never was", as: live, method: "DELETE", path: "/v1/members/usr_nobody", status: 404, code: "not_found"},
		{name: "what they used counts", as: live, method: "GET", path: "/v1/usage?by=member", status: 200, has: []string{`{"user_id":"` + ada + `","name":"Ada","hydrations":1}`}},
	})
}

// An admin reads what was done with everybody's sessions and nothing of them.
func TestAdminsSeeRecordsAndNoContent(t *testing.T) {
	w := newWorld(t)
	w.ok(member, "PUT", "/v1/sessions/ses_theirs", fullSession)
	minted := w.ok(member, "POST", "/v1/resume_tokens", `{"session_id":"ses_theirs","audience":"sdk.unihodl.app","scopes":["read:context"]}`)
	given := w.hydrate(minted.text("token"), "ses_theirs")
	id := given.text("hydration_id")
	hdl := w.ok(member, "POST", "/v1/hodls", `{"title":"canary"}`).text("id")
	content := []string{"canary", "the cache bug"}
	w.run([]scenario{
		{name: "records of all", as: live, method: "GET", path: "/v1/access_records?user=all", status: 200, has: []string{id}, hasNot: content},
		{name: "of the sandbox", as: sandbox, method: "GET", path: "/v1/access_records?user=all", status: 200, hasNot: []string{id}},
		{name: "of another workspace", as: stranger, method: "GET", path: "/v1/access_records?user=all", status: 200, hasNot: []string{id}},
		{name: "of a session", as: live, method: "GET", path: "/v1/access_records?user=all&session_id=ses_theirs", status: 200, has: []string{id}},
		{name: "one's own", as: live, method: "GET", path: "/v1/access_records", status: 200, hasNot: []string{id}},
		{name: "one", as: live, method: "GET", path: "/v1/access_records/" + id, status: 200, hasNot: content},
		{name: "one by a stranger", as: stranger, method: "GET", path: "/v1/access_records/" + id, status: 404, code: "not_found"},
		{name: "the session", as: live, method: "GET", path: "/v1/sessions/ses_theirs", status: 404, code: "not_found"},
		{name: "its content", as: live, method: "GET", path: "/v1/sessions/ses_theirs/content", status: 404, code: "not_found"},
		{name: "a hodl", as: live, method: "GET", path: "/v1/hodls/" + hdl, status: 404, code: "not_found"},
		{name: "a token for it", as: live, method: "POST", path: "/v1/resume_tokens", body: `{"session_id":"ses_theirs","audience":"sdk.unihodl.app","scopes":["read:context"]}`, status: 404, code: "not_found"},
	})
	// Everybody's records, page by page, are the whole log.
	seen, cursor := 0, ""
	for range 10 {
		a := w.ok(live, "GET", "/v1/access_records?user=all&limit=1&cursor="+cursor, "")
		seen += len(a.object()["access_records"].([]any))
		if cursor = a.text("next_cursor"); cursor == "" {
			break
		}
	}
	if seen != 2 {
		t.Errorf("%d records were seen page by page", seen)
	}
}

func TestWorkspaces(t *testing.T) {
	w := newWorld(t)
	w.makeKey("narrow", live, `{"name":"x","scopes":["workspaces:write","hodls:write"]}`)
	w.clock.advance(time.Second)                                      // ids tell milliseconds apart
	a := w.ok("narrow", "POST", "/v1/workspaces", `{"name":"rival"}`) // called like a stranger's
	key := a.object()["api_key"].(object)
	w.keys["new"] = key["key"].(string)
	if got := fmt.Sprint(key["scopes"]); got != "[workspaces:write hodls:write]" || a.text("name") != "rival" || key["user_id"] != string(w.user) {
		t.Errorf("%s", a)
	}
	id := a.text("workspace_id")
	w.run([]scenario{
		{name: "the same person", as: "new", method: "GET", path: "/v1/me", status: 200, has: []string{id, string(w.user), string(w.ws), `"workspace_name":"rival"`, `"role":"admin"`}},
		{name: "both are listed", as: live, method: "GET", path: "/v1/workspaces", status: 200, has: []string{id, string(w.ws)}},
		{name: "by pages", as: live, method: "GET", path: "/v1/workspaces?limit=1", status: 200, has: []string{id}, hasNot: []string{string(w.ws)}},
		{name: "a member of one", as: member, method: "GET", path: "/v1/workspaces", status: 200, has: []string{string(w.ws)}, hasNot: []string{id}},
		{name: "its own", as: "new", method: "GET", path: "/v1/workspaces/" + id, status: 200, has: []string{`"enterprise"`}},
		{name: "a key opens one", as: live, method: "GET", path: "/v1/workspaces/" + id, status: 404, code: "not_found"},
		{name: "renamed", as: "new", method: "PATCH", path: "/v1/workspaces/" + id, body: `{"name":"acme"}`, status: 200, has: []string{`"acme"`}},
		{name: "how far tokens go", as: "new", method: "PATCH", path: "/v1/workspaces/" + id, body: `{"max_ttl_seconds":600,"max_hydrations":3,"hydrations_an_hour":9}`, status: 200, has: []string{`"acme"`, `"max_ttl_seconds":600,"max_hydrations":3,"hydrations_an_hour":9`}},
		{name: "no further", as: "new", method: "PATCH", path: "/v1/workspaces/" + id, body: `{"name":"never","max_ttl_seconds":86401}`, status: 422, code: "validation_failed", has: []string{"max_ttl_seconds"}},
		{name: "nothing of it", as: "new", method: "GET", path: "/v1/workspaces/" + id, status: 200, has: []string{`"acme"`, `"max_ttl_seconds":600`}},
		{name: "what is not there", as: live, method: "PATCH", path: "/v1/workspaces/wks_nowhere", body: `{"name":"x"}`, status: 404, code: "not_found"},
		{name: "no name", as: live, method: "POST", path: "/v1/workspaces", body: `{"name":""}`, status: 422, code: "validation_failed", has: []string{"name"}},
		{name: "hodls are apart", as: "new", method: "POST", path: "/v1/hodls", body: `{"title":"x"}`, status: 201},
		{name: "seen here alone", as: live, method: "GET", path: "/v1/hodls", status: 200, hasNot: []string{`"x"`}},
	})
}

// A plan with a quota does not have it twice.
func TestSmallPlansHaveOneWorkspace(t *testing.T) {
	w := newWorld(t, setting{plan: hodl.Developer})
	w.run([]scenario{{name: "another", as: live, method: "POST", path: "/v1/workspaces", body: `{"name":"x"}`, status: 403, code: "forbidden", has: []string{"developer"}}})
}
