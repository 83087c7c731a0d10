package httpapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hodl"
)

// ids is how a list of n strings of a size looks.
func many(n int, item string) string { return "[" + strings.Repeat(item+",", n-1) + item + "]" }

func letters(n int) string { return strings.Repeat("é", n/2) + strings.Repeat("e", n%2) }

// A limit is a field, the most it may be, and a body with so much in it.
type limit struct {
	path  string // of the route
	field string
	most  int
	body  func(n int) string
}

func text(format string) func(int) string {
	return func(n int) string { return fmt.Sprintf(format, letters(n)) }
}

func list(format, item string) func(int) string {
	return func(n int) string { return fmt.Sprintf(format, many(n, item)) }
}

func address(format string) func(int) string {
	const start = "https://example.com/"
	return func(n int) string { return fmt.Sprintf(format, start+strings.Repeat("a", n-len(start))) }
}

func nodes(n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf(`{"id":"n%d","kind":"question","text":"?"}`, i))
	}
	return `{"reasoning_thread":[` + strings.Join(out, ",") + `]}`
}

var limits = []limit{
	{"/v1/hodls", "url", hodl.MaxURL, address(`{"url":"%s"}`)},
	{"/v1/hodls", "title", hodl.MaxTitle, text(`{"title":"%s"}`)},
	{"/v1/hodls", "note", hodl.MaxNote, text(`{"note":"%s"}`)},
	{"/v1/hodls", "tags", hodl.MaxTags, list(`{"title":"x","tags":%s}`, `"t"`)},
	{"/v1/hodls", "tags[0]", hodl.MaxTag, text(`{"title":"x","tags":["%s"]}`)},
	{"/v1/hodls", "location.file", hodl.MaxPath, text(`{"location":{"file":"%s"}}`)},
	{"/v1/hodls", "location.repository", hodl.MaxPath, text(`{"location":{"repository":"%s"}}`)},
	{"/v1/hodls", "location.branch", hodl.MaxPath, text(`{"location":{"file":"f","branch":"%s"}}`)},
	{"/v1/hodls", "location.commit", hodl.MaxPath, text(`{"location":{"file":"f","commit":"%s"}}`)},
	{"/v1/hodls", "location.selection.text", hodl.MaxSelection, text(`{"location":{"file":"f","selection":{"start_line":1,"start_column":1,"end_line":1,"end_column":1,"text":"%s"}}}`)},
	{"/v1/hodl", "title", hodl.MaxTitle, text(`{"session_id":"ses_limit","title":"%s"}`)},
	{"/v1/hodl", "summary", hodl.MaxSummary, text(`{"session_id":"ses_limit","summary":"%s"}`)},
	{"/v1/sessions", "title", hodl.MaxTitle, text(`{"title":"%s"}`)},
	{"/v1/sessions", "summary", hodl.MaxSummary, text(`{"summary":"%s"}`)},
	{"/v1/sessions", "ai_tags", hodl.MaxTags, list(`{"ai_tags":%s}`, `"t"`)},
	{"/v1/sessions", "ai_tags[0]", hodl.MaxTag, text(`{"ai_tags":["%s"]}`)},
	{"/v1/sessions", "tabs", hodl.MaxItems, list(`{"tabs":%s}`, `{"url":"https://a.b","title":""}`)},
	{"/v1/sessions", "tabs[0].url", hodl.MaxURL, address(`{"tabs":[{"title":"","url":"%s"}]}`)},
	{"/v1/sessions", "tabs[0].title", hodl.MaxTitle, text(`{"tabs":[{"url":"https://a.b","title":"%s"}]}`)},
	{"/v1/sessions", "tabs[0].selected_text", hodl.MaxSelection, text(`{"tabs":[{"url":"https://a.b","title":"","selected_text":"%s"}]}`)},
	{"/v1/sessions", "tabs[0].tab_role", hodl.MaxName, text(`{"tabs":[{"url":"https://a.b","title":"","tab_role":"%s"}]}`)},
	{"/v1/sessions", "media[0].url", hodl.MaxURL, address(`{"media":[{"kind":"video","url":"%s"}]}`)},
	{"/v1/sessions", "media", hodl.MaxItems, list(`{"media":%s}`, `{"kind":"video","url":"https://a.b"}`)},
	{"/v1/sessions", "media[0].transcript_anchor", hodl.MaxSelection, text(`{"media":[{"kind":"audio","url":"https://a.b","transcript_anchor":"%s"}]}`)},
	{"/v1/sessions", "notes", hodl.MaxItems, list(`{"notes":%s}`, `{"body":"x"}`)},
	{"/v1/sessions", "notes[0].body", hodl.MaxNote, text(`{"notes":[{"body":"%s"}]}`)},
	{"/v1/sessions", "reasoning_thread", hodl.MaxItems, nodes},
	{"/v1/sessions", "reasoning_thread[0].text", hodl.MaxNode, func(n int) string {
		return fmt.Sprintf(`{"reasoning_thread":[{"id":"n","kind":"question","text":"%s"}]}`, letters(n-1)) // the id counts
	}},
	{"/v1/sessions", "reasoning_thread[0].id", hodl.MaxTag, text(`{"reasoning_thread":[{"id":"%s","kind":"question","text":"?"}]}`)},
	{"/v1/sessions", "reasoning_thread[0].text", hodl.MaxNode, func(n int) string {
		return fmt.Sprintf(`{"reasoning_thread":[{"id":"n","kind":"question","text":"?","evidence":["%s"]}]}`, letters(n-2)) // all of a node counts
	}},
	{"/v1/sessions/ses_limits/fork", "title", hodl.MaxTitle, text(`{"title":"%s"}`)},
	{"/v1/api_keys", "name", hodl.MaxName, text(`{"name":"%s"}`)},
}

// What is as large as it may be passes; what is one over is refused by its name and
// with its limit.
func TestLimits(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_limits")
	for _, l := range limits {
		w.ok(live, "POST", l.path, l.body(l.most))
		a := w.call(live, "POST", l.path, l.body(l.most+1))
		if a.status != 422 || a.code() != "validation_failed" {
			t.Errorf("%s %s: %d over is %.300s", l.path, l.field, l.most+1, a)
			continue
		}
		if got := fieldMessage(a, l.field); !strings.Contains(got, fmt.Sprint(l.most)) {
			t.Errorf("%s %s: %q does not tell the limit %d: %.300s", l.path, l.field, got, l.most, a)
		}
	}
}

// numbered is how a list of n items looks, each with its number.
func numbered(n int, item string) string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf(item, i)
	}
	return "[" + strings.Join(out, ",") + "]"
}

func counted(format, item string) func(int) string {
	return func(n int) string { return fmt.Sprintf(format, numbered(n, item)) }
}

// The same for policies, audiences, people, keys and workspaces.
func TestLimitsOfSettings(t *testing.T) {
	w := newWorld(t)
	names := w.owned()
	number := func(format string) func(int) string { return func(n int) string { return fmt.Sprintf(format, n) } }
	for _, l := range []struct {
		method string
		limit
	}{
		{"PUT", limit{"/v1/redaction_policies/p", "fields", hodl.MaxPolicyRules, list(`{"fields":%s}`, `{"path":"title","action":"keep"}`)}},
		{"PUT", limit{"/v1/redaction_policies/p", "hosts", hodl.MaxPolicyRules, counted(`{"hosts":%s}`, `{"host":"h%d.example.com","action":"drop"}`)}},
		{"PUT", limit{"/v1/redaction_policies/p", "paths", hodl.MaxPolicyRules, counted(`{"paths":%s}`, `{"path":"p%d","action":"drop"}`)}},
		{"PUT", limit{"/v1/redaction_policies/p", "paths[0].path", hodl.MaxPath, text(`{"paths":[{"path":"%s","action":"drop"}]}`)}},
		{"PUT", limit{"/v1/redaction_policies/p", "allow", hodl.MaxPolicyRules, counted(`{"allow":%s}`, `{"value":"value %d"}`)}},
		{"PUT", limit{"/v1/redaction_policies/p", "allow[0].value", hodl.MaxNote, text(`{"allow":[{"value":"%s"}]}`)}},
		{"PUT", limit{"/v1/redaction_policies/p", "allow[0].reason", hodl.MaxTitle, text(`{"allow":[{"value":"x","reason":"%s"}]}`)}},
		{"PUT", limit{"/v1/redaction_policies/p", "dictionaries", hodl.MaxDictionaries, counted(`{"dictionaries":%s}`, `{"id":"d%d","type":"WORD","words":["abc"]}`)}},
		{"PUT", limit{"/v1/redaction_policies/p", "dictionaries[0].words", hodl.MaxWords, counted(`{"dictionaries":[{"id":"d","type":"WORD","words":%s}]}`, `"word%d"`)}},
		{"PUT", limit{"/v1/redaction_policies/p", "dictionaries[0].words[0]", hodl.MaxWord, text(`{"dictionaries":[{"id":"d","type":"WORD","words":["%s"]}]}`)}},
		{"PUT", limit{"/v1/redaction_policies/p", "patterns", hodl.MaxPatterns, counted(`{"patterns":%s}`, `{"id":"p%d","type":"WORD","regex":"abc"}`)}},
		{"PUT", limit{"/v1/redaction_policies/p", "patterns[0].regex", hodl.MaxPattern, text(`{"patterns":[{"id":"p","type":"WORD","regex":"%s"}]}`)}},
		{"PUT", limit{"/v1/redaction_policies/p", "field_bytes", hodl.MaxFieldBytes, number(`{"field_bytes":%d}`)}},
		{"PATCH", limit{"/v1/audiences/{aud}", "description", hodl.MaxTitle, text(`{"description":"%s"}`)}},
		{"PATCH", limit{"/v1/audiences/{aud}", "addresses", hodl.MaxPlaces, counted(`{"addresses":%s}`, `"10.0.0.%d"`)}},
		{"PATCH", limit{"/v1/api_keys/{key}", "name", hodl.MaxName, text(`{"name":"%s"}`)}},
		{"PATCH", limit{"/v1/api_keys/{key}", "addresses", hodl.MaxPlaces, counted(`{"addresses":%s}`, `"10.0.0.%d"`)}},
		{"PATCH", limit{"/v1/api_keys/{key}", "origins", hodl.MaxPlaces, counted(`{"origins":%s}`, `"https://a%d.example.com"`)}},
		{"POST", limit{"/v1/api_keys/{key}/rotate", "overlap_seconds", 30 * 24 * 3600, number(`{"overlap_seconds":%d}`)}},
		{"POST", limit{"/v1/members", "name", hodl.MaxName, text(`{"name":"%s"}`)}},
		{"PATCH", limit{"/v1/members/{usr}", "name", hodl.MaxName, text(`{"name":"%s"}`)}},
		{"POST", limit{"/v1/workspaces", "name", hodl.MaxName, text(`{"name":"%s"}`)}},
		{"PATCH", limit{"/v1/workspaces/{wks}", "name", hodl.MaxName, text(`{"name":"%s"}`)}},
		{"PATCH", limit{"/v1/workspaces/{wks}", "max_ttl_seconds", int(hodl.MaxTTL.Seconds()), number(`{"max_ttl_seconds":%d}`)}},
		{"PATCH", limit{"/v1/workspaces/{wks}", "max_hydrations", hodl.MaxHydrations, number(`{"max_hydrations":%d}`)}},
	} {
		path := names.Replace(l.path)
		w.ok(live, l.method, path, l.body(l.most))
		before := w.counts()
		a := w.call(live, l.method, path, l.body(l.most+1))
		if got := strings.ReplaceAll(fieldMessage(a, l.field), ",", ""); a.status != 422 || !strings.Contains(got, fmt.Sprint(l.most)) {
			t.Errorf("%s %s %s: %q does not tell the limit %d: %.300s", l.method, path, l.field, got, l.most, a)
		}
		if diff := cmp.Diff(before, w.counts()); diff != "" {
			t.Errorf("%s %s %s: something was kept:\n%s", l.method, path, l.field, diff)
		}
	}
}

// The same, where it takes a token, or where what is as large as may be is refused
// for another reason.
func TestLimitsOfOtherCalls(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_limits")
	minted := w.mint("ses_limits", "write:notes write:next_step")
	for _, l := range []struct {
		as string
		limit
	}{
		{minted.text("token"), limit{"/v1/sessions/ses_limits/notes", "body", hodl.MaxNote, text(`{"body":"%s"}`)}},
		{minted.text("token"), limit{"/v1/sessions/ses_limits/reasoning_nodes", "text", hodl.MaxNode, text(`{"id":"n9","kind":"question","text":"%s"}`)}},
		{live, limit{"/v1/resume_tokens", "audience", hodl.MaxAudience, text(`{"session_id":"ses_limits","scopes":["read:context"],"audience":"%s"}`)}},
		{live, limit{"/v1/resume_tokens/" + minted.text("jti") + "/revoke", "reason", hodl.MaxTitle, text(`{"reason":"%s"}`)}},
	} {
		a := w.call(l.as, "POST", l.path, l.body(l.most+1))
		if got := fieldMessage(a, l.field); a.status != 422 || !strings.Contains(got, fmt.Sprint(l.most)) {
			t.Errorf("%s %s: %q does not tell the limit %d: %.300s", l.path, l.field, got, l.most, a)
		}
	}
}

// A session holds as many hodls as may be, and not one more by either way.
func TestHodlsOfASessionAreBounded(t *testing.T) {
	w := newWorld(t)
	w.exec(`with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000)
		insert into hodls (workspace, mode, member, id, url, title, note, tags, source, location, session, created_at, updated_at, deleted_at)
		select $1, 'live', $2, 'hdl_' || i, '', 'x', '', '[]', 'rest', '', 'ses_many', i, i, 0 from n`, string(w.ws), string(w.user))
	extra := w.ok(live, "POST", "/v1/hodls", `{"title":"x"}`).text("id")
	w.ok(live, "PUT", "/v1/sessions/ses_many", `{}`)
	w.run([]scenario{
		{name: "one more", as: live, method: "POST", path: "/v1/hodls", body: `{"title":"x","session_id":"ses_many"}`, status: 422, code: "validation_failed", has: []string{`"session_id"`, "1,000"}},
		{name: "one named", as: live, method: "PUT", path: "/v1/sessions/ses_many", body: `{"hodl_ids":["` + extra + `"]}`, status: 422, code: "validation_failed", has: []string{`"hodl_ids"`, "1000"}},
		{name: "one that is there", as: live, method: "PATCH", path: "/v1/hodls/hdl_7", body: `{"title":"y"}`, status: 200},
	})
}

// fieldMessage is what a refusal says of a field.
func fieldMessage(a *answer, field string) string {
	var body struct {
		Error struct{ Fields []hodl.FieldError }
	}
	if err := json.Unmarshal(a.body, &body); err != nil {
		return ""
	}
	for _, f := range body.Error.Fields {
		if f.Path == field {
			return f.Message
		}
	}
	return ""
}

func TestHodlIDsAreBounded(t *testing.T) {
	w := newWorld(t)
	for body, field := range map[string]string{
		`{"hodl_ids":` + many(hodl.MaxItems+1, `"hdl_x"`) + `}`: "hodl_ids",
		`{"hodl_ids":["hdl_x"]}`:                                "hodl_ids[0]",
		`{"hodl_ids":["a\u0000b"]}`:                             "hodl_ids[0]",
		`{"hodl_ids":["` + letters(70_000) + `"]}`:              "hodl_ids[0]",
	} {
		a := w.call(live, "POST", "/v1/sessions", body)
		if a.status != 422 || fieldMessage(a, field) == "" || len(a.body) > 1000 {
			t.Errorf("%.60s: %.300s", body, a)
		}
	}
}

// A NUL, which one of the databases cannot hold, is refused wherever text goes.
func TestNULIsRefused(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_nul")
	minted := w.mint("ses_nul", "read:context write:notes write:next_step")
	token := minted.text("token")
	const nul = `\u0000`
	for _, s := range []struct{ as, method, path, body, field string }{
		{live, "POST", "/v1/hodls", `{"title":"a` + nul + `"}`, "title"},
		{live, "POST", "/v1/hodls", `{"url":"https://a.b/` + nul + `"}`, "url"},
		{live, "POST", "/v1/hodls", `{"title":"a","tags":["` + nul + `"]}`, "tags[0]"},
		{live, "POST", "/v1/hodl", `{"session_id":"ses_nul","title":"` + nul + `"}`, "title"},
		{live, "POST", "/v1/hodl", `{"session_id":"ses_` + nul + `"}`, "session_id"},
		{live, "PUT", "/v1/sessions/ses_nul", `{"tabs":[{"url":"https://a.b","title":"","tab_role":"` + nul + `"}]}`, "tabs[0].tab_role"},
		{live, "PUT", "/v1/sessions/ses_nul", `{"notes":[{"body":"` + nul + `"}]}`, "notes[0].body"},
		{live, "PUT", "/v1/sessions/ses_nul", `{"reasoning_thread":[{"id":"` + nul + `","kind":"question","text":"?"}]}`, "reasoning_thread[0].id"},
		{live, "PUT", "/v1/sessions/ses_nul", `{"reasoning_thread":[{"id":"n","kind":"question","text":"?","evidence":["` + nul + `"]}]}`, "reasoning_thread[0].evidence[0]"},
		{live, "POST", "/v1/resume_tokens", `{"session_id":"ses_nul","audience":"` + nul + `","scopes":["read:context"]}`, "audience"},
		{live, "POST", "/v1/resume_tokens/" + minted.text("jti") + "/revoke", `{"reason":"` + nul + `"}`, "reason"},
		{live, "POST", "/v1/api_keys", `{"name":"` + nul + `"}`, "name"},
		{token, "POST", "/v1/sessions/ses_nul/notes", `{"body":"` + nul + `"}`, "body"},
		{token, "POST", "/v1/sessions/ses_nul/reasoning_nodes", `{"id":"n","kind":"question","text":"` + nul + `"}`, "text"},
		{token, "PUT", "/v1/sessions/ses_nul/next_step", `{"text":"` + nul + `"}`, "text"},
	} {
		a := w.call(s.as, s.method, s.path, s.body)
		if a.status != 422 || fieldMessage(a, s.field) == "" {
			t.Errorf("%s %s with a NUL in %s: %s", s.method, s.path, s.field, a)
		}
	}
}

// Values of every type in every place: each is taken or refused, in words of JSON,
// and never a fault of ours.
func TestWrongTypes(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_types")
	token := w.token("ses_types", "write:notes write:next_step")
	values := []string{`null`, `true`, `1`, `-1`, `1.5`, `1e400`, `9223372036854775808`, `""`, `"x"`, `[]`, `[null]`, `[1]`, `[[]]`, `{}`, `[{}]`, `{"a":1}`}
	for _, s := range []struct {
		as, method, path string
		bodies           []string
	}{
		{live, "POST", "/v1/hodl", append(sessionFields, hodlFields...)},
		{live, "POST", "/v1/hodls", hodlFields},
		{live, "POST", "/v1/sessions", sessionFields},
		{live, "POST", "/v1/resume_tokens", tokenFields},
		{live, "POST", "/v1/api_keys", []string{`{"name":%s}`, `{"name":"x","mode":%s}`}},
		{token, "POST", "/v1/sessions/ses_types/notes", []string{`{"body":%s}`}},
		{token, "PUT", "/v1/sessions/ses_types/next_step", []string{`{"text":%s}`, `{"text":"x","depends_on":%s}`, `{"text":"x","confidence":%s}`}},
	} {
		for _, body := range s.bodies {
			for _, v := range values {
				a := w.call(s.as, s.method, s.path, fmt.Sprintf(body, v))
				if a.status >= 300 && a.status != 422 && (a.status != 400 || v != "1e400") {
					t.Errorf("%s %s with %s in %s: %s", s.method, s.path, v, body, a)
				}
			}
		}
	}
}

var (
	hodlFields = []string{
		`{"url":%s}`, `{"title":%s}`, `{"note":%s}`, `{"title":"x","tags":%s}`, `{"title":"x","source":%s}`, `{"title":"x","location":%s}`,
		`{"location":{"file":%s}}`, `{"location":{"file":"f","line":%s}}`, `{"location":{"file":"f","selection":%s}}`,
		`{"location":{"file":"f","selection":{"start_line":%s,"start_column":1,"end_line":1,"end_column":1}}}`,
	}
	sessionFields = []string{
		`{"session_id":%s}`, `{"tabs":[],"title":%s}`, `{"tabs":[],"summary":%s}`, `{"tabs":%s}`, `{"media":%s}`, `{"reasoning_thread":%s}`, `{"ai_tags":%s}`, `{"notes":%s}`,
		`{"tabs":[],"hodl_ids":%s}`, `{"tabs":[],"state":%s}`, `{"tabs":[{"url":%s,"title":""}]}`, `{"tabs":[{"url":"https://a.b","title":%s}]}`,
		`{"tabs":[{"url":"https://a.b","title":"","scroll_y_pct":%s}]}`, `{"media":[{"kind":%s,"url":"https://a.b"}]}`, `{"media":[{"kind":"video","url":"https://a.b","timestamp_s":%s}]}`,
		`{"reasoning_thread":[{"id":%s,"kind":"question","text":"?"}]}`, `{"reasoning_thread":[{"id":"n","kind":%s,"text":"?"}]}`,
		`{"reasoning_thread":[{"id":"n","kind":"question","text":"?","supports":%s}]}`, `{"reasoning_thread":[{"id":"n","kind":"question","text":"?","confidence":%s}]}`,
		`{"notes":[{"body":%s}]}`,
	}
	tokenFields = []string{
		`{"session_id":%s,"audience":"sdk.unihodl.app","scopes":["read:context"]}`, `{"session_id":"ses_types","audience":%s,"scopes":["read:context"]}`,
		`{"session_id":"ses_types","audience":"sdk.unihodl.app","scopes":%s}`, `{"session_id":"ses_types","audience":"sdk.unihodl.app","scopes":["read:context"],"ttl_seconds":%s}`,
		`{"session_id":"ses_types","audience":"sdk.unihodl.app","scopes":["read:context"],"max_hydrations":%s}`,
	}
)

// A refusal says what is there and what must be.
func TestMisfitsAreSentences(t *testing.T) {
	w := newWorld(t)
	for body, want := range map[string]string{
		`[]`:                                   `body is an array; it must be an object`,
		`{"tabs":{}}`:                          `tabs is an object; it must be an array`,
		`{"tabs":[{"url":7}]}`:                 `tabs[0].url is a number; it must be a string`,
		`{"title":["x"]}`:                      `title is an array; it must be a string`,
		`{"location":{"file":"f","line":1.5}}`: `location.line is out of range; it must be a whole number that fits`,
		`{"location":{"file":"f","line":"1"}}`: `location.line is a string; it must be a whole number`,
		`{"reasoning_thread":[{"id":"n","kind":"question","text":"?","confidence":"high"}]}`: `reasoning_thread[0].confidence is a string; it must be a number`,
	} {
		a := w.call(live, "POST", "/v1/hodl", body)
		e, _ := a.object()["error"].(object)
		if e["message"] != want {
			t.Errorf("%s: %v, want %s", body, e["message"], want)
		}
	}
}

func TestUnknownFields(t *testing.T) {
	w := newWorld(t)
	const body = `{"title":"x","colour":1,"tabs":[{"url":"https://a.b","title":"","pinned":true}],"reasoning_thread":[{"id":"n","kind":"question","text":"?","supports":["gone"],"depends_on":["n"]}]}`
	a := w.ok(live, "POST", "/v1/hodl", body)
	got, _ := json.Marshal(a.object()["warnings"])
	want := `["colour: unknown field; dropped","tabs[0].pinned: unknown field; dropped",` +
		`"reasoning_thread[0].supports: no node \"gone\" in this thread; dropped","reasoning_thread[0].depends_on: \"n\" closes a cycle; dropped"]`
	if string(got) != want {
		t.Errorf("warnings are %s", got)
	}
	w.run([]scenario{
		{name: "a hodl", as: live, method: "POST", path: "/v1/hodls", body: `{"title":"x","colour":1,"location":{"file":"f","inode":3}}`, status: 201, has: []string{`"colour: unknown field; dropped"`, `"location.inode: unknown field; dropped"`}},
		{name: "strict", as: live, method: "POST", path: "/v1/sessions", body: body, status: 422, code: "validation_failed", has: []string{`"colour"`, `"tabs[0].pinned"`}},
		{name: "strict change", as: live, method: "PUT", path: "/v1/sessions/ses_a", body: `{"tabs":[{"url":"https://a.b"}]}`, status: 422, code: "validation_failed", has: []string{"title"}},
		{name: "another case is another field", as: live, method: "POST", path: "/v1/hodls", body: `{"title":"x","Note":"y"}`, status: 201, has: []string{`"Note: unknown field; dropped"`}},
	})
}

// A null that changed nothing would be taken for one that cleared the field.
func TestNullsAreRefused(t *testing.T) {
	w := newWorld(t)
	kept := w.ok(live, "POST", "/v1/hodls", `{"url":"https://example.com/","title":null}`) // the lenient call takes it for absent
	hodl := "/v1/hodls/" + kept.text("id")
	for _, c := range []struct{ method, path, body, field string }{
		{"PATCH", hodl, `{"note":null}`, "note"},
		{"POST", "/v1/sessions", `{"title":"x","summary":null}`, "summary"},
		{"POST", "/v1/sessions", `{"tabs":[{"url":"https://example.com/","title":"x","scroll_y_pct":null}]}`, "tabs[0].scroll_y_pct"},
		{"POST", "/v1/resume_tokens", `{"session_id":"ses_1","audience":"claude.anthropic.com","scopes":["read:context"],"ttl_seconds":null}`, "ttl_seconds"},
		{"PUT", "/v1/redaction_policies/mine", `{"allow":null}`, "allow"},
		{"PUT", "/v1/redaction_policies/mine", `{"extends":null}`, "extends"},
		{"PUT", "/v1/redaction_policies/mine", `{"allow":[{"value":null}]}`, "allow[0].value"},
		{"PUT", "/v1/redaction_policies/mine", `{"classes":{"pii":null}}`, "classes.pii"},
		{"PUT", "/v1/redaction_policies/mine", `null`, "body"},
		{"POST", "/v1/redaction_policies/balanced/preview", `{"session_id":"ses_1","scopes":null}`, "scopes"},
		{"POST", "/v1/redaction_policies/balanced/preview", `{"session_id":"ses_1","document":{"urls":null}}`, "document.urls"},
	} {
		a := w.call(live, c.method, c.path, c.body)
		if a.status != 422 || !strings.Contains(a.String(), `"path":"`+c.field+`"`) {
			t.Errorf("%s %s with %s: %s", c.method, c.path, c.body, a)
		}
	}
}
