package httpapi_test

import (
	"strings"
	"testing"
	"time"

	"hodl"
)

// Public keys of RFC 8037 (appendix A.2) and RFC 9449 (figure 2).
const (
	ed25519JWK = `{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`
	p256JWK    = `{"kty":"EC","crv":"P-256","x":"l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs","y":"9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA"}`
)

func TestAudienceRegistry(t *testing.T) {
	w := newWorld(t)
	made := w.ok(live, "POST", "/v1/audiences", `{"name":"agent.example.com","description":"nightly","addresses":["192.0.2.77/24","2001:db8::7"],"jwk":`+p256JWK+`}`)
	id := made.text("id")
	if got, want := made.header.Get("Location"), "/v1/audiences/"+id; made.status != 201 || got != want {
		t.Errorf("%s at %s", made, got)
	}
	if got := made.text("jkt"); got != "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I" {
		t.Errorf("the thumbprint is %s", got)
	}
	w.run([]scenario{
		{name: "again", as: live, method: "POST", path: "/v1/audiences", body: `{"name":"agent.example.com"}`, status: 409, code: "conflict"},
		{name: "in the sandbox", as: sandbox, method: "POST", path: "/v1/audiences", body: `{"name":"agent.example.com"}`, status: 201},
		{name: "a colleague reads", as: member, method: "GET", path: "/v1/audiences/" + id, status: 200, has: []string{`"192.0.2.0/24"`, `"2001:db8::7/128"`, `"builtin":false`}},
		{name: "a colleague adds", as: member, method: "POST", path: "/v1/audiences", body: `{"name":"b.example.com"}`, status: 403, code: "forbidden"},
		{name: "a colleague changes", as: member, method: "PATCH", path: "/v1/audiences/" + id, body: `{}`, status: 403, code: "forbidden"},
		{name: "a colleague deletes", as: member, method: "DELETE", path: "/v1/audiences/" + id, status: 403, code: "forbidden"},
		{name: "change", as: live, method: "PATCH", path: "/v1/audiences/" + id, body: `{"addresses":[],"jwk":{}}`, status: 200, has: []string{`"addresses":[]`, `"nightly"`}, hasNot: []string{"jkt", "jwk"}},
		{name: "change of the name", as: live, method: "PATCH", path: "/v1/audiences/" + id, body: `{"name":"b.example.com"}`, status: 422, code: "validation_failed"},
		{name: "a built-in one", as: live, method: "GET", path: "/v1/audiences/aud_claudeanthropiccom", status: 200, has: []string{`"builtin":true`, `"claude.anthropic.com"`}},
		{name: "change of a built-in one", as: live, method: "PATCH", path: "/v1/audiences/aud_claudeanthropiccom", body: `{}`, status: 403, code: "forbidden", has: []string{"register its name"}},
		{name: "register a built-in one", as: live, method: "POST", path: "/v1/audiences", body: `{"name":"claude.anthropic.com"}`, status: 201, has: []string{`"builtin":true`}},
		{name: "it is shown as registered", as: live, method: "GET", path: "/v1/audiences/aud_claudeanthropiccom", status: 200, has: []string{"created_at"}},
		{name: "delete", as: live, method: "DELETE", path: "/v1/audiences/" + id, status: 200, has: []string{`"deleted":true`}},
		{name: "delete again", as: live, method: "DELETE", path: "/v1/audiences/" + id, status: 404, code: "not_found"},
	})
}

func TestAudienceListGoesOnWithTheBuiltIn(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"a.example.com", "x.ai", "b.example.com"} {
		w.ok(live, "POST", "/v1/audiences", `{"name":"`+name+`"}`)
		w.clock.advance(time.Millisecond) // ids sort by it
	}
	var names []string
	for cursor, pages := "", 0; pages < 20; pages++ {
		page := w.ok(live, "GET", "/v1/audiences?limit=3&cursor="+cursor, "").object()
		names = append(names, strings.Split(each(page["audiences"], "name"), " | ")...)
		if cursor, _ = page["next_cursor"].(string); cursor == "" {
			break
		}
	}
	if got, want := len(names), len(hodl.Audiences)+2; got != want || distinct(names) != want {
		t.Errorf("there are %d audiences, want %d: %v", got, want, names)
	}
	if got := strings.Join(names[:3], " "); got != "b.example.com x.ai a.example.com" {
		t.Errorf("the first are %s", got)
	}
}

func TestAudienceForm(t *testing.T) {
	w := newWorld(t)
	bad := func(name, body string, has ...string) scenario {
		return scenario{name: name, as: live, method: "POST", path: "/v1/audiences", body: body, status: 422, code: "validation_failed", has: has}
	}
	key := func(name, jwk string, has ...string) scenario {
		return bad(name, `{"name":"a.example.com","jwk":`+jwk+`}`, append(has, `"path":"jwk"`)...)
	}
	secret := `"d":"` + strings.Repeat("A", 43) + `"`
	w.run([]scenario{
		bad("no name", `{}`, "name"),
		bad("a bare word", `{"name":"planner"}`, "a dot or a colon"),
		bad("a space", `{"name":"a. b"}`, "printable ASCII"),
		bad("another script", `{"name":"аgent.example.com"}`, "printable ASCII"),
		bad("too long", `{"name":"`+strings.Repeat("a", 512)+`.b"}`, "514 bytes"),
		bad("this server", `{"name":"`+issuer+`/mcp"}`, "own MCP address"),
		bad("this server in disguise", `{"name":"HTTPS://hodl.example.com/mcp/"}`, "own MCP address"),
		bad("an address with a user", `{"name":"https://me@a.example.com"}`, "a user"),
		bad("an address with a fragment", `{"name":"https://a.example.com/#x"}`, "fragment"),
		bad("no range", `{"name":"a.example.com","addresses":["192.0.2.0/24","nowhere"]}`, "addresses[1]", "2001:db8::/32"),
		bad("a wide range in disguise", `{"name":"a.example.com","addresses":["::ffff:0:0/90"]}`, "addresses[0]"),
		bad("a zone", `{"name":"a.example.com","addresses":["fe80::1%eth0"]}`, "addresses[0]"),
		bad("too many ranges", `{"name":"a.example.com","addresses":["10.0.0.1"`+strings.Repeat(`,"10.0.0.1"`, 64)+`]}`, "65 entries"),
		key("a private key", `{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",`+secret+`}`, "private member", "replace the key"),
		key("a shared key", `{"kty":"oct","k":"AAAA"}`, "private member"),
		key("RSA", `{"kty":"RSA","n":"AAAA","e":"AQAB"}`, "P-256"),
		key("another curve", `{"kty":"EC","crv":"P-384","x":"AAAA","y":"AAAA"}`, "P-256"),
		key("short", `{"kty":"OKP","crv":"Ed25519","x":"AAAA"}`, "43 base64url"),
		key("a spare bit", `{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURp"}`, "43 base64url"),
		key("off the curve", `{"kty":"EC","crv":"P-256","x":"l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs","y":"l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs"}`, "no point"),
		key("small order", `{"kty":"OKP","crv":"Ed25519","x":"AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}`, "small order"),
		key("another alg", `{"alg":"RS256",`+ed25519JWK[1:], "alg"),
		key("to encrypt", `{"use":"enc",`+ed25519JWK[1:], "use"),
		key("not to verify", `{"key_ops":["sign"],`+ed25519JWK[1:], "key_ops"),
	})
	for _, name := range []string{"https://a.example.com/mcp", "http://127.0.0.1:9000", "mcp:local", "team:planner", "a.example.com/x@y"} {
		w.ok(live, "POST", "/v1/audiences", `{"name":"`+name+`","jwk":{"alg":"EdDSA","use":"sig","kid":"1","key_ops":["verify"],`+ed25519JWK[1:]+`}`)
	}
}

func TestAudiencesTakeAPlan(t *testing.T) {
	w := newWorld(t, setting{plan: hodl.Developer})
	w.run([]scenario{
		{name: "add", as: live, method: "POST", path: "/v1/audiences", body: `{"name":"a.example.com"}`, status: 403, code: "plan_required", has: []string{"startup"}},
		{name: "list", as: live, method: "GET", path: "/v1/audiences", status: 200, has: []string{"sdk.unihodl.app"}},
	})
	w.must(w.SetPlan(t.Context(), w.ws, hodl.Startup))
	w.clock.advance(2 * time.Second) // a principal is remembered for one
	id := w.ok(live, "POST", "/v1/audiences", `{"name":"a.example.com"}`).text("id")
	w.must(w.SetPlan(t.Context(), w.ws, hodl.Developer))
	w.clock.advance(2 * time.Second)
	w.run([]scenario{
		{name: "change", as: live, method: "PATCH", path: "/v1/audiences/" + id, body: `{}`, status: 403, code: "plan_required"},
		{name: "delete", as: live, method: "DELETE", path: "/v1/audiences/" + id, status: 200},
	})
}

// A token is for an audience that is there, and works from where that may call.
func TestAudiencePins(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_pin")
	mint := `{"session_id":"ses_pin","audience":"agent.example.com","scopes":["read:context","write:notes","write:next_step"]}`
	w.run([]scenario{{name: "unregistered", as: live, method: "POST", path: "/v1/resume_tokens", body: mint, status: 422, code: "validation_failed", has: []string{`"path":"audience"`, "registered"}}})
	id := w.ok(live, "POST", "/v1/audiences", `{"name":"agent.example.com","addresses":["127.0.0.0/8","::1"]}`).text("id")
	w.run([]scenario{{name: "in the sandbox it is not", as: sandbox, method: "POST", path: "/v1/resume_tokens", body: mint, status: 422, code: "validation_failed"}})
	token := w.ok(live, "POST", "/v1/resume_tokens", mint).text("token")
	if a := w.hydrate(token, "ses_pin"); a.status != 200 {
		t.Fatalf("from an address of its own: %s", a)
	}
	w.ok(live, "PATCH", "/v1/audiences/"+id, `{"addresses":["192.0.2.0/24"]}`)
	var refused []scenario
	for _, r := range tokenRoutes {
		refused = append(refused, scenario{
			name: "from elsewhere", as: token, method: r.method, path: strings.ReplaceAll(r.path, "{ses}", "ses_pin"), body: r.body,
			status: 403, code: "audience_mismatch", has: []string{"address"}, hasNot: []string{"canary"},
		})
	}
	w.run(refused)
	denied := w.records("denied")
	if len(denied) != 1 || denied[0]["code"] != "audience_mismatch" || denied[0]["actor"] != "agent.example.com" {
		t.Errorf("the denials are %v", denied)
	}
	w.ok(live, "PATCH", "/v1/audiences/"+id, `{"addresses":[]}`)
	if a := w.hydrate(token, "ses_pin"); a.status != 200 {
		t.Errorf("from anywhere again: %s", a)
	}
	w.ok(live, "DELETE", "/v1/audiences/"+id, "")
	if a := w.hydrate(token, "ses_pin"); a.code() != "audience_mismatch" {
		t.Errorf("with the audience gone: %s", a)
	}
}

// A built-in audience that a workspace binds is bound there and nowhere else.
func TestBindingABuiltInAudience(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_bind")
	w.ok(stranger, "POST", "/v1/audiences", `{"name":"claude.anthropic.com","addresses":["192.0.2.1"]}`)
	if a := w.hydrate(w.token("ses_bind", "read:context"), "ses_bind"); a.status != 200 {
		t.Errorf("bound by another workspace: %s", a)
	}
	token := w.token("ses_bind", "read:context")
	id := w.ok(live, "POST", "/v1/audiences", `{"name":"claude.anthropic.com","addresses":["192.0.2.1"]}`).text("id")
	if a := w.hydrate(token, "ses_bind"); a.code() != "audience_mismatch" {
		t.Errorf("bound by its own: %s", a)
	}
	w.ok(live, "DELETE", "/v1/audiences/"+id, "")
	if a := w.hydrate(token, "ses_bind"); a.status != 200 {
		t.Errorf("bound no more: %s", a)
	}
}
