package httpapi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hodl"
	"hodl/internal/httpapi"
)

// makeKey makes a key with the API and lets the world call as it.
func (w *world) makeKey(name, by, body string) *answer {
	w.t.Helper()
	a := w.ok(by, "POST", "/v1/api_keys", body)
	w.keys[name] = a.text("key")
	return a
}

func TestEveryScopeThatIsNeededIsListed(t *testing.T) {
	for path, item := range httpapi.Spec().Paths {
		for _, o := range httpapi.OperationsOf(item) {
			needs, _ := o.Metadata["needs"].(string)
			if strings.Contains(needs, ":") && !slices.Contains(hodl.KeyScopes, needs) {
				t.Errorf("%s needs %s, which hodl.KeyScopes does not list", path, needs)
			}
		}
	}
}

func TestKeysMakeNarrowerKeys(t *testing.T) {
	w := newWorld(t)
	end := w.Now().Add(time.Hour).Format(time.RFC3339)
	a := w.makeKey("narrow", live, `{"name":"ci","scopes":["keys:write","sessions:read"],"expires_at":"`+end+`","addresses":["127.0.0.1"]}`)
	for name, want := range map[string]string{"scopes": "[keys:write sessions:read]", "addresses": "[127.0.0.1/32]", "origins": "[]", "expires_at": end} {
		if got := fmt.Sprint(a.object()[name]); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	w.run([]scenario{
		{name: "as wide", as: "narrow", method: "POST", path: "/v1/api_keys", body: `{"name":"x"}`, status: 201, has: []string{`"127.0.0.1/32"`, end}},
		{name: "narrower", as: "narrow", method: "POST", path: "/v1/api_keys", body: `{"name":"x","scopes":["keys:read"],"mode":"sandbox"}`, status: 201},
		{name: "a scope more", as: "narrow", method: "POST", path: "/v1/api_keys", body: `{"name":"x","scopes":["keys:read","hodls:read"]}`, status: 403, code: "forbidden", has: []string{"scopes[1]", "hodls:read"}},
		{name: "everything", as: "narrow", method: "POST", path: "/v1/api_keys", body: `{"name":"x","scopes":["*"]}`, status: 403, code: "forbidden"},
		{name: "capture", as: "narrow", method: "POST", path: "/v1/api_keys", body: `{"name":"x","scopes":["capture"]}`, status: 403, code: "forbidden"},
		{name: "longer", as: "narrow", method: "POST", path: "/v1/api_keys", body: `{"name":"x","expires_at":"2099-01-01T00:00:00Z"}`, status: 403, code: "forbidden", has: []string{"expires_at"}},
		{name: "from anywhere", as: "narrow", method: "POST", path: "/v1/api_keys", body: `{"name":"x","addresses":[]}`, status: 403, code: "forbidden", has: []string{"addresses"}},
		{name: "from elsewhere", as: "narrow", method: "POST", path: "/v1/api_keys", body: `{"name":"x","addresses":["127.0.0.0/8"]}`, status: 403, code: "forbidden"},
		{name: "no scope there is", as: live, method: "POST", path: "/v1/api_keys", body: `{"name":"x","scopes":["hodls:erase"]}`, status: 422, code: "validation_failed", has: []string{"scopes[0]"}},
		{name: "an invitation", as: live, method: "POST", path: "/v1/api_keys", body: `{"name":"x","scopes":["join"]}`, status: 422, code: "validation_failed"},
		{name: "a live key by a sandbox key", as: sandbox, method: "POST", path: "/v1/api_keys", body: `{"name":"x","mode":"live"}`, status: 403, code: "forbidden", has: []string{"mode"}},
	})
}

// A key ends to the moment, and only who holds it learns that it was one.
func TestKeysExpire(t *testing.T) {
	w := newWorld(t)
	w.makeKey("short", live, `{"name":"x","expires_at":"`+w.Now().Add(time.Minute).Format(time.RFC3339)+`"}`)
	w.ok("short", "GET", "/v1/me", "")
	w.clock.advance(time.Minute)
	w.run([]scenario{
		{name: "expired", as: "short", method: "GET", path: "/v1/me", status: 401, code: "invalid_key", has: []string{"expired"}},
		{name: "never was", as: w.keys["short"][:40], method: "GET", path: "/v1/me", status: 401, code: "invalid_key", hasNot: []string{"expired"}},
		{name: "listed", as: live, method: "GET", path: "/v1/api_keys?status=expired", status: 200, has: []string{`"name":"x"`}},
		{name: "not active", as: live, method: "GET", path: "/v1/api_keys?status=active", status: 200, hasNot: []string{`"name":"x"`}},
	})
}

func TestKeysAreBoundToAddresses(t *testing.T) {
	w := newWorld(t)
	w.makeKey("here", live, `{"name":"x","addresses":["127.0.0.0/8","::1"]}`)
	w.makeKey("elsewhere", live, `{"name":"x","addresses":["192.0.2.0/24"]}`)
	w.run([]scenario{
		{name: "here", as: "here", method: "GET", path: "/v1/me", status: 200},
		{name: "elsewhere", as: "elsewhere", method: "GET", path: "/v1/me", status: 403, code: "forbidden", hasNot: []string{"192.0.2"}},
		{name: "a header that claims another", as: "elsewhere", method: "GET", path: "/v1/me", headers: []string{"X-Forwarded-For", "192.0.2.7"}, status: 403, code: "forbidden"},
	})
}

func TestRotateKey(t *testing.T) {
	w := newWorld(t)
	old := w.makeKey("old", live, `{"name":"ci","scopes":["keys:write","hodls:read"]}`)
	path := "/v1/api_keys/" + old.text("id") + "/rotate"
	a := w.ok("old", "POST", path, `{"overlap_seconds":60}`)
	w.keys["new"] = a.text("key")
	if fmt.Sprint(a.object()["scopes"]) != "[keys:write hodls:read]" || a.object()["expires_at"] != nil || a.text("name") != "ci" {
		t.Errorf("the new key is %s", a)
	}
	was := w.ok("new", "GET", "/v1/api_keys/"+old.text("id"), "")
	if was.text("replaced_by") != a.text("id") || was.text("expires_at") == "" || was.text("key") != "" {
		t.Errorf("the old key is %s", was)
	}
	w.ok("old", "GET", "/v1/hodls", "")
	if again := w.ok("old", "POST", path, ""); again.text("expires_at") != was.text("expires_at") {
		t.Errorf("a key that ends makes one that does not: %s", again)
	}
	w.clock.advance(time.Minute)
	w.ok("new", "GET", "/v1/hodls", "")
	w.run([]scenario{
		{name: "the old one", as: "old", method: "GET", path: "/v1/hodls", status: 401, code: "invalid_key"},
		{name: "once it has ended", as: "new", method: "POST", path: path, status: 409, code: "conflict"},
		{name: "too long", as: live, method: "POST", path: path, body: `{"overlap_seconds":2592001}`, status: 422, code: "validation_failed", has: []string{"overlap_seconds"}},
	})
	// A narrow key does not rotate itself into a wider one of the same person.
	wide := w.makeKey("wide", live, `{"name":"wide"}`)
	w.run([]scenario{
		{name: "a wider key", as: "new", method: "POST", path: "/v1/api_keys/" + wide.text("id") + "/rotate", status: 403, code: "forbidden", has: []string{"scopes[0]"}},
	})
	if a := w.ok(live, "POST", "/v1/api_keys/"+wide.text("id")+"/rotate", `{"overlap_seconds":0}`); a.text("key") == "" {
		t.Errorf("%s", a)
	}
	w.run([]scenario{{name: "without overlap", as: "wide", method: "GET", path: "/v1/me", status: 401, code: "invalid_key"}})
}

func TestChangeKey(t *testing.T) {
	w := newWorld(t)
	narrow := "/v1/api_keys/" + w.makeKey("narrow", live, `{"name":"n","scopes":["keys:write"]}`).text("id")
	wide := "/v1/api_keys/" + w.makeKey("wide", live, `{"name":"w"}`).text("id")
	w.run([]scenario{
		{name: "rename", as: "narrow", method: "PATCH", path: wide, body: `{"name":"renamed"}`, status: 200, has: []string{`"renamed"`, `"*"`}},
		{name: "narrow a wider one", as: "narrow", method: "PATCH", path: wide, body: `{"scopes":["hodls:read","keys:read"]}`, status: 200},
		{name: "widen it again", as: "narrow", method: "PATCH", path: wide, body: `{"scopes":["hodls:write"]}`, status: 403, code: "forbidden", has: []string{"scopes[0]"}},
		{name: "widen oneself", as: "narrow", method: "PATCH", path: narrow, body: `{"scopes":["*"]}`, status: 403, code: "forbidden"},
		{name: "by one that may", as: live, method: "PATCH", path: narrow, body: `{"scopes":["keys:write","hodls:read"]}`, status: 200},
		{name: "a past end", as: live, method: "PATCH", path: narrow, body: `{"expires_at":"2020-01-01T00:00:00Z"}`, status: 422, code: "validation_failed", has: []string{"expires_at"}},
		{name: "no name", as: live, method: "PATCH", path: narrow, body: `{"name":""}`, status: 422, code: "validation_failed", has: []string{"name"}},
		{name: "at once", as: "narrow", method: "GET", path: "/v1/hodls", status: 200},
	})
}

// An admin sees and ends the keys of all, and can neither change nor rotate them: a
// new key of somebody else would open what is theirs.
func TestAdminsOverseeKeys(t *testing.T) {
	w := newWorld(t)
	id := w.makeKey("theirs", member, `{"name":"of a member"}`).text("id")
	path := "/v1/api_keys/" + id
	w.run([]scenario{
		{name: "list all", as: live, method: "GET", path: "/v1/api_keys?user=all", status: 200, has: []string{id}},
		{name: "list one's own", as: live, method: "GET", path: "/v1/api_keys", status: 200, hasNot: []string{id}},
		{name: "list live ones with a sandbox key", as: sandbox, method: "GET", path: "/v1/api_keys?user=all", status: 200, hasNot: []string{id}},
		{name: "get", as: live, method: "GET", path: path, status: 200},
		{name: "rename", as: live, method: "PATCH", path: path, body: `{"name":"x"}`, status: 404, code: "not_found"},
		{name: "rotate", as: live, method: "POST", path: path + "/rotate", status: 404, code: "not_found"},
		{name: "a member lists all", as: member, method: "GET", path: "/v1/api_keys?user=all", status: 403, code: "forbidden"},
		{name: "a stranger gets", as: stranger, method: "GET", path: path, status: 404, code: "not_found"},
		{name: "revoke", as: live, method: "POST", path: path + "/revoke", status: 200},
		{name: "it has ended", as: "theirs", method: "GET", path: "/v1/me", status: 401, code: "invalid_key"},
		{name: "revoked ones", as: live, method: "GET", path: "/v1/api_keys?user=all&status=revoked&mode=live", status: 200, has: []string{id}},
	})
}

// Whoever took a key may have minted tokens with it, in the key's own mode.
func TestRevokedKeysEndTheirTokens(t *testing.T) {
	w := newWorld(t)
	for _, mode := range []string{"live", "sandbox"} {
		id := w.makeKey("taken", live, `{"name":"x","mode":"`+mode+`"}`).text("id")
		w.ok("taken", "PUT", "/v1/sessions/ses_a", `{"title":"t"}`)
		token := w.ok("taken", "POST", "/v1/resume_tokens", `{"session_id":"ses_a","audience":"sdk.unihodl.app","scopes":["read:context"]}`).text("token")
		w.ok(live, "POST", "/v1/api_keys/"+id+"/revoke", "")
		w.run([]scenario{{name: "token of a " + mode + " key", as: token, method: "POST", path: "/v1/sessions/ses_a/hydrate", status: 403, code: "token_revoked"}})
	}
}
