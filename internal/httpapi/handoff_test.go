package httpapi_test

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestHandOff(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_h")
	const path, body = "/v1/sessions/ses_h/handoff", `{"audience":"crewai.com","scopes":["read:context"]}`
	me := w.ok(live, "GET", "/v1/me", "")
	stepUp := func(ago time.Duration) []string {
		return []string{"X-Unihodl-StepUp", strconv.FormatInt(w.Now().Add(-ago).Unix(), 10)}
	}
	a := w.call(live, "POST", path, body, stepUp(10*time.Second)...)
	token, link := a.text("token"), a.text("handoff_url")
	if a.status != 201 || !strings.HasPrefix(link, issuer+"/h/") || strings.Contains(link, token) || a.text("session_id") != "ses_h" {
		t.Fatalf("hand-off: %s", a)
	}
	if c := w.claimsOf(token); c.Delegator != me.text("user_id") || c.Audience != "crewai.com" || c.Actor != nil {
		t.Errorf("claims: %+v", c)
	}
	if got := w.hydrate(token, "ses_h"); got.status != 200 {
		t.Errorf("hydrate: %s", got)
	}
	record := w.records("hand_off")[0]
	if up, _ := record["step_up"].(object); up["method"] != "self_asserted" || up["at"] == nil || record["jti"] != a.text("jti") {
		t.Errorf("recorded as %v", record)
	}
	opened, never := w.call(nobody, "GET", strings.TrimPrefix(link, issuer), ""), w.call(nobody, "GET", "/h/NEVER", "")
	if opened.status != 401 || opened.String() != never.String() || !strings.Contains(opened.String(), "login") {
		t.Errorf("the link: %s; another: %s", opened, never)
	}
	id := strings.TrimPrefix(link, issuer+"/h/")
	if kept := w.query(`select link from tokens where link <> ''`); len(kept) != 1 || kept[0] == id {
		t.Errorf("kept of the link: %v", kept)
	}
	now := stepUp(0)
	w.run([]scenario{
		{name: "no confirmation", as: live, method: "POST", path: path, body: body, status: 403, code: "step_up_required", has: []string{"X-Unihodl-StepUp"}},
		{name: "an old one", as: live, method: "POST", path: path, body: body, headers: stepUp(332 * time.Second), status: 403, code: "step_up_required"},
		{name: "within the skew", as: live, method: "POST", path: path, body: body, headers: stepUp(329 * time.Second), status: 201},
		{name: "one to come", as: live, method: "POST", path: path, body: body, headers: stepUp(-32 * time.Second), status: 403, code: "step_up_required"},
		{name: "soon", as: live, method: "POST", path: path, body: body, headers: stepUp(-29 * time.Second), status: 201},
		{name: "no number", as: live, method: "POST", path: path, body: body, headers: []string{"X-Unihodl-StepUp", "now"}, status: 403, code: "step_up_required"},
		{name: "huge", as: live, method: "POST", path: path, body: body, headers: []string{"X-Unihodl-StepUp", "9223372036854775807"}, status: 403, code: "step_up_required"},
		{name: "another delegator", as: live, method: "POST", path: path, body: `{"audience":"crewai.com","scopes":["read:context"],"delegator_user_id":"usr_other"}`, headers: now, status: 422, code: "validation_failed", has: []string{"delegator_user_id"}},
		{name: "oneself", as: live, method: "POST", path: path, body: `{"audience":"crewai.com","scopes":["read:context"],"delegator_user_id":"` + me.text("user_id") + `"}`, headers: now, status: 201},
		{name: "unknown audience", as: live, method: "POST", path: path, body: `{"audience":"stranger.example.com","scopes":["read:context"]}`, headers: now, status: 422, code: "validation_failed"},
		{name: "a colleague's session", as: member, method: "POST", path: path, body: body, headers: now, status: 404, code: "not_found"},
		{name: "a stranger's", as: stranger, method: "POST", path: path, body: body, headers: now, status: 404, code: "not_found"},
		{name: "no credentials", as: nobody, method: "POST", path: path, body: body, headers: now, status: 401, code: "missing_credentials"},
		{name: "a token", as: token, method: "POST", path: path, body: body, headers: now, status: 401, code: "invalid_key"},
	})
	if shared := w.query(`select count(*) from outbox where type = 'session.shared'`); shared[0] != "4" {
		t.Errorf("session.shared was announced %s times", shared[0])
	}
}
