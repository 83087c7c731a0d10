package published_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"hodl"
	"hodl/hodltest"
)

// The key every published page names. It is written in parts so that no scanner
// takes it for a leak.
const demoKey = "uh_test_" + "sandbox_demo_key_v0"

const full = `{"session_id":"ses_full1","title":"GraphQL migration","summary":"two ways","tabs":[` +
	`{"url":"https://example.com/a","title":"A","scroll_y_pct":62,"selected_text":"a line","tab_role":"primary"},{"url":"https://example.com/b","title":""}],` +
	`"media":[{"kind":"video","url":"https://example.com/v","timestamp_s":847,"transcript_anchor":"words"},{"kind":"image","url":"https://example.com/i"}],` +
	`"reasoning_thread":[{"id":"n1","kind":"observation","text":"seen"},` +
	`{"id":"n2","kind":"decision_stance","text":"leaning","evidence":["https://example.com/a"],"supports":["n1"],"depends_on":["n1"],"confidence":0}],"ai_tags":["graphql"]}`

func capturedShape() map[string]string {
	return map[string]string{"session_id": "s", "fingerprint": "s", "captured_at": "s"}
}

func mintedShape() map[string]string {
	return map[string]string{"token": "s", "jti": "s", "expires_at": "s", "audience": "s", "scopes": "a", "session_id": "s", "mode": "s"}
}

// held starts a server that holds the full session and returns a client of each kind.
func held(t *testing.T) (*node, *node, *python) {
	t.Helper()
	server, base := serving(t)
	old, young := &node{t, base, server.LiveKey, "0.2.1"}, &node{t, base, server.LiveKey, "0.2.3"}
	got := must[object](t)(young.capture(full))
	if err := wants(got, capturedShape()); err != nil {
		t.Fatal(err)
	}
	return old, young, &python{t, base, server.LiveKey}
}

func TestRule01BothPrefixesAndNoRedirects(t *testing.T) {
	server, base := serving(t)
	for _, at := range []string{base, server.URL} {
		p := &python{t, at, server.LiveKey}
		if _, err := p.object("GET", "/v1/sessions", ""); err != nil {
			t.Errorf("%s: %v", at, err)
		}
		for _, path := range []string{"/v1/sessions/", "//v1/sessions", "/v1//sessions", "/v1/./sessions", "/v1/hodls/../sessions", "/v1"} {
			a, err := p.send("GET", path, "")
			var e *refusal
			if !errors.As(err, &e) || e.code != "not_found" {
				t.Errorf("%s%s: %+v, %v", at, path, a, err)
			}
		}
	}
}

func TestRule02HydrateWithoutBodyAndRevokeWithEmptyObject(t *testing.T) {
	_, young, py := held(t)
	if _, err := young.hydrate("ses_full1", "", ""); err != nil {
		t.Error(err)
	}
	minted := must[object](t)(py.mint("ses_full1", "sdk.unihodl.app", `["read:context"]`))
	if err := wants(minted, mintedShape()); err != nil {
		t.Error(err)
	}
	for range 2 {
		got := must[object](t)(young.revoke(minted["jti"].(string), `{}`))
		if got["revoked"] != true || got["jti"] != minted["jti"] || got["reason"] != nil {
			t.Errorf("revoked: %v", got)
		}
	}
	minted = must[object](t)(young.mint("ses_full1", "sdk.unihodl.app", readScopes))
	got := must[object](t)(py.revoke(minted["jti"].(string), `{"reason": "done"}`))
	if got["reason"] != "done" {
		t.Errorf("revoked with a reason: %v", got)
	}
	if _, err := young.hydrate("ses_full1", minted["token"].(string), ""); codeOf(err) != "token_revoked" {
		t.Errorf("after the revocation: %v", err)
	}
}

func codeOf(err error) string {
	var e *refusal
	if errors.As(err, &e) {
		return e.code
	}
	return fmt.Sprint(err)
}

func TestRule03NothingIsAddedInsideItems(t *testing.T) {
	_, young, py := held(t)
	must[object](t)(young.post("/v1/hodls", `{"title":"a place","session_id":"ses_full1","location":{"file":"src/app.go","line":42}}`))
	o, err := py.hydrate("ses_full1", "")
	if err != nil {
		t.Fatal(err)
	}
	tabs := o["tabs"].([]any)
	if last := tabs[len(tabs)-1].(object); len(tabs) != 3 || last["tab_role"] != "editor" || last["title"] != "a place" {
		t.Errorf("the tabs are %v", tabs)
	}
}

func TestRule04ListsAndStringsAreAlwaysThere(t *testing.T) {
	old, _, py := held(t)
	must[object](t)(old.capture(`{"session_id":"ses_bare","title":"bare"}`))
	must[object](t)(py.capture("ses_empty", "empty", "[]", "[]", "[]", "[]"))
	for _, session := range []string{"ses_full1", "ses_bare", "ses_empty"} {
		for _, scopes := range []string{readScopes, `["read:context"]`, `["read:reasoning"]`} {
			minted := must[object](t)(old.mint(session, "sdk.unihodl.app", scopes))
			got, err := old.hydrate(session, minted["token"].(string), "")
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(got.prompt(), fromDict(got.context())); err != nil {
				t.Errorf("%s with %s: %v", session, scopes, err)
			}
		}
	}
}

func TestRule05OptionalValuesAreLeftOut(t *testing.T) {
	old, young, _ := held(t)
	must[object](t)(young.capture(`{"session_id":"ses_nulls","title":"nulls","tabs":[{"url":"https://example.com","title":"t","scroll_y_pct":null,"tab_role":null}],` +
		`"reasoning_thread":[{"id":"n","kind":"question","text":"why","confidence":null,"evidence":null}]}`))
	got, err := old.hydrate("ses_nulls", "", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(got.prompt(), fromDict(got.context())); err != nil {
		t.Error(err)
	}
	node := got.context()["reasoning_thread"].([]any)[0].(object)
	if len(node) != 3 {
		t.Errorf("the node is %v, want id, kind and text alone", node)
	}
}

func TestRule06ContentTypesTellJSONFromText(t *testing.T) {
	_, young, py := held(t)
	context, err := young.hydrate("ses_full1", "", "")
	if err != nil || context.context() == nil {
		t.Fatalf("json: %v, %v", context, err)
	}
	prompt, err := young.hydrate("ses_full1", "", "prompt-ready")
	if _, isText := prompt.raw.(string); err != nil || !isText {
		t.Fatalf("prompt-ready: %v, %v", prompt, err)
	}
	token := must[string](t)(py.token("ses_full1"))
	a, err := py.send("POST", "/v1/sessions/ses_full1/hydrate", "", field{"authorization", "Bearer " + token}, field{"x-unihodl-format", "prompt-ready"})
	if err != nil || a.header.Get("Content-Type") != "text/x-unihodl-prompt; charset=utf-8" {
		t.Errorf("the type is %v, %v", a.header, err)
	}
}

func TestRule07PromptHasASecondLineThatStandsAlone(t *testing.T) {
	_, _, py := held(t)
	must[object](t)(py.capture("ses_empty", "", "[]", "[]", "[]", "[]"))
	for _, session := range []string{"ses_full1", "ses_empty"} {
		title, text, err := py.prompt(session)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(title, session) || len(text) <= len(title) {
			t.Errorf("line two of %s is %q", session, title)
		}
	}
}

func TestRule08ErrorIsAlwaysAnObject(t *testing.T) {
	server, base := serving(t)
	p := &python{t, base, server.LiveKey}
	stranger := field{"authorization", "Bearer nobody"}
	for _, tt := range []struct {
		name, method, path, body, code string
		own                            []field
	}{
		{"no such path", "GET", "/v1/nowhere", "", "not_found", nil},
		{"no such session", "GET", "/v1/sessions/ses_none", "", "not_found", nil},
		{"wrong method", "PUT", "/v1/hodl", "{}", "method_not_allowed", nil},
		{"a stranger", "GET", "/v1/sessions", "", "invalid_key", []field{stranger}},
		{"a stranger hydrates", "POST", "/v1/sessions/ses_full1/hydrate", "", "invalid_token", []field{stranger}},
		{"no JSON", "POST", "/v1/hodl", "{", "malformed_json", nil},
		{"too large", "POST", "/v1/hodl", `{"title":"` + strings.Repeat("a", hodl.MaxRequest) + `"}`, "payload_too_large", nil},
		{"a bad id", "POST", "/v1/hodl", `{"session_id": "8f3a"}`, "validation_failed", nil},
	} {
		a, err := p.send(tt.method, tt.path, tt.body, tt.own...)
		if codeOf(err) != tt.code {
			t.Errorf("%s: %v, %v; want %s", tt.name, a, err, tt.code)
		}
	}
}

func TestRule09EverySuccessHasABody(t *testing.T) {
	_, young, py := held(t)
	minted := must[object](t)(young.mint("ses_full1", "sdk.unihodl.app", `["write:notes"]`))
	must[object](t)(young.appendNote("ses_full1", minted["token"].(string), "done"))
	must[object](t)(young.revoke(minted["jti"].(string), `{}`))
	must[object](t)(young.get("/v1/sessions/ses_full1"))
	if _, err := py.object("DELETE", "/v1/sessions/ses_full1", ""); err != nil {
		t.Error(err)
	}
}

func TestRule10NumbersAndTimes(t *testing.T) {
	_, young, py := held(t)
	minted := must[object](t)(py.mint("ses_full1", "sdk.unihodl.app", `["read:context", "write:notes"]`))
	for i := range 3 {
		got := must[object](t)(young.appendNote("ses_full1", minted["token"].(string), "a \"note\"\nof two lines, é"))
		id, ok := got["note_id"].(float64)
		if !ok || id != math.Trunc(id) || id != float64(i+1) || id >= 1<<53 {
			t.Errorf("note_id is %v", got["note_id"])
		}
		if at, _ := got["created_at"].(string); !dateTime.MatchString(at) {
			t.Errorf("created_at is %v", got["created_at"])
		}
	}
	got, err := young.hydrate("ses_full1", minted["token"].(string), "")
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]any{"expires_at": minted["expires_at"], "captured_at": got.context()["captured_at"]} {
		if at, _ := v.(string); !dateTime.MatchString(at) {
			t.Errorf("%s is %v", name, v)
		}
	}
}

func TestRule11ListWithoutQuery(t *testing.T) {
	_, young, _ := held(t)
	list, next, err := checkList(must[object](t)(young.get("/v1/sessions")))
	if err != nil || len(list) != 1 || next != nil {
		t.Errorf("%v, %v, %v", list, next, err)
	}
	one := must[object](t)(young.get("/v1/sessions/ses_full1"))
	if err := wants(one, map[string]string{
		"session_id": "s", "workspace_id": "s", "title": "s", "summary": "?s", "captured_at": "s", "ai_tags": "a", "total_hydrations": "n",
	}); err != nil {
		t.Error(err)
	}
}

func TestRule12ClientsChooseSessionIDs(t *testing.T) {
	_, young, py := held(t)
	first := must[object](t)(young.get("/v1/sessions/ses_full1"))
	must[object](t)(py.capture("ses_full1", "renamed", "[]", "[]", "[]", "[]"))
	second := must[object](t)(young.get("/v1/sessions/ses_full1"))
	if second["title"] != "renamed" || first["fingerprint"] == second["fingerprint"] || second["summary"] != nil {
		t.Errorf("after the second capture: %v", second)
	}
	for _, id := range []string{"full1", "ses_", "ses_a-b", "ses_a_b"} {
		_, err := py.capture(id, "t", "[]", "[]", "[]", "[]")
		if codeOf(err) != "validation_failed" || !strings.Contains(err.Error(), `"ses_" followed by 1 to 64 letters and digits`) {
			t.Errorf("%s: %v", id, err)
		}
	}
	alone := must[object](t)(young.post("/v1/hodl", `{"url":"https://example.com/page","title":"a page"}`))
	if id, _ := alone["id"].(string); !strings.HasPrefix(id, "hdl_") {
		t.Errorf("a url alone became %v", alone)
	}
}

func TestRule13DefaultAudiencesAreKnown(t *testing.T) {
	_, young, _ := held(t)
	for _, audience := range []string{"sdk.unihodl.app", "mcp.unihodl.app", "claude.anthropic.com"} {
		if _, err := young.hydrateAs(audience, "ses_full1", "", ""); err != nil {
			t.Errorf("%s: %v", audience, err)
		}
	}
	if _, err := young.hydrateAs("stranger.example.com", "ses_full1", "", ""); codeOf(err) != "validation_failed" {
		t.Errorf("an unknown audience: %v", err)
	}
}

// A hydration by a library is two requests, each with a bucket of its own: the
// burst of the smallest plan is a burst of hydrations.
func TestRule14MintAndHydrateAreOneAction(t *testing.T) {
	server := hodltest.Start(t, hodltest.Plan(hodl.Developer))
	plan, err := hodl.PlanOf(hodl.Developer)
	if err != nil {
		t.Fatal(err)
	}
	n := &node{t, server.URL + "/api", server.LiveKey, "0.2.3"}
	must[object](t)(n.capture(full))
	for i := range plan.Burst - 1 { // the capture was one
		if _, err := n.hydrate("ses_full1", "", ""); err != nil {
			t.Fatalf("hydration %d of a burst of %d: %v", i+1, plan.Burst, err)
		}
	}
}

func TestRule15TelemetryIsAcceptedAndDropped(t *testing.T) {
	server, _ := serving(t)
	body := `{"event":"mcp_start","version":"0.2.3","instance":"6f1c0f5e-0000-4000-8000-000000000000"}`
	head := []field{{"host", "{host}"}, {"connection", "keep-alive"}, jsonType, {"content-length", fmt.Sprint(len(body))}}
	a := exchange(t, server.URL, "POST", "/api/telemetry", head, body)
	if a.status != 200 || string(a.body) != "{}" || a.header.Get("Content-Type") != "application/json" {
		t.Errorf("%d %v %s", a.status, a.header, a.body)
	}
}

func TestRule16DemoSeedsThePublicKeyAndSession(t *testing.T) {
	_, base := serving(t)
	m := &mcp{&node{t, base, demoKey, "0.2.3"}}
	list, _, err := m.listSessions(10, "")
	if err != nil || len(list) != 1 {
		t.Fatalf("the demo key sees %v, %v", list, err)
	}
	got, err := m.hydrate("ses_8f3aZ91b", "", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(got.prompt(), fromDict(got.context())); err != nil || got.context()["title"] != "GraphQL migration for API v3" {
		t.Errorf("%v: %v", got.context()["title"], err)
	}
	minted := must[object](t)(m.mint("ses_8f3aZ91b", "sdk.unihodl.app", readScopes))
	if minted["mode"] != "sandbox" {
		t.Errorf("a token of the demo key is %v", minted["mode"])
	}
	if _, err := m.post("/v1/api_keys", `{"name":"more"}`); codeOf(err) != "insufficient_scope" {
		t.Errorf("the demo key makes keys: %v", err)
	}
	quiet := hodltest.Start(t)
	n := &node{t, quiet.URL + "/api", demoKey, "0.2.3"}
	if _, err := n.get("/v1/sessions"); codeOf(err) != "invalid_key" {
		t.Errorf("without --demo the key opens: %v", err)
	}
}
