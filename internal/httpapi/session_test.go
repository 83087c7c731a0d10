package httpapi_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestArchivedSessionsMintNothing(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_away")
	w.ok(live, "POST", "/v1/sessions/ses_away/archive", "")
	w.run([]scenario{
		{name: "mint", as: live, method: "POST", path: "/v1/resume_tokens", body: `{"session_id":"ses_away","audience":"sdk.unihodl.app","scopes":["read:context"]}`, status: 409, code: "invalid_transition", has: []string{"restore"}},
		{name: "a hodl in it", as: live, method: "POST", path: "/v1/hodls", body: `{"title":"x","session_id":"ses_away"}`, status: 409, code: "invalid_transition"},
	})
	if resumed := w.records("resume"); len(resumed) != 0 {
		t.Errorf("there are records of a resume: %v", resumed)
	}
	w.ok(live, "POST", "/v1/sessions/ses_away/restore", "")
	w.ok(live, "POST", "/v1/sessions/ses_away/resume", "")
	if resumed := w.records("resume"); len(resumed) != 1 {
		t.Errorf("a resume left %d records", len(resumed))
	}
}

func TestListsPageWithoutGapsOrRepeats(t *testing.T) {
	w := newWorld(t)
	const n = 7
	for i := range n {
		w.ok(live, "PUT", fmt.Sprintf("/v1/sessions/ses_page%d", i), fmt.Sprintf(`{"title":"%d"}`, i))
		w.ok(live, "POST", "/v1/hodls", fmt.Sprintf(`{"title":"%d"}`, i))
		w.token(fmt.Sprintf("ses_page%d", i), "read:context")
		w.clock.advance(2 * time.Millisecond) // ids sort by the millisecond
	}
	for path, list := range map[string]struct{ name, id string }{
		"/v1/sessions": {"sessions", "session_id"}, "/v1/hodls": {"hodls", "id"}, "/v1/resume_tokens": {"resume_tokens", "jti"}, "/v1/access_records": {"access_records", "id"},
	} {
		all := strings.Split(each(w.ok(live, "GET", path, "").object()[list.name], list.id), " | ")
		var paged []string
		cursor := ""
		for range n + 1 {
			page := w.ok(live, "GET", path+"?limit=3"+cursor, "").object()
			paged = append(paged, strings.Split(each(page[list.name], list.id), " | ")...)
			next, more := page["next_cursor"].(string)
			if !more {
				break
			}
			cursor = "&cursor=" + next
		}
		if len(all) != n || fmt.Sprint(all) != fmt.Sprint(paged) {
			t.Errorf("%s: whole %v, by pages %v", path, all, paged)
		}
	}
	future := w.Now().Add(time.Hour).Format(time.RFC3339)
	for _, path := range []string{"/v1/sessions", "/v1/hodls", "/v1/access_records"} {
		if a := w.ok(live, "GET", path+"?since="+future, ""); strings.Contains(string(a.body), `"session_id"`) || strings.Contains(string(a.body), `"hdl_`) {
			t.Errorf("%s since an hour from now: %s", path, a)
		}
	}
}

func TestVersions(t *testing.T) {
	w := newWorld(t)
	var names []string
	for i := range 3 {
		names = append(names, w.ok(live, "PUT", "/v1/sessions/ses_ver", fmt.Sprintf(`{"title":"version %d"}`, i)).text("fingerprint"))
	}
	versions := w.ok(live, "GET", "/v1/sessions/ses_ver/versions", "").object()["versions"]
	if got, want := each(versions, "fingerprint"), names[2]+" | "+names[1]+" | "+names[0]; got != want {
		t.Errorf("the versions are %s, want %s", got, want)
	}
	if got := each(versions, "current"); got != "true | false | false" {
		t.Errorf("current: %s", got)
	}
	for i, name := range names {
		a := w.ok(live, "GET", "/v1/sessions/ses_ver/versions/"+name, "")
		if a.text("title") != fmt.Sprintf("version %d", i) || a.header.Get("ETag") != `"`+name+`"` {
			t.Errorf("version %d: %v %s", i, a.header, a)
		}
	}
	w.run([]scenario{{name: "no such version", as: live, method: "GET", path: "/v1/sessions/ses_ver/versions/" + strings.Repeat("0", 64), status: 404, code: "not_found"}})
	again := w.ok(live, "PUT", "/v1/sessions/ses_ver", `{"title":"version 0"}`)
	if again.text("fingerprint") != names[0] {
		t.Errorf("the first content again is %s, was %s", again.text("fingerprint"), names[0])
	}
}

func TestKeysThroughTheAPI(t *testing.T) {
	w := newWorld(t)
	made := w.ok(live, "POST", "/v1/api_keys", `{"name":"laptop","mode":"sandbox"}`)
	key := made.text("key")
	if made.text("mode") != "sandbox" || !strings.HasPrefix(key, "hodl_test_") || !strings.HasSuffix(key, made.text("last_four")) {
		t.Errorf("the key is %s", made)
	}
	w.ok(key, "GET", "/v1/me", "")
	list := w.ok(live, "GET", "/v1/api_keys", "")
	if !strings.Contains(string(list.body), `"laptop"`) || strings.Contains(string(list.body), key) {
		t.Errorf("the list is %s", list)
	}
	w.run([]scenario{
		{name: "a live key by a sandbox key", as: sandbox, method: "POST", path: "/v1/api_keys", body: `{"name":"x","mode":"live"}`, status: 403, code: "forbidden"},
		{name: "an unknown mode", as: live, method: "POST", path: "/v1/api_keys", body: `{"name":"x","mode":"test"}`, status: 422, code: "validation_failed", has: []string{`"mode"`}},
		{name: "revoke", as: live, method: "POST", path: "/v1/api_keys/" + made.text("id") + "/revoke", status: 200, has: []string{`"revoked_at":"2026`}},
		{name: "the revoked key", as: key, method: "GET", path: "/v1/me", status: 401, code: "invalid_key"},
		{name: "revoke again", as: live, method: "POST", path: "/v1/api_keys/" + made.text("id") + "/revoke", status: 200},
	})
}
