package httpapi_test

import (
	"strings"
	"testing"
	"time"

	"hodl"
)

const (
	mail   = "anna.berg@nordwind.se"
	secret = "hunter2" + "-Xk93mQz" // joined, or scanners stop the change
	client = "Zanzibar Rail"
)

// confidential captures a session with a secret, an address of a person and the name
// of a client in it.
func (w *world) confidential(id string) {
	w.t.Helper()
	w.ok(live, "PUT", "/v1/sessions/"+id, `{"title":"talk with `+client+`","notes":[{"body":"write to `+mail+`"},{"body":"password=`+secret+`"}]}`)
}

func TestPolicies(t *testing.T) {
	w := newWorld(t)
	w.run([]scenario{
		{name: "a new workspace", as: live, method: "GET", path: "/v1/redaction_policies", status: 200, has: []string{`"current":"default-strict"`, `"redaction_policies":[]`, `"name":"gdpr-eu"`}},
		{name: "a preset", as: live, method: "GET", path: "/v1/redaction_policies/default-strict", status: 200, has: []string{`"preset":true`, `"current":true`, `"secret":"remove"`}},
		{name: "none", as: live, method: "GET", path: "/v1/redaction_policies/ours", status: 404, code: "not_found"},
		{name: "make one", as: live, method: "PUT", path: "/v1/redaction_policies/ours", body: `{"extends":"balanced","classes":{"pii.email":"keep"}}`, status: 200, has: []string{`"version":1`, `"current":false`}},
		{name: "the same again", as: live, method: "PUT", path: "/v1/redaction_policies/ours", body: `{"extends":"balanced","classes":{"pii.email":"keep"}}`, status: 200, has: []string{`"version":1`}},
		{name: "at a version that is not there", as: live, method: "PUT", path: "/v1/redaction_policies/ours", body: `{}`, headers: []string{"If-Match", `"7"`}, status: 412, code: "rejected_by_concurrency"},
		{name: "at any, of none", as: live, method: "PUT", path: "/v1/redaction_policies/none", body: `{}`, headers: []string{"If-Match", "*"}, status: 412, code: "rejected_by_concurrency"},
		{name: "the next", as: live, method: "PUT", path: "/v1/redaction_policies/ours", body: `{"extends":"pci"}`, headers: []string{"If-Match", `"1"`}, status: 200, has: []string{`"version":2`}},
		{name: "the first", as: live, method: "GET", path: "/v1/redaction_policies/ours?version=1", status: 200, has: []string{`"pii.email":"keep"`}},
		{name: "back", as: live, method: "POST", path: "/v1/redaction_policies/ours/rollback", body: `{"version":1}`, status: 200, has: []string{`"version":3`, `"pii.email":"keep"`}},
		{name: "back to nothing", as: live, method: "POST", path: "/v1/redaction_policies/ours/rollback", body: `{"version":9}`, status: 404, code: "not_found"},
		{name: "history", as: live, method: "GET", path: "/v1/redaction_policies/ours/versions?limit=2", status: 200, has: []string{`"version":3`, `"version":2`, `"next_cursor":"`}, hasNot: []string{`"version":1`}},
		{name: "a preset does not change", as: live, method: "PUT", path: "/v1/redaction_policies/balanced", body: `{}`, status: 422, code: "validation_failed", has: []string{`"path":"name"`, "extend"}},
		{name: "faults by their path", as: live, method: "PUT", path: "/v1/redaction_policies/ours", body: `{"extends":"none","classes":{"pii.emial":"remove"},"fields":[{"path":"tabs[0]","action":"drop"}],"patterns":[{"id":"x","type":"T","regex":"("}]}`, status: 422, code: "validation_failed", has: []string{`"path":"extends"`, `"path":"fields[0].path"`, `"path":"patterns[0].regex"`}},
		{name: "an unknown class", as: live, method: "PUT", path: "/v1/redaction_policies/ours", body: `{"classes":{"pii.emial":"remove"}}`, status: 422, code: "validation_failed", has: []string{`"path":"classes.pii.emial"`}},
		{name: "an unknown field", as: live, method: "PUT", path: "/v1/redaction_policies/ours", body: `{"clases":{}}`, status: 422, code: "validation_failed", has: []string{`"path":"clases"`}},
		{name: "by a member", as: member, method: "PUT", path: "/v1/redaction_policies/ours", body: `{}`, status: 403, code: "forbidden"},
		{name: "read by a member", as: member, method: "GET", path: "/v1/redaction_policies/ours", status: 200},
		{name: "used by a member", as: member, method: "POST", path: "/v1/redaction_policies/off/use", status: 403, code: "forbidden"},
		{name: "of the sandbox", as: sandbox, method: "GET", path: "/v1/redaction_policies/ours", status: 404, code: "not_found"},
		{name: "by a stranger", as: stranger, method: "GET", path: "/v1/redaction_policies/ours", status: 404, code: "not_found"},
		{name: "use it", as: live, method: "POST", path: "/v1/redaction_policies/ours/use", status: 200, has: []string{`"current":true`}},
		{name: "use nothing", as: live, method: "POST", path: "/v1/redaction_policies/gone/use", status: 404, code: "not_found"},
		{name: "delete the current one", as: live, method: "DELETE", path: "/v1/redaction_policies/ours", status: 409, code: "conflict", has: []string{"use another"}},
		{name: "use a preset", as: live, method: "POST", path: "/v1/redaction_policies/gdpr-eu/use", status: 200},
		{name: "delete it", as: live, method: "DELETE", path: "/v1/redaction_policies/ours", status: 200, has: []string{`"deleted":true`}},
		{name: "gone", as: live, method: "GET", path: "/v1/redaction_policies/ours", status: 404, code: "not_found"},
		{name: "made again", as: live, method: "PUT", path: "/v1/redaction_policies/ours", body: `{}`, status: 200, has: []string{`"version":4`}},
		{name: "once", as: live, method: "PUT", path: "/v1/redaction_policies/ours", body: `{"extends":"off"}`, headers: []string{"Idempotency-Key", "k1"}, status: 200, has: []string{`"version":5`}},
		{name: "once, again", as: live, method: "PUT", path: "/v1/redaction_policies/ours", body: `{"extends":"off"}`, headers: []string{"Idempotency-Key", "k1"}, status: 200, has: []string{`"version":5`}},
	})
}

func TestPoliciesTakeAPlan(t *testing.T) {
	w := newWorld(t, setting{plan: hodl.Developer})
	put := func(name, body string, status int, has ...string) scenario {
		return scenario{name: name, as: live, method: "PUT", path: "/v1/redaction_policies/ours", body: body, status: status, code: map[int]string{403: "plan_required"}[status], has: has}
	}
	allow := `{"allow":[{"value":"a"}],"classes":{"pii":"keep"}}`
	words := `{"dictionaries":[{"id":"x","type":"X","words":["word"]}],"patterns":[{"id":"y","type":"Y","regex":"ACME-[0-9]+"}]}`
	w.run([]scenario{
		put("a preset extended", `{"extends":"balanced"}`, 200),
		put("classes on developer", allow, 403, "allow, classes", "startup"),
		{name: "a preset in use", as: live, method: "POST", path: "/v1/redaction_policies/pci/use", status: 200},
	})
	w.must(w.SetPlan(t.Context(), w.ws, hodl.Scale))
	w.clock.advance(2 * time.Second) // a principal is remembered for one
	w.run([]scenario{
		put("classes", allow, 200),
		put("words on scale", words, 403, "dictionaries, patterns", "enterprise"),
	})
	w.must(w.SetPlan(t.Context(), w.ws, hodl.Enterprise))
	w.clock.advance(2 * time.Second)
	w.run([]scenario{put("words", words, 200)})
}

// Whatever the current policy, the token's and those it comes from name is removed;
// which version counts is decided when the agent asks.
func TestHydrationUnderPolicies(t *testing.T) {
	w := newWorld(t)
	w.confidential("ses_pol")
	token := w.token("ses_pol", "read:context", `"max_hydrations":20`)
	sees := func(name, token string, has, hasNot []string) {
		t.Helper()
		a := w.hydrate(token, "ses_pol")
		for _, s := range has {
			if !strings.Contains(string(a.body), s) {
				t.Errorf("%s: %q is missing in %s", name, s, a)
			}
		}
		for _, s := range hasNot {
			if strings.Contains(string(a.body), s) {
				t.Errorf("%s: %q is in %s", name, s, a)
			}
		}
	}
	sees("a new workspace", token, []string{client, "[EMAIL_1]"}, []string{mail, secret})
	use := func(name string) { t.Helper(); w.ok(live, "POST", "/v1/redaction_policies/"+name+"/use", "") }
	use("off")
	sees("off", token, []string{client, mail, secret}, nil)
	use("secrets-only")
	sees("secrets only", token, []string{client, mail}, []string{secret})

	put := func(name, body string) { t.Helper(); w.ok(live, "PUT", "/v1/redaction_policies/"+name, body) }
	put("ours", `{"extends":"secrets-only","dictionaries":[{"id":"clients","type":"CLIENT","words":["`+client+`"]}]}`)
	sees("one that is not in use", token, []string{client, mail}, []string{secret})
	use("ours")
	sees("a dictionary", token, []string{"[CLIENT_1]", mail}, []string{client, secret})
	put("ours", `{"extends":"off"}`)
	sees("its next version", token, []string{client, mail, secret}, nil)
	record := w.records("hydrate")[0]
	if got := record["policies"].([]any)[0].(object); got["name"] != "ours" || got["version"] != 2.0 {
		t.Errorf("the record tells of %v", got)
	}

	put("agents", `{"extends":"off","classes":{"pii.email":"remove"}}`)
	bound := w.token("ses_pol", "read:context session:hand_off", `"redaction_policy":"agents"`)
	sees("the token's as well", bound, []string{client, secret}, []string{mail})
	child := w.ok(bound, "POST", "/v1/resume_tokens/exchange", `{"audience":"agents.openai.com","scopes":["read:context"],"redaction_policy":"secrets-only"}`).text("token")
	sees("its child's as well", child, []string{client}, []string{mail, secret})
	w.ok(live, "DELETE", "/v1/redaction_policies/agents", "")
	for name, token := range map[string]string{"the token": bound, "its child": child} {
		if a := w.hydrate(token, "ses_pol"); a.status != 403 || !strings.Contains(string(a.body), "no longer there") || strings.Contains(string(a.body), client) {
			t.Errorf("%s of a policy that is gone: %s", name, a)
		}
	}
	if denied := w.records("denied"); len(denied) != 2 {
		t.Errorf("%d denials are recorded, want 2: %v", len(denied), denied)
	}
	w.run([]scenario{{name: "minted for none", as: live, method: "POST", path: "/v1/resume_tokens", body: `{"session_id":"ses_pol","audience":"sdk.unihodl.app","scopes":["read:context"],"redaction_policy":"agents"}`, status: 422, code: "validation_failed", has: []string{`"path":"redaction_policy"`, "balanced"}}})
}

// What an allowance lets pass, it lets pass until it ends, though the rendering is
// kept.
func TestAllowancesEnd(t *testing.T) {
	w := newWorld(t)
	w.confidential("ses_pol")
	token := w.token("ses_pol", "read:context", `"max_hydrations":9`)
	end := start.Add(time.Hour / 2).Format(time.RFC3339)
	w.ok(live, "PUT", "/v1/redaction_policies/ours", `{"allow":[{"domain":"nordwind.se","expires":"`+end+`"}]}`)
	w.ok(live, "POST", "/v1/redaction_policies/ours/use", "")
	for range 2 {
		if a := w.hydrate(token, "ses_pol"); !strings.Contains(string(a.body), mail) {
			t.Errorf("before its end: %s", a)
		}
	}
	w.clock.advance(time.Hour / 2)
	if a := w.hydrate(token, "ses_pol"); a.status != 200 || strings.Contains(string(a.body), mail) {
		t.Errorf("after its end: %s", a)
	}
}

// The scope read:redacted shows what the policy would remove, where the policy says
// so; secrets never.
func TestReadRedacted(t *testing.T) {
	w := newWorld(t)
	w.confidential("ses_pol")
	token := w.token("ses_pol", "read:context read:redacted session:hand_off", `"max_hydrations":9`)
	if a := w.hydrate(token, "ses_pol"); a.status != 403 || a.code() != "forbidden" || !strings.Contains(string(a.body), "consent") {
		t.Errorf("without consent: %s", a)
	}
	w.ok(live, "PUT", "/v1/redaction_policies/open", `{"read_redacted":true,"dictionaries":[{"id":"clients","type":"CLIENT","words":["`+client+`"]}]}`)
	w.ok(live, "POST", "/v1/redaction_policies/open/use", "")
	if a := w.hydrate(token, "ses_pol"); !strings.Contains(string(a.body), mail) || !strings.Contains(string(a.body), client) || strings.Contains(string(a.body), secret) {
		t.Errorf("with consent: %s", a)
	}
	if scopes := w.records("hydrate")[0]["scopes"]; !strings.Contains(strings.Join(texts(scopes), " "), "read:redacted") {
		t.Errorf("the record tells of %v", scopes)
	}
	if a := w.hydrate(w.token("ses_pol", "read:context"), "ses_pol"); strings.Contains(string(a.body), mail) || strings.Contains(string(a.body), client) {
		t.Errorf("without the scope: %s", a)
	}
	child := w.ok(token, "POST", "/v1/resume_tokens/exchange", `{"audience":"agents.openai.com","scopes":["read:context"]}`).text("token")
	if a := w.hydrate(child, "ses_pol"); strings.Contains(string(a.body), mail) {
		t.Errorf("a child: %s", a)
	}
	w.ok(live, "POST", "/v1/redaction_policies/balanced/use", "")
	if a := w.hydrate(token, "ses_pol"); a.status != 403 || strings.Contains(string(a.body), mail) {
		t.Errorf("with the consent gone: %s", a)
	}
}

func texts(list any) (out []string) {
	for _, x := range list.([]any) {
		out = append(out, x.(string))
	}
	return out
}

// A session that a policy cannot look through is handed to nobody, and that is
// recorded.
func TestPolicyRefuses(t *testing.T) {
	w := newWorld(t)
	w.ok(live, "PUT", "/v1/sessions/ses_long", `{"title":"x","notes":[{"body":"`+strings.Repeat("word ", 300)+`"}]}`)
	w.ok(live, "PUT", "/v1/redaction_policies/short", `{"field_bytes":1024}`)
	token := w.token("ses_long", "read:context", `"redaction_policy":"short"`)
	if a := w.hydrate(token, "ses_long"); a.status != 403 || !strings.Contains(string(a.body), "notes[0].body") || strings.Contains(string(a.body), "word word") {
		t.Errorf("a long field: %s", a)
	}
	if denied := w.records("denied"); len(denied) != 1 || denied[0]["code"] != "forbidden" {
		t.Errorf("the denials are %v", denied)
	}
	w.ok(live, "PUT", "/v1/redaction_policies/short", `{"field_bytes":1024,"on_fault":"drop"}`)
	if a := w.hydrate(token, "ses_long"); a.status != 200 || strings.Contains(string(a.body), "word word") {
		t.Errorf("dropped: %s", a)
	}
}

func TestPreview(t *testing.T) {
	w := newWorld(t)
	w.confidential("ses_pre")
	path := "/v1/redaction_policies/default-strict/preview"
	got := w.ok(live, "POST", path, `{"session_id":"ses_pre","audience":"claude.anthropic.com","format":"markdown"}`)
	for _, s := range []string{"[EMAIL_1]", `"field":"notes[0].body"`, `"after":"write to [EMAIL_1]"`, `"rule":"`, `"content_type":"text/markdown`} {
		if !strings.Contains(string(got.body), s) {
			t.Errorf("%q is missing in %s", s, got)
		}
	}
	token := w.token("ses_pre", "read:context read:reasoning read:transcript")
	hydrated := w.call(token, "POST", "/v1/sessions/ses_pre/hydrate?format=markdown", "")
	if got.text("body") != string(hydrated.body) {
		t.Errorf("the preview is not what an agent gets:\n%s\n%s", got.text("body"), string(hydrated.body))
	}
	if used := w.ok(live, "GET", "/v1/usage", ""); !strings.Contains(string(used.body), `"hydrations":1`) {
		t.Errorf("usage: %s", used)
	}
	record := w.records("preview")[0]
	if record["id"] != got.text("preview_id") || record["audience"] != "claude.anthropic.com" || strings.Contains(string(w.ok(live, "GET", "/v1/access_records?kind=preview", "").body), mail) {
		t.Errorf("the record is %v", record)
	}
	w.run([]scenario{
		{name: "with a token's", as: live, method: "POST", path: "/v1/redaction_policies/off/preview", body: `{"session_id":"ses_pre","redaction_policy":"secrets-only"}`, status: 200, has: []string{mail}, hasNot: []string{secret}},
		{name: "a document", as: live, method: "POST", path: "/v1/redaction_policies/next/preview", body: `{"session_id":"ses_pre","document":{"extends":"off","dictionaries":[{"id":"c","type":"CLIENT","words":["` + client + `"]}]}}`, status: 200, has: []string{"[CLIENT_1]", mail, `"version":0`}, hasNot: []string{client}},
		{name: "a bad document", as: live, method: "POST", path: "/v1/redaction_policies/next/preview", body: `{"session_id":"ses_pre","document":{"patterns":[{"id":"x","type":"T","regex":"("}]}}`, status: 422, code: "validation_failed", has: []string{`"path":"document.patterns[0].regex"`}},
		{name: "no policy", as: live, method: "POST", path: "/v1/redaction_policies/next/preview", body: `{"session_id":"ses_pre"}`, status: 404, code: "not_found"},
		{name: "another's session", as: member, method: "POST", path: path, body: `{"session_id":"ses_pre"}`, status: 404, code: "not_found", hasNot: []string{client}},
		{name: "a stranger's", as: stranger, method: "POST", path: path, body: `{"session_id":"ses_pre"}`, status: 404, code: "not_found"},
		{name: "no such format", as: live, method: "POST", path: path, body: `{"session_id":"ses_pre","format":"pdf"}`, status: 406, code: "not_acceptable"},
		{name: "no such audience", as: live, method: "POST", path: path, body: `{"session_id":"ses_pre","audience":"nobody.example.com"}`, status: 422, code: "validation_failed"},
		{name: "a member's scope", as: member, method: "POST", path: path, body: `{"session_id":"ses_pre","scopes":["read:context","read:redacted"]}`, status: 403, code: "forbidden"},
	})
}
