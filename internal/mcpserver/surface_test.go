package mcpserver_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hodl"
)

// surface is what the protocol document names of this door: how it is listed, and a
// call of it with what must come back.
var surface = []struct{ list, name, method, params, want string }{
	{"tools/list", "resume", "tools/call", `{"name":"resume","arguments":{}}`, "canary selection"},
	{"tools/list", "list", "tools/call", `{"name":"list","arguments":{}}`, "hodl://sessions/ses_1"},
	{"tools/list", "hodl", "tools/call", `{"name":"hodl","arguments":{"title":"x"}}`, "hodl://hodls/"},
	{"tools/list", "note", "tools/call", `{"name":"note","arguments":{"body":"x"}}`, "note_id"},
	{"tools/list", "next_step", "tools/call", `{"name":"next_step","arguments":{"text":"x"}}`, "proposed_next_step"},
	{"tools/list", "handoff", "tools/call", `{"name":"handoff","arguments":{"audience":"x.ai","scopes":["read:context"]}}`, "step_up_required: "},
	{"", "list_sessions", "tools/call", `{"name":"list_sessions","arguments":{}}`, "hodl://sessions/ses_1"},
	{"resources/templates/list", "hodl://sessions/{id}{?format,part}", "resources/read", `{"uri":"hodl://sessions/ses_1?format=markdown"}`, "canary selection"},
	{"resources/templates/list", "unihodl://session/{id}", "resources/read", `{"uri":"unihodl://session/ses_1"}`, "canary selection"},
	{"resources/templates/list", "hodl://hodls/{id}", "resources/read", `{"uri":"hodl://hodls/hdl_none"}`, "not_found: "},
	{"resources/list", "hodl://recent", "resources/read", `{"uri":"hodl://recent"}`, "the cache bug"},
	{"resources/list", "hodl://sessions/ses_1", "resources/read", `{"uri":"hodl://sessions/ses_1"}`, "canary selection"},
	{"prompts/list", "resume_session", "prompts/get", `{"name":"resume_session"}`, "canary selection"},
	{"prompts/list", "checkpoint", "prompts/get", `{"name":"checkpoint"}`, "Call note"},
	{"", "completion of a session", "completion/complete", `{"ref":{"type":"ref/resource","uri":"hodl://sessions/{id}{?format,part}"},"argument":{"name":"id","value":"ses"}}`, "ses_1-the-cache-bug"},
	{"", "completion of a format", "completion/complete", `{"ref":{"type":"ref/resource","uri":"hodl://sessions/{id}{?format,part}"},"argument":{"name":"format","value":"m"}}`, `["markdown","mcp"]`},
}

// All that is named is there in both generations of the protocol, does what it is for,
// and nothing else is there.
func TestSurface(t *testing.T) {
	w := newWorld(t)
	for _, version := range []string{modern, legacy} {
		listed := map[string][]string{}
		for _, list := range []string{"tools/list", "resources/list", "resources/templates/list", "prompts/list"} {
			var r map[string]json.RawMessage
			w.must(json.Unmarshal(w.do(w.request(t.Context(), version, w.ada.key, list, "")).Result, &r))
			for _, items := range []string{"tools", "resources", "resourceTemplates", "prompts"} {
				var all []struct{ Name, URI, URITemplate string }
				_ = json.Unmarshal(r[items], &all) // absent in the other lists
				for _, x := range all {
					name := x.Name
					if x.URI+x.URITemplate != "" {
						name = x.URI + x.URITemplate
					}
					listed[list] = append(listed[list], name)
				}
			}
		}
		for _, x := range surface {
			i := slices.Index(listed[x.list], x.name)
			if x.list != "" && i < 0 {
				t.Errorf("%s of %s lacks %s", x.list, version, x.name)
				continue
			}
			if x.list != "" {
				listed[x.list] = slices.Delete(listed[x.list], i, i+1)
			}
			if a := w.do(w.request(t.Context(), version, w.ada.key, x.method, x.params)); !strings.Contains(strings.ReplaceAll(string(a.raw), `\"`, `"`), x.want) {
				t.Errorf("%s of %s: %s", x.name, version, a)
			}
		}
		for list, rest := range listed {
			if len(rest) > 0 {
				t.Errorf("%s of %s names %v, which nobody asked for", list, version, rest)
			}
		}
	}
}

// Only a hand-off that a person has confirmed takes place. It is recorded as one, and
// is no hydration.
func TestHandOffIsRecorded(t *testing.T) {
	w := newWorld(t)
	before := len(w.records(w.ada))
	w.refused(w.ada.key, "handoff", `{"audience":"x.ai","scopes":["read:context"]}`)
	at := w.now().Unix()
	w.tool(w.ada.key, "handoff", string(must(json.Marshal(map[string]any{"session_id": "ses_1", "audience": "x.ai", "scopes": []string{"read:context"}, "confirmed_at": at}))))
	list := w.records(w.ada)
	if len(list) != before+1 || list[0].Kind != hodl.KindHandOff || list[0].JTI == "" || w.used(w.ada) != 0 {
		t.Errorf("%d records more, the last %+v", len(list)-before, list[0])
	}
}

// traps are what the SDK leaves to its users or does otherwise than this product
// wants, each with the test that holds it.
var traps = map[string]string{
	"the SDK's bearer check names no error, and its scopes are fixed":                    "TestCredentials",
	"results are marked public":                                                          "TestResultsArePrivate",
	"a listen stream subscribes without the request's extras":                            "TestSubscription",
	"a stream outlives its token":                                                        "TestStreamEndsWithItsToken",
	"a stream outlives a revocation":                                                     "TestStreamEndsWhenRevoked",
	"every subscriber of a URI is told, whoever it is":                                   "TestSubscription",
	"an older subscription is accepted and never delivers":                               "TestNoEmptySubscriptions",
	"a server's write timeout cuts streams":                                              "TestStreamsOutliveTimeouts",
	"a typed tool's refusal carries a made-up result, and its schema allows null":        "TestRefusalsAreTextAlone",
	"the SDK's words on a bad argument help no model":                                    "TestBadArguments",
	"answers as one JSON value drop what is told on the way":                             "TestAnswersAreStreams",
	"logging is offered by default":                                                      "TestNoEmptySubscriptions",
	"the origin is not looked at":                                                        "TestOriginsAndHosts",
	"refusals of the transport are plain text":                                           "TestTransportErrors",
	"the bounds on size and depth are the SDK's":                                         "TestMessagesAreBounded",
	"sessions of the protocol never end":                                                 "TestNothingStays",
	"switches for what was in the past vanish with the next release":                     "TestNoCompatibilitySwitches",
	"templates are compiled for every read, and the first that fits is taken":            "TestURIs",
	"a result is encoded three times, and a text put in later needs it written in one":   "TestParts",
	"a client that hangs up must not undo a hydration":                                   "TestHangUp",
	"clients differ in which half of a result a model sees":                              "TestBothHalvesAreTheSame",
	"clients send a call again when its stream broke":                                    "TestClientRef",
	"clients refuse a result of more than 25,000 tokens, and lines too long to be paged": "TestParts",
}

// Each trap has its test.
func TestTrapsAreHeld(t *testing.T) {
	tests := map[string]bool{}
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				tests[fn.Name.Name] = true
			}
		}
	}
	for trap, test := range traps {
		if !tests[test] {
			t.Errorf("%s: there is no %s", trap, test)
		}
	}
}
