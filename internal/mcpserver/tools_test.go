package mcpserver_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hodl"
	"hodl/internal/httpapi"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// mostTokens is what the list of tools may cost a model's context. A token is three
// bytes of such text at the very least.
const mostTokens = 1800

// What a model reads of the tools is held: a change is looked at like code.
func TestGoldenTools(t *testing.T) {
	w := newWorld(t)
	var list struct{ Tools json.RawMessage }
	w.must(json.Unmarshal(w.rpc(w.ada.key, "tools/list", "").Result, &list))
	if n := len(list.Tools) / 3; n > mostTokens {
		t.Errorf("the tools are %d bytes, up to %d tokens; at most %d are allowed", len(list.Tools), n, mostTokens)
	}
	var pretty any
	w.must(json.Unmarshal(list.Tools, &pretty))
	got, err := json.MarshalIndent(pretty, "", "  ")
	w.must(err)
	file := filepath.Join("testdata", "tools.json")
	if *update {
		w.must(os.MkdirAll("testdata", 0o755))
		w.must(os.WriteFile(file, append(got, '\n'), 0o644))
	}
	want, err := os.ReadFile(file)
	w.must(err)
	if diff := cmp.Diff(string(want), string(got)+"\n"); diff != "" {
		t.Errorf("the tools have changed; look, then run with -update (-want +got):\n%s", diff)
	}
}

// shared are the arguments that are fields of the REST API, by the schema they are in
// there.
var shared = map[string]string{"hodl": "HodlDraft", "note": "NoteDraft", "next_step": "NextStepBody", "handoff": "HandOffDraft"}

// An argument that is a field of the REST API is the same there: its type, its
// bounds, its choices.
func TestSchemasAreThoseOfREST(t *testing.T) {
	document := httpapi.Document()
	var api struct {
		Components struct {
			Schemas map[string]schema
		}
	}
	if err := json.Unmarshal(document, &api); err != nil {
		t.Fatal(err)
	}
	for name, rest := range shared {
		var tool schema
		raw, err := os.ReadFile(filepath.Join("schemas", name+".json"))
		if err == nil {
			err = json.Unmarshal(raw, &tool)
		}
		if err != nil {
			t.Fatal(err)
		}
		for field, theirs := range api.Components.Schemas[rest].Properties {
			if ours, both := tool.Properties[field]; both {
				ours.within(t, name+"."+field, theirs, api.Components.Schemas)
			}
		}
		if len(api.Components.Schemas[rest].Properties) == 0 {
			t.Errorf("REST has no %s", rest)
		}
	}
}

type schema struct {
	Type             any
	Ref              string `json:"$ref"`
	Enum             []string
	Minimum, Maximum *float64
	Items            *schema
	Properties       map[string]schema
}

// within faults what this schema takes and the other does not.
func (s schema) within(t *testing.T, path string, other schema, all map[string]schema) {
	t.Helper()
	if name, ok := strings.CutPrefix(other.Ref, "#/components/schemas/"); ok {
		other = all[name]
	}
	if kind, _ := other.Type.(string); kind != s.Type {
		t.Errorf("%s is %v, on REST %v", path, s.Type, other.Type)
	}
	if len(s.Enum) > 0 && len(other.Enum) > 0 {
		for _, x := range s.Enum {
			if !slices.Contains(other.Enum, x) {
				t.Errorf("%s may be %s, not so on REST", path, x)
			}
		}
	}
	if other.Minimum != nil && (s.Minimum == nil || *s.Minimum < *other.Minimum) || other.Maximum != nil && (s.Maximum == nil || *s.Maximum > *other.Maximum) {
		t.Errorf("%s has wider bounds than on REST", path)
	}
	if s.Items != nil && other.Items != nil {
		s.Items.within(t, path+"[]", *other.Items, all)
	}
	for name, ours := range s.Properties {
		theirs, there := other.Properties[name]
		if !there {
			t.Errorf("%s.%s is not on REST", path, name)
			continue
		}
		ours.within(t, path+"."+name, theirs, all)
	}
}

// Every tool does what it says, in one workspace.
func TestTools(t *testing.T) {
	w := newWorld(t)
	key := w.ada.key
	if got := w.tool(key, "resume", `{}`); !strings.Contains(got, "canary selection") || !strings.Contains(got, "canary node") || !strings.Contains(got, "ses_1") || strings.Count(got, "\n") < 10 {
		t.Errorf("resume says %s", got)
	}
	if got := w.tool(key, "list", `{"query":"CACHE bug"}`); !strings.Contains(got, `"session_id": "ses_1"`) || strings.Contains(got, "canary") {
		t.Errorf("list says %s", got)
	}
	if got := w.tool(key, "list_sessions", `{"query":"elsewhere"}`); strings.Contains(got, "ses_1") {
		t.Errorf("list by its published name says %s", got)
	}
	kept := w.tool(key, "hodl", `{"title":"a place","tags":["go"],"location":{"file":"main.go","line":3},"session_id":"ses_1"}`)
	var h struct {
		ID  string
		URI string
	}
	w.must(json.Unmarshal([]byte(kept), &h))
	if got := w.tool(key, "list", `{"kind":"hodl","query":"tag:go"}`); !strings.Contains(got, h.ID) {
		t.Errorf("list of hodls says %s", got)
	}
	if got := w.rpc(key, "resources/read", `{"uri":"`+h.URI+`"}`); !strings.Contains(string(got.Result), "main.go") || !strings.Contains(string(got.Result), `\"source\": \"mcp\"`) {
		t.Errorf("the hodl is %s", got)
	}
	if got := w.tool(key, "note", `{"session_id":"ses_1","body":"an agent was here"}`); !strings.Contains(got, `"note_id": 1`) {
		t.Errorf("note says %s", got)
	}
	if got := w.tool(key, "next_step", `{"text":"measure it","confidence":0.5}`); !strings.Contains(got, `"id": "proposed_next_step"`) {
		t.Errorf("next_step says %s", got)
	}
	if got := w.tool(key, "resume", `{"session_id":"ses_1-the-cache-bug"}`); !strings.Contains(got, "an agent was here") || !strings.Contains(got, "measure it") {
		t.Errorf("what was written is not in %s", got)
	}
}

// A write with a name of the caller's takes effect once.
func TestClientRef(t *testing.T) {
	w := newWorld(t)
	args := `{"title":"once","client_ref":"call-1"}`
	first := w.tool(w.ada.key, "hodl", args)
	if again := w.tool(w.ada.key, "hodl", args); again != first {
		t.Errorf("first %s, then %s", first, again)
	}
	if other := w.tool(w.bob.key, "hodl", args); other == first {
		t.Error("another's call got the answer")
	}
	if got := w.refused(w.ada.key, "hodl", `{"title":"another","client_ref":"call-1"}`); !strings.HasPrefix(got, "idempotency_mismatch: ") {
		t.Errorf("another hodl by the same name: %s", got)
	}
	note := `{"session_id":"ses_1","body":"x","client_ref":"call-2"}`
	if a, b := w.tool(w.ada.key, "note", note), w.tool(w.ada.key, "note", note); a != b {
		t.Errorf("first %s, then %s", a, b)
	}
}

// A hand-off needs the person's word. Its token is for the program, not the model.
func TestHandOff(t *testing.T) {
	w := newWorld(t)
	if got := w.refused(w.ada.key, "handoff", `{"audience":"claude.anthropic.com","scopes":["read:context"]}`); !strings.HasPrefix(got, "step_up_required: ") || !strings.Contains(got, "confirmed_at") {
		t.Errorf("without: %s", got)
	}
	at := json.Number(strconv.FormatInt(w.now().Unix(), 10))
	a := w.rpc(w.ada.key, "tools/call", `{"name":"handoff","arguments":{"audience":"claude.anthropic.com","scopes":["read:context"],"confirmed_at":`+at.String()+`}}`)
	text, failed := a.text()
	var r struct {
		Meta map[string]any `json:"_meta"`
	}
	w.must(json.Unmarshal(a.Result, &r))
	signed, _ := r.Meta["hodl/resume_token"].(string)
	if failed || strings.Count(signed, ".") != 2 || strings.Contains(text, signed) || !strings.Contains(text, public+"/h/") {
		t.Errorf("handed off: %s", a)
	}
	bearer := w.mint(hodl.ReadContext, hodl.HandOff)
	a = w.rpc(bearer.Signed, "tools/call", `{"name":"handoff","arguments":{"audience":"claude.anthropic.com","scopes":["read:context"]}}`)
	if text, failed := a.text(); failed || strings.Contains(text, "eyJ") {
		t.Errorf("exchanged: %s", a)
	}
}

// What is wrong with an argument is said in words of the tool, as an error of the
// tool: a model reads it and mends it.
func TestBadArguments(t *testing.T) {
	w := newWorld(t)
	for call, want := range map[string]string{
		`hodl {"titel":"x"}`:                         "titel is no field",
		`hodl {"title":3}`:                           "title is a number; it must be a string",
		`hodl {}`:                                    "validation_failed: ",
		`hodl {"title":"x","client_ref":" "}`:        "client_ref must be 1 to 255",
		`list {"limit":1000}`:                        "limit must be from 1 to 50",
		`list {"limit":null}`:                        "limit must be from 1 to 50",
		`list {"kind":"tab"}`:                        "kind must be session or hodl",
		`list {"cursor":"!"}`:                        "cursor is not a next_cursor",
		`list {"since":"yesterday"}`:                 "since",
		`resume {"session_id":"x"}`:                  `not_found: no session "x"`,
		`resume {"session_id":"ses_none"}`:           "not_found: no session ses_none",
		`resume {"format":"pdf"}`:                    `not_acceptable: there is no format "pdf"`,
		`note {"session_id":"ses_1"}`:                "validation_failed: ",
		`next_step {"text":"x","depends_on":["n9"]}`: "validation_failed: ",
	} {
		name, args, _ := strings.Cut(call, " ")
		got := w.refused(w.ada.key, name, args)
		code, rest, _ := strings.Cut(got, ": ")
		if !strings.Contains(got, want) || strings.ContainsAny(code, " .") || !strings.HasSuffix(rest, ".") || strings.Count(rest, ".") < 2 {
			t.Errorf("%s: %s, want %s", call, got, want)
		}
	}
}

// Each list goes on where the page before it ended, and ends.
func TestListPages(t *testing.T) {
	w := newWorld(t)
	for _, id := range []string{"ses_2", "ses_3", "ses_4", "ses_5"} {
		w.put(w.ada, id, "another "+id)
		w.tool(w.ada.key, "hodl", `{"title":"`+id+`"}`)
	}
	for kind, want := range map[string]int{"session": 5, "hodl": 4} {
		var seen []string
		for next := `""`; next != "null"; {
			var page struct {
				Sessions []struct{ URI string }
				Hodls    []struct{ URI string }
				Next     json.RawMessage `json:"next_cursor"`
			}
			w.must(json.Unmarshal([]byte(w.tool(w.ada.key, "list", `{"kind":"`+kind+`","limit":2,"cursor":`+next+`}`)), &page))
			for _, x := range append(page.Sessions, page.Hodls...) {
				seen = append(seen, x.URI)
			}
			next = string(page.Next)
		}
		slices.Sort(seen)
		if len(slices.Compact(seen)) != want {
			t.Errorf("the pages of %ss hold %v", kind, seen)
		}
	}
}
