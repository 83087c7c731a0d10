package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// content reads a session's content as its owner.
func (w *world) content(id string) object {
	w.t.Helper()
	return w.ok(live, "GET", "/v1/sessions/"+id+"/content", "").object()
}

// each lists a field of the objects in a list.
func each(list any, field string) string {
	var out []string
	items, _ := list.([]any)
	for _, x := range items {
		out = append(out, fmt.Sprint(x.(object)[field]))
	}
	return strings.Join(out, " | ")
}

func TestNotesAreNumbered(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_notes") // with one note, number 1
	token := w.token("ses_notes", "write:notes")
	for want := 2.0; want <= 4; want++ {
		a := w.ok(token, "POST", "/v1/sessions/ses_notes/notes", `{"body":"by the agent"}`)
		if got := a.object()["note_id"]; got != want {
			t.Errorf("note_id is %v, want %v", got, want)
		}
	}
	notes := w.content("ses_notes")["notes"]
	if got, want := each(notes, "note_id")+"; "+each(notes, "trust"), "1 | 2 | 3 | 4; user | agent | agent | agent"; got != want {
		t.Errorf("the notes are %s, want %s", got, want)
	}
	if got := each(notes, "author"); !strings.Contains(got, "agent:claude.anthropic.com") {
		t.Errorf("the authors are %s", got)
	}
	if got := w.together(20, func(int) *answer {
		return w.call(token, "POST", "/v1/sessions/ses_notes/notes", `{"body":"at once"}`)
	}); got == 0 {
		t.Error("no note of many at once was taken")
	} else if all := strings.Split(each(w.content("ses_notes")["notes"], "note_id"), " | "); len(all) != 4+got || distinct(all) != len(all) {
		t.Errorf("%d notes were taken and there are %v", got, all)
	}
}

func distinct(list []string) int {
	seen := map[string]bool{}
	for _, s := range list {
		seen[s] = true
	}
	return len(seen)
}

// What agents wrote survives a capture; what was captured is replaced; the same
// capture again changes nothing.
func TestRecaptureKeepsWhatAgentsWrote(t *testing.T) {
	w := newWorld(t)
	first := w.capture("ses_again")
	token := w.token("ses_again", "write:notes write:next_step")
	w.ok(token, "POST", "/v1/sessions/ses_again/notes", `{"body":"agent note"}`)
	w.ok(token, "POST", "/v1/sessions/ses_again/reasoning_nodes", `{"id":"a1","kind":"question","text":"agent node","depends_on":["n1"]}`)
	w.ok(token, "PUT", "/v1/sessions/ses_again/next_step", `{"text":"agent step","confidence":0}`)

	second := w.capture("ses_again")
	if second.text("fingerprint") == first.text("fingerprint") {
		t.Error("what agents wrote left no mark")
	}
	third := w.capture("ses_again")
	if second.String() != third.String() {
		t.Errorf("the same capture again: %s, then %s", second, third)
	}
	versions := w.ok(live, "GET", "/v1/sessions/ses_again/versions", "").object()["versions"].([]any)
	if len(versions) != 4 { // the capture and three writes
		t.Errorf("there are %d versions: %v", len(versions), versions)
	}

	w.ok(live, "PUT", "/v1/sessions/ses_again", `{"title":"all new"}`)
	c := w.content("ses_again")
	if got := each(c["notes"], "body"); got != "agent note" {
		t.Errorf("the notes are %s", got)
	}
	if got := each(c["reasoning_thread"], "id"); got != "a1 | proposed_next_step" {
		t.Errorf("the nodes are %s", got)
	}
	node := c["reasoning_thread"].([]any)[0].(object)
	if node["depends_on"] != nil {
		t.Errorf("a node names one that is gone: %v", node)
	}
}

func TestNextStepIsOne(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_step")
	token := w.token("ses_step", "write:next_step")
	for _, text := range []string{"first", "second", "third"} {
		w.ok(token, "PUT", "/v1/sessions/ses_step/next_step", `{"text":"`+text+`"}`)
	}
	c := w.content("ses_step")
	if got := each(c["reasoning_thread"], "text"); got != "canary node | third" {
		t.Errorf("the thread is %s", got)
	}
	by := c["provenance"].(object)["proposed_next_step"].(object)
	if by["trust"] != "agent" || by["author"] != "agent:claude.anthropic.com" {
		t.Errorf("the step is by %v", by)
	}
}

func TestNodesAreCheckedAsAGraph(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_graph")
	token := w.token("ses_graph", "write:next_step")
	const path = "/v1/sessions/ses_graph/reasoning_nodes"
	w.run([]scenario{
		{name: "sound", as: token, method: "POST", path: path, body: `{"id":"a1","kind":"question","text":"?","depends_on":["n1"]}`, status: 200},
		{name: "taken", as: token, method: "POST", path: path, body: `{"id":"n1","kind":"question","text":"?"}`, status: 422, code: "validation_failed", has: []string{`"path":"id"`}},
		{name: "dangling", as: token, method: "POST", path: path, body: `{"id":"a2","kind":"question","text":"?","supports":["zz"]}`, status: 422, code: "validation_failed", has: []string{`"path":"supports[0]"`}},
		{name: "on itself", as: token, method: "POST", path: path, body: `{"id":"a3","kind":"question","text":"?","depends_on":["a3"]}`, status: 422, code: "validation_failed", has: []string{`depends_on`}},
		{name: "unknown kind", as: token, method: "POST", path: path, body: `{"id":"a4","kind":"hunch","text":"?"}`, status: 422, code: "validation_failed", has: []string{`kind`}},
		{name: "unknown field", as: token, method: "POST", path: path, body: `{"id":"a5","kind":"question","text":"?","author":"me"}`, status: 422, code: "validation_failed", has: []string{`author`}},
	})
}

func TestWritesWantTheirScope(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_scope")
	reader, notes := w.token("ses_scope", "read:context"), w.token("ses_scope", "write:notes")
	w.run([]scenario{
		{name: "a note by a reader", as: reader, method: "POST", path: "/v1/sessions/ses_scope/notes", body: `{"body":"x"}`, status: 403, code: "insufficient_scope", has: []string{"write:notes"}},
		{name: "a step by a note taker", as: notes, method: "PUT", path: "/v1/sessions/ses_scope/next_step", body: `{"text":"x"}`, status: 403, code: "insufficient_scope", has: []string{"write:next_step"}},
		{name: "a hydration by a note taker", as: notes, method: "POST", path: "/v1/sessions/ses_scope/hydrate", status: 403, code: "insufficient_scope", hasNot: []string{"canary"}},
		{name: "a note elsewhere", as: notes, method: "POST", path: "/v1/sessions/ses_elsewhere/notes", body: `{"body":"x"}`, status: 404, code: "not_found"},
	})
}

// With If-Match a write is made on the version it names or not at all; without, on
// whatever version there is.
func TestIfMatch(t *testing.T) {
	w := newWorld(t)
	first := w.capture("ses_match")
	old := first.header.Get("ETag")
	token := w.token("ses_match", "write:notes write:next_step")
	fresh := w.ok(token, "POST", "/v1/sessions/ses_match/notes", `{"body":"one"}`, "If-Match", old).header.Get("ETag")
	if fresh == old || !strings.HasPrefix(fresh, `"`) {
		t.Errorf("the ETag was %s and is %s", old, fresh)
	}
	stale := []string{"If-Match", old}
	w.run([]scenario{
		{name: "note", as: token, method: "POST", path: "/v1/sessions/ses_match/notes", body: `{"body":"two"}`, headers: stale, status: 412, code: "rejected_by_concurrency", hasNot: []string{"canary"}},
		{name: "node", as: token, method: "POST", path: "/v1/sessions/ses_match/reasoning_nodes", body: `{"id":"a","kind":"question","text":"?"}`, headers: stale, status: 412, code: "rejected_by_concurrency"},
		{name: "step", as: token, method: "PUT", path: "/v1/sessions/ses_match/next_step", body: `{"text":"x"}`, headers: stale, status: 412, code: "rejected_by_concurrency"},
		{name: "capture", as: live, method: "PUT", path: "/v1/sessions/ses_match", body: fullSession, headers: stale, status: 412, code: "rejected_by_concurrency"},
		{name: "lenient capture", as: live, method: "POST", path: "/v1/hodl", body: `{"session_id":"ses_match","title":"x"}`, headers: stale, status: 412, code: "rejected_by_concurrency"},
		{name: "of none", as: live, method: "PUT", path: "/v1/sessions/ses_unborn", body: `{}`, headers: stale, status: 412, code: "rejected_by_concurrency"},
		{name: "any", as: token, method: "POST", path: "/v1/sessions/ses_match/notes", body: `{"body":"three"}`, headers: []string{"If-Match", "*"}, status: 200},
		{name: "none named", as: token, method: "POST", path: "/v1/sessions/ses_match/notes", body: `{"body":"four"}`, status: 200},
	})
	if got := each(w.content("ses_match")["notes"], "body"); got != "canary note | one | three | four" {
		t.Errorf("the notes are %s", got)
	}
	if got := len(w.records("write")); got != 3 {
		t.Errorf("there are %d records of writes", got)
	}
	if got := w.records("denied"); len(got) != 0 {
		t.Errorf("a stale write was recorded as a denial: %v", got)
	}
}

// A hodl that names a session is in it, and stands as a tab where there are only
// tabs.
func TestHodlJoinsItsSession(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_join")
	made := w.ok(live, "POST", "/v1/hodls", `{"title":"the racy line","session_id":"ses_join","location":{"repository":"github.com/a/b","file":"cache.go","line":42,"column":7,
		"selection":{"start_line":42,"start_column":1,"end_line":42,"end_column":9,"text":"canary lock"}}}`)
	tabs := func() string {
		a := w.hydrate(w.token("ses_join", "read:context"), "ses_join")
		raw, _ := json.Marshal(a.object()["tabs"])
		return string(raw)
	}
	for _, part := range []string{`"tab_role":"editor"`, `"selected_text":"canary lock"`, `"title":"the racy line"`, made.text("deep_link")[:20]} {
		if got := tabs(); !strings.Contains(got, part) {
			t.Errorf("no %s in %s", part, got)
		}
	}
	if got := each(w.content("ses_join")["hodls"], "id"); got != made.text("id") {
		t.Errorf("the session holds the hodls %s", got)
	}
	w.ok(live, "DELETE", "/v1/hodls/"+made.text("id"), "")
	if got := tabs(); strings.Contains(got, "editor") {
		t.Errorf("after the hodl is gone: %s", got)
	}
	w.ok(live, "PUT", "/v1/sessions/ses_named", `{"hodl_ids":["`+w.ok(live, "POST", "/v1/hodls", `{"title":"named"}`).text("id")+`"]}`)
	if got := each(w.content("ses_named")["hodls"], "title"); got != "named" {
		t.Errorf("the session that names one holds %s", got)
	}
}

// Content is for its owner's key alone.
func TestContentIsNeverForTokens(t *testing.T) {
	w := newWorld(t)
	captured := w.capture("ses_content")
	token := w.token("ses_content", "read:context read:reasoning read:transcript read:redacted write:notes write:next_step session:hand_off")
	for _, path := range []string{"/content", "/versions", "/versions/" + captured.text("fingerprint"), ""} {
		a := w.call(token, "GET", "/v1/sessions/ses_content"+path, "")
		if a.status != 401 || bytes.Contains(a.body, []byte("canary")) {
			t.Errorf("GET %s with a token of every scope: %s", path, a)
		}
	}
}
