package mcpserver_test

import (
	"fmt"
	"strings"
	"testing"

	"hodl"
	"hodl/internal/capture"
	"hodl/internal/resume"
)

// The values of planted, joined from parts, or scanners stop the change.
var planted = []string{"karin.lind@" + "fjordbank.no", "Vq7" + "rT2pLx9ZsW4", "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"}

// plant captures a session and a hodl with a value in every text.
func (w *world) plant() (session hodl.SessionID, id hodl.HodlID) {
	w.t.Helper()
	text := fmt.Sprintf("mail %s, password=%s and %s", planted[0], planted[1], planted[2])
	c := capture.New(w.Store)
	got, err := c.Session(w.t.Context(), &w.ada.Principal, capture.SessionCapture{Draft: hodl.SessionDraft{
		ID: "ses_planted", Title: text, Summary: text, Tags: []string{planted[0]},
		Tabs:   []hodl.Tab{{URL: "https://example.com/?token=" + planted[2], Title: text, SelectedText: text}},
		Thread: []hodl.Node{{ID: "n1", Kind: hodl.Observation, Text: text, Evidence: []string{text}}}, Notes: []hodl.NoteDraft{{Body: text}},
	}})
	w.must(err)
	h, err := c.Hodl(w.t.Context(), &w.ada.Principal, hodl.HodlDraft{Title: text, Note: text, URL: "https://example.com/?token=" + planted[2], Tags: []string{planted[0]}})
	w.must(err)
	return got.ID, h.ID
}

// Whatever an agent asks for at this door, by whatever credential: nothing planted is
// in it. With the policy off it is, or the test could not fail.
func TestPlantedValuesStay(t *testing.T) {
	w := newWorld(t)
	session, id := w.plant()
	m, err := w.resume.Mint(t.Context(), resume.Caller{Principal: &w.ada.Principal}, hodl.TokenDraft{
		Session: session, Audience: public + "/mcp", Scopes: []hodl.Scope{hodl.ReadContext, hodl.ReadReasoning}, MaxHydrations: new(50),
	})
	w.must(err)
	token := m.Signed
	ask := func() string {
		var all strings.Builder
		for _, credential := range []string{w.ada.key, token} {
			for _, call := range []string{
				`tools/call {"name":"list","arguments":{}}`, `tools/call {"name":"list","arguments":{"query":"mail"}}`, `tools/call {"name":"list","arguments":{"kind":"hodl"}}`,
				`tools/call {"name":"list_sessions","arguments":{}}`, `tools/call {"name":"resume","arguments":{"session_id":"` + string(session) + `","max_tokens":1200,"format":"json"}}`,
				`tools/call {"name":"list","arguments":{"query":"` + planted[1] + `"}}`, `resources/templates/list {}`, `prompts/list {}`, `tools/call {"name":"resume","arguments":{"session_id":"` + string(session) + `"}}`,
				`resources/list {}`, `resources/read {"uri":"hodl://recent"}`, `resources/read {"uri":"hodl://hodls/` + string(id) + `"}`,
				`resources/read {"uri":"hodl://sessions/` + string(session) + `"}`, `resources/read {"uri":"hodl://sessions/` + string(session) + `?format=json"}`,
				`resources/read {"uri":"unihodl://session/` + string(session) + `"}`, `prompts/get {"name":"resume_session","arguments":{"session_id":"` + string(session) + `"}}`,
				`completion/complete {"ref":{"type":"ref/prompt","name":"resume_session"},"argument":{"name":"session_id","value":"ses"}}`,
				`completion/complete {"ref":{"type":"ref/resource","uri":"hodl://sessions/{id}{?format,part}"},"argument":{"name":"id","value":"karin"}}`,
			} {
				method, params, _ := strings.Cut(call, " ")
				all.WriteString(w.rpc(credential, method, params).String())
			}
		}
		return all.String()
	}
	hidden := ask()
	for _, value := range planted {
		if strings.Contains(hidden, value) {
			t.Errorf("%s shows in\n%s", value, hidden)
		}
	}
	w.must(w.UsePolicy(t.Context(), w.ada.Workspace, hodl.Live, "off"))
	open := ask()
	for _, value := range planted {
		if !strings.Contains(open, value) {
			t.Errorf("with the policy off %s is nowhere: the test cannot fail", value)
		}
	}
}
