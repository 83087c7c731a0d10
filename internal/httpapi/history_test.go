package httpapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"hodl"
)

// A fork is a session of its own: what it holds and who wrote it are those of the
// version it came from, and what happens to one does not happen to the other.
func TestFork(t *testing.T) {
	w := newWorld(t)
	first := w.capture("ses_trunk").text("fingerprint")
	held := w.ok(live, "POST", "/v1/hodls", `{"title":"canary hodl","session_id":"ses_trunk"}`).text("id")
	agent := w.token("ses_trunk", "read:context write:notes write:next_step")
	w.ok(agent, "POST", "/v1/sessions/ses_trunk/notes", `{"body":"by the agent"}`)
	w.ok(agent, "PUT", "/v1/sessions/ses_trunk/next_step", `{"text":"bisect"}`)
	w.ok(live, "POST", "/v1/sessions/ses_trunk/archive", "")

	forked := w.ok(live, "POST", "/v1/sessions/ses_trunk/fork", "")
	id := forked.text("session_id")
	if forked.status != 201 || id == "ses_trunk" || forked.header.Get("Location") != "/v1/sessions/"+id || forked.header.Get("ETag") != `"`+forked.text("fingerprint")+`"` {
		t.Errorf("the fork answers %v %s", forked.header, forked)
	}
	was, is := w.content("ses_trunk"), w.content(id)
	if was["fingerprint"] == is["fingerprint"] {
		t.Error("the fork has the fingerprint of what it came from")
	}
	for _, name := range []string{"session_id", "fingerprint"} {
		delete(was, name)
		delete(is, name)
	}
	if a, b := encoded(was), encoded(is); a != b {
		t.Errorf("the fork holds\n%s\nand its trunk\n%s", b, a)
	}
	if got := each(is["hodls"], "id") + " " + each(is["notes"], "trust"); got != held+" user | agent" {
		t.Errorf("the fork holds %s", got)
	}
	meta := w.ok(live, "GET", "/v1/sessions/"+id, "")
	if meta.text("state") != "held" || meta.object()["total_hydrations"] != 0.0 {
		t.Errorf("the fork is %s", meta)
	}

	old := w.ok(live, "POST", "/v1/sessions/ses_trunk/fork", `{"title":"another way","from":"`+first+`"}`).text("session_id")
	if c := w.content(old); c["title"] != "another way" || len(c["notes"].([]any)) != 1 || len(c["hodls"].([]any)) != 0 {
		t.Errorf("the fork of the first version is %s", encoded(c))
	}
	if a := w.hydrate(agent, id); a.code() != "token_revoked" {
		t.Errorf("a token of the trunk on the fork: %s", a)
	}
	mine := w.token(id, "read:context write:notes")
	if a := w.ok(mine, "POST", "/v1/sessions/"+id+"/notes", `{"body":"next"}`); a.object()["note_id"] != 3.0 {
		t.Errorf("the next note of the fork is %s", a)
	}
	w.run([]scenario{
		{name: "no such version", as: live, method: "POST", path: "/v1/sessions/ses_trunk/fork", body: `{"from":"` + strings.Repeat("0", 64) + `"}`, status: 422, code: "validation_failed", has: []string{`"from"`}},
		{name: "a version of another session", as: live, method: "POST", path: "/v1/sessions/" + id + "/fork", body: `{"from":"` + first + `"}`, status: 422, code: "validation_failed"},
		{name: "a long title", as: live, method: "POST", path: "/v1/sessions/ses_trunk/fork", body: `{"title":"` + letters(hodl.MaxTitle+1) + `"}`, status: 422, code: "validation_failed", has: []string{"1024"}},
		{name: "an unknown field", as: live, method: "POST", path: "/v1/sessions/ses_trunk/fork", body: `{"session_id":"ses_mine"}`, status: 422, code: "validation_failed"},
	})
}

func encoded(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

// A diff tells how one version became another; without names, how the current one
// came about.
func TestDiff(t *testing.T) {
	w := newWorld(t)
	put := func(body string) string { return w.ok(live, "PUT", "/v1/sessions/ses_diff", body).text("fingerprint") }
	diff := func(query string) object {
		t.Helper()
		return w.ok(live, "GET", "/v1/sessions/ses_diff/diff"+query, "").object()
	}
	one := put(`{"title":"a","tabs":[{"url":"https://a.b/1","title":"1"},{"url":"https://a.b/2","title":"2"}]}`)
	if d := diff(""); d["from"] != nil || d["to"].(object)["fingerprint"] != one || each(d["changes"], "field") != "title | tabs | tabs" {
		t.Errorf("the first version came about as %s", encoded(d))
	}
	two := put(`{"title":"b","tabs":[{"url":"https://a.b/2","title":"2"},{"url":"https://a.b/1","title":"1"}]}`)
	three := put(`{"title":"b","tabs":[{"url":"https://a.b/2","title":"2"}]}`)
	for query, want := range map[string]string{
		"":                                two + " " + three + " removed",
		"?to=" + two:                      one + " " + two + " changed | moved",
		"?from=" + one:                    one + " " + three + " changed | removed",
		"?from=" + three + "&to=" + one:   three + " " + one + " changed | added",
		"?from=" + three + "&to=" + three: three + " " + three + " ",
	} {
		d := diff(query)
		if got := fmt.Sprint(d["from"].(object)["fingerprint"], " ", d["to"].(object)["fingerprint"], " ", each(d["changes"], "change")); got != want {
			t.Errorf("diff%s is %s, want %s", query, got, want)
		}
		if encoded(d) != encoded(diff(query)) {
			t.Errorf("diff%s differs from call to call", query)
		}
	}
	put(`{"title":"a","tabs":[{"url":"https://a.b/1","title":"1"},{"url":"https://a.b/2","title":"2"}]}`) // the first again
	if d := diff(""); d["from"].(object)["fingerprint"] != three || d["to"].(object)["fingerprint"] != one {
		t.Errorf("after a return to the first: %s", encoded(d))
	}
	absent := strings.Repeat("0", 64)
	w.capture("ses_else")
	w.run([]scenario{
		{name: "unknown from", as: live, method: "GET", path: "/v1/sessions/ses_diff/diff?from=" + absent, status: 404, code: "not_found"},
		{name: "unknown to", as: live, method: "GET", path: "/v1/sessions/ses_diff/diff?to=" + absent, status: 404, code: "not_found"},
		{name: "no fingerprint", as: live, method: "GET", path: "/v1/sessions/ses_diff/diff?to=" + strings.Repeat("x", 5000), status: 404, code: "not_found"},
		{name: "another session's", as: live, method: "GET", path: "/v1/sessions/ses_else/diff?from=" + one, status: 404, code: "not_found"},
	})
}

// The versions page without gaps or repeats, and since bounds them.
func TestVersionsPage(t *testing.T) {
	w := newWorld(t)
	var all []string
	for i := range 7 {
		all = append([]string{w.ok(live, "PUT", "/v1/sessions/ses_pages", fmt.Sprintf(`{"title":"%d"}`, i)).text("fingerprint")}, all...)
		w.clock.advance(time.Second)
	}
	var paged []string
	cursor := ""
	for range len(all) {
		page := w.ok(live, "GET", "/v1/sessions/ses_pages/versions?limit=3"+cursor, "").object()
		paged = append(paged, strings.Split(each(page["versions"], "fingerprint"), " | ")...)
		next, more := page["next_cursor"].(string)
		if !more {
			break
		}
		cursor = "&cursor=" + next
	}
	if strings.Join(paged, " ") != strings.Join(all, " ") {
		t.Errorf("the pages are %v, want %v", paged, all)
	}
	since := start.Add(3 * time.Second).Format(time.RFC3339)
	got := each(w.ok(live, "GET", "/v1/sessions/ses_pages/versions?since="+since, "").object()["versions"], "fingerprint")
	if got != strings.Join(all[:4], " | ") {
		t.Errorf("since %s there are %s of %v", since, got, all)
	}
}

// A session holds the hodls it names and those that name it, the caller's own and of
// the same mode: in its content, in what an agent gets, and editor hodls as tabs.
func TestSessionHoldsItsHodls(t *testing.T) {
	w := newWorld(t)
	hold := func(as, body string) string { return w.ok(as, "POST", "/v1/hodls", body).text("id") }
	named := hold(live, `{"title":"named","location":{"file":"cache.go","line":7,"selection":{"start_line":7,"start_column":1,"end_line":7,"end_column":5,"text":"lock"}}}`)
	w.ok(live, "PUT", "/v1/sessions/ses_holds", `{"hodl_ids":["`+named+`","`+named+`"]}`)
	naming := hold(live, `{"url":"https://example.com/x","title":"naming","session_id":"ses_holds"}`)
	both := named + " | " + naming
	if got := each(w.content("ses_holds")["hodls"], "id"); got != both {
		t.Errorf("it holds %s, want %s", got, both)
	}
	w.ok(live, "PUT", "/v1/sessions/ses_holds", `{"title":"again","hodl_ids":["`+named+`"]}`)
	given := w.hydrate(w.token("ses_holds", "read:context"), "ses_holds").object()
	if got := each(given["hodls"], "id"); got != both {
		t.Errorf("the agent gets %s, want %s", got, both)
	}
	if got := each(given["tabs"], "tab_role") + " " + each(given["tabs"], "selected_text"); got != "editor lock" {
		t.Errorf("the tabs are %s", encoded(given["tabs"]))
	}
	var list []scenario
	for who, id := range map[string]string{
		"sandbox": hold(sandbox, `{"title":"x"}`), "colleague": hold(member, `{"title":"x"}`), "stranger": hold(stranger, `{"title":"x"}`), "nobody": "hdl_never",
	} {
		list = append(list, scenario{
			name: "the hodl of a " + who, as: live, method: "PUT", path: "/v1/sessions/ses_holds", body: `{"hodl_ids":["` + named + `","` + id + `"]}`,
			status: 422, code: "validation_failed", has: []string{`"hodl_ids[1]"`, "names no hodl"},
		})
	}
	for _, who := range []string{sandbox, member, stranger} {
		list = append(list, scenario{name: "into it by " + who, as: who, method: "POST", path: "/v1/hodls", body: `{"title":"x","session_id":"ses_holds"}`, status: 422, code: "validation_failed", has: []string{`"session_id"`}})
	}
	w.run(list)
}
