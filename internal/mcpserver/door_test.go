package mcpserver_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"hodl"
	"hodl/internal/mcpserver"
	"hodl/internal/resume"
)

// Every fault of a credential is 401 invalid_token, whenever it shows; only a missing
// scope is 403. The challenge tells where to read how to sign in.
func TestCredentials(t *testing.T) {
	w := newWorld(t)
	metadata := `resource_metadata="https://hodl.example.com/.well-known/oauth-protected-resource/mcp"`
	elsewhere, err := w.resume.Mint(t.Context(), resume.Caller{Principal: &w.ada.Principal}, hodl.TokenDraft{Session: "ses_1", Audience: "claude.anthropic.com", Scopes: []hodl.Scope{hodl.ReadContext}})
	w.must(err)
	good, revoked := w.mint(hodl.ReadContext), w.mint(hodl.ReadContext)
	_, err = w.resume.Revoke(t.Context(), resume.Caller{Principal: &w.ada.Principal}, revoked.ID, "")
	w.must(err)
	cut := strings.LastIndexByte(good.Signed, '.')
	reader := w.keyOf(w.ada, "sessions:read")
	for name, c := range map[string]struct {
		credential, tool string
		headers          []string
		status           int
		challenge, code  string
	}{
		"none":                        {"", "resume", nil, 401, `scope="sessions:read hodls:write"`, "missing_credentials"},
		"an unknown key":              {"hodl_live_x", "resume", nil, 401, `error="invalid_token"`, "invalid_key"},
		"a token for REST":            {elsewhere.Signed, "resume", nil, 401, `error="invalid_token"`, "audience_mismatch"},
		"a forged token":              {good.Signed[:cut+1] + strings.Repeat("A", len(good.Signed)-cut-1), "resume", nil, 401, `error="invalid_token"`, "invalid_token"},
		"a revoked token, resume":     {revoked.Signed, "resume", nil, 401, `error="invalid_token"`, "token_revoked"},
		"a revoked token, list":       {revoked.Signed, "list", nil, 401, `error="invalid_token"`, "token_revoked"},
		"a token, as somebody else":   {good.Signed, "resume", []string{"Hodl-Audience", "x.ai"}, 401, `error="invalid_token"`, "audience_mismatch"},
		"a key, as somebody else":     {w.ada.key, "resume", []string{"Hodl-Audience", "x.ai"}, 401, `error="invalid_token"`, "audience_mismatch"},
		"a key that only reads":       {reader.key, "hodl", nil, 403, `error="insufficient_scope", scope="hodls:write"`, "insufficient_scope"},
		"a token that only reads":     {good.Signed, "note", nil, 403, `error="insufficient_scope", scope="write:notes"`, "insufficient_scope"},
		"a token where a key belongs": {good.Signed, "hodl", nil, 403, `error="insufficient_scope", scope="hodls:write"`, "insufficient_scope"},
	} {
		for _, version := range []string{modern, legacy} {
			a := w.do(w.request(t.Context(), version, c.credential, "tools/call", `{"name":"`+c.tool+`","arguments":{}}`, c.headers...))
			got := a.header.Get("WWW-Authenticate")
			if a.status != c.status || !strings.HasPrefix(got, "Bearer ") || !strings.Contains(got, c.challenge) || !strings.Contains(got, metadata) || a.refusal() != c.code {
				t.Errorf("%s, %s: %s, WWW-Authenticate: %s", name, version, a, got)
			}
			if c.code == "missing_credentials" && strings.Contains(got, "error=") {
				t.Errorf("%s: a caller without credentials made no error: %s", name, got)
			}
		}
	}
	if a := w.rpc(good.Signed, "tools/list", ""); a.status != 200 {
		t.Errorf("a good token: %s", a)
	}
	w.micros.Add(2 * time.Hour.Microseconds())
	if a := w.rpc(good.Signed, "tools/list", ""); a.status != 401 || a.refusal() != "token_expired" {
		t.Errorf("once it has expired: %s", a)
	}
}

// A token in the query is no credential.
func TestNoTokenInTheQuery(t *testing.T) {
	w := newWorld(t)
	r := w.request(t.Context(), modern, "", "tools/list", "")
	r.URL.RawQuery = "access_token=" + w.ada.key
	if a := w.do(r); a.status != 401 {
		t.Errorf("it answers %s", a)
	}
}

// The metadata says which resource the door is, at both places where clients look.
func TestMetadata(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", w.url+path, nil)
		w.must(err)
		a := w.do(r)
		var m struct {
			Resource string
			Methods  []string `json:"bearer_methods_supported"`
			Scopes   []string `json:"scopes_supported"`
		}
		w.must(json.Unmarshal(a.raw, &m))
		if a.status != 200 || m.Resource != public+"/mcp" || !slices.Equal(m.Methods, []string{"header"}) || slices.Contains(m.Scopes, "offline_access") {
			t.Errorf("%s is %s", path, a)
		}
	}
	below := mcpserver.New(mcpserver.Options{PublicURL: "https://example.com/hodl"})
	if !slices.Contains(below.MetadataPaths(), "/.well-known/oauth-protected-resource/hodl/mcp") {
		t.Errorf("below a path the metadata is at %v", below.MetadataPaths())
	}
}

// Nobody finds anything of somebody else: what is another's is like what never was.
func TestOthersSeeNothing(t *testing.T) {
	w := newWorld(t)
	kept := w.tool(w.ada.key, "hodl", `{"title":"canary hodl"}`)
	var h struct{ URI string }
	w.must(json.Unmarshal([]byte(kept), &h))
	bearer := w.mint(hodl.ReadContext, hodl.ReadReasoning)
	w.put(w.ada, "ses_2", "not for the token")
	for name, credential := range map[string]string{"a colleague": w.bob.key, "a stranger": w.eve.key, "a token of another session": bearer.Signed} {
		id := "ses_1"
		if credential == bearer.Signed {
			id = "ses_2"
		}
		never := strings.ReplaceAll(w.refused(credential, "resume", `{"session_id":"ses_never"}`), "ses_never", id)
		if got := w.refused(credential, "resume", `{"session_id":"`+id+`"}`); got != never {
			t.Errorf("%s resumes: %s, of what never was: %s", name, got, never)
		}
		for _, uri := range []string{"hodl://sessions/" + id, "unihodl://session/" + id} {
			if a := w.rpc(credential, "resources/read", `{"uri":"`+uri+`"}`); a.code() != -32602 {
				t.Errorf("%s reads %s: %s", name, uri, a)
			}
		}
		if a := w.rpc(credential, "prompts/get", `{"name":"resume_session","arguments":{"session_id":"`+id+`"}}`); a.code() != -32602 {
			t.Errorf("%s prompts: %s", name, a)
		}
		if _, a := w.listen(credential, "hodl://sessions/"+id); a == nil || a.status != 400 {
			t.Errorf("%s listens: %v", name, a)
		}
		if a := w.rpc(credential, "resources/read", `{"uri":"`+h.URI+`"}`); a.status == 200 {
			t.Errorf("%s reads the hodl: %s", name, a)
		}
		all := w.tool(credential, "list", `{}`) + string(w.rpc(credential, "resources/list", "").raw) + string(w.rpc(credential, "resources/read", `{"uri":"hodl://recent"}`).raw) +
			string(w.rpc(credential, "completion/complete", `{"ref":{"type":"ref/prompt","name":"resume_session"},"argument":{"name":"session_id","value":""}}`).raw)
		if strings.Contains(all, id) || strings.Contains(all, "canary hodl") {
			t.Errorf("%s sees %s", name, all)
		}
	}
}

// A token sees its one session and the tools its scopes are for.
func TestTokenSeesItsSession(t *testing.T) {
	w := newWorld(t)
	bearer := w.mint(hodl.ReadContext, hodl.WriteNotes)
	if got := w.tool(bearer.Signed, "resume", `{}`); !strings.Contains(got, "canary selection") || strings.Contains(got, "canary node") {
		t.Errorf("resume says %s", got)
	}
	if got := w.tool(bearer.Signed, "list", `{}`); !strings.Contains(got, "ses_1") {
		t.Errorf("list says %s", got)
	}
	var list struct{ Tools []struct{ Name string } }
	w.must(json.Unmarshal(w.rpc(bearer.Signed, "tools/list", "").Result, &list))
	var names []string
	for _, x := range list.Tools {
		names = append(names, x.Name)
	}
	if slices.Sort(names); !slices.Equal(names, []string{"list", "note", "resume"}) {
		t.Errorf("the tools are %v", names)
	}
	if templates := string(w.rpc(bearer.Signed, "resources/templates/list", "").raw); strings.Contains(templates, "hodl://hodls/") {
		t.Errorf("the templates are %s", templates)
	}
}

// Whatever hands a session over does it in one way: one record and one hydration.
// What only looks leaves none.
func TestRecords(t *testing.T) {
	w := newWorld(t)
	bearer := w.mint(hodl.ReadContext, hodl.ReadReasoning)
	for who, credential := range map[string]string{string(w.ada.Key): w.ada.key, public + "/mcp": bearer.Signed} {
		for name, call := range map[string][2]string{
			"tool":      {"tools/call", `{"name":"resume","arguments":{"session_id":"ses_1"}}`},
			"resource":  {"resources/read", `{"uri":"hodl://sessions/ses_1"}`},
			"rendering": {"resources/read", `{"uri":"hodl://sessions/ses_1?format=prompt-ready"}`},
			"published": {"resources/read", `{"uri":"unihodl://session/ses_1"}`},
			"prompt":    {"prompts/get", `{"name":"resume_session","arguments":{"session_id":"ses_1","focus":"the blocker"}}`},
		} {
			before, used := len(w.records(w.ada)), w.used(w.ada)
			a := w.rpc(credential, call[0], call[1])
			list := w.records(w.ada)
			var r struct {
				Meta     map[string]string `json:"_meta"`
				Contents []struct {
					Meta map[string]string `json:"_meta"`
				}
			}
			_ = json.Unmarshal(a.Result, &r) // other members of _meta are no strings
			id := r.Meta["hodl/hydration_id"]
			if len(r.Contents) > 0 {
				id = r.Contents[0].Meta["hodl/hydration_id"]
			}
			if a.status != 200 || len(list) != before+1 || list[0].Kind != hodl.KindHydrate || list[0].Actor != who || w.used(w.ada) != used+1 || string(list[0].ID) != id && !bytes.Contains(a.raw, []byte(list[0].ID)) {
				t.Errorf("%s by %s: %d records more, the last %+v, %d used; %s", name, who, len(list)-before, list[0], w.used(w.ada)-used, a)
			}
			if !bytes.Contains(a.raw, []byte("canary selection")) {
				t.Errorf("%s by %s handed over %s", name, who, a)
			}
		}
		before := len(w.records(w.ada))
		for method, params := range map[string]string{
			"tools/list": "", "resources/list": "", "resources/templates/list": "", "prompts/list": "", "server/discover": "",
			"resources/read":      `{"uri":"hodl://recent"}`,
			"prompts/get":         `{"name":"checkpoint"}`,
			"completion/complete": `{"ref":{"type":"ref/resource","uri":"hodl://sessions/{id}{?format,part}"},"argument":{"name":"id","value":"ses"}}`,
			"tools/call":          `{"name":"list","arguments":{}}`,
		} {
			a := w.rpc(credential, method, params)
			if a.status != 200 || len(w.records(w.ada)) != before || bytes.Contains(a.raw, []byte("canary")) {
				t.Errorf("%s by %s: %d records more; %s", method, who, len(w.records(w.ada))-before, a)
			}
		}
	}
}

// Somebody who hangs up amid a hydration has had it, once.
func TestHangUp(t *testing.T) {
	w := newWorld(t)
	for range 20 {
		ctx, cancel := timeout(t, 300*time.Microsecond)
		response, err := http.DefaultTransport.RoundTrip(w.request(ctx, modern, w.ada.key, "tools/call", `{"name":"resume","arguments":{}}`))
		if err == nil {
			response.Body.Close()
		}
		cancel()
	}
	w.tool(w.ada.key, "resume", `{}`) // those before it are through
	if n := int64(len(w.records(w.ada))); n != w.used(w.ada) || n < 1 {
		t.Errorf("%d records and %d hydrations", n, w.used(w.ada))
	}
}

// A completion tells a person which session an id is.
func TestCompletion(t *testing.T) {
	w := newWorld(t)
	for typed, want := range map[string]string{"ses": `"ses_1-the-cache-bug"`, "CACHE": `"ses_1-the-cache-bug"`, "zebra": `"values":[]`} {
		a := w.rpc(w.ada.key, "completion/complete", `{"ref":{"type":"ref/prompt","name":"resume_session"},"argument":{"name":"session_id","value":"`+typed+`"}}`)
		if !bytes.Contains(a.Result, []byte(want)) {
			t.Errorf("%s completes to %s", typed, a)
		}
	}
}
