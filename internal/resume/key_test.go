package resume_test

import (
	"testing"

	"hodl"
	"hodl/internal/render"
	"hodl/internal/resume"
	"hodl/internal/store"
)

// keyCall is an agent that comes with the key of the person at the MCP door.
func (w *world) keyCall(scopes ...string) resume.Call {
	p := *w.caller.Principal
	p.Scopes = scopes
	return resume.Call{Key: &p, Session: "ses_1", Surface: resume.MCP}
}

func (w *world) records() []*hodl.Record {
	w.t.Helper()
	list, err := w.store.Records(w.t.Context(), w.caller.Workspace, hodl.Live, store.RecordFilter{Page: store.Page{Limit: 100}, User: w.caller.User})
	w.must(err)
	return list
}

// A key hydrates at the MCP door: one record with the key as the actor, and one of
// the month's hydrations.
func TestKeyHydrates(t *testing.T) {
	w := newWorld(t)
	for i, audience := range []string{"", issuer + "/mcp", resume.Local} {
		call := w.keyCall("sessions:read")
		call.Audience = audience
		h, err := w.Hydrate(t.Context(), call, resume.Ask{Format: render.JSON})
		w.must(err)
		list := w.records()
		r := list[0]
		if len(list) != i+1 || r.Kind != hodl.KindHydrate || r.ID != h.ID || r.Actor != "key_1" || r.JTI != "" || r.Bearer || r.Returned.SHA256 != h.Rendering.SHA256 {
			t.Fatalf("%d records, the last is %+v", len(list), r)
		}
		if want := map[string]string{"": issuer + "/mcp"}[audience] + audience; r.Audience != want {
			t.Errorf("for %s, want %s", r.Audience, want)
		}
		if len(r.Scopes) != 2 || r.Scopes[0] != hodl.ReadContext || r.Scopes[1] != hodl.ReadReasoning {
			t.Errorf("under %v", r.Scopes)
		}
	}
	used, err := w.store.Used(t.Context(), w.caller.Workspace, hodl.Live, hodl.Month(w.now()))
	w.must(err)
	if used != 3 {
		t.Errorf("%d hydrations were counted", used)
	}
}

// What a key may not do is refused as it is with a token, and the refusals of a key
// with no right to the session hand nothing over.
func TestKeyRefusals(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		change func(*resume.Call)
		code   hodl.Code
	}{
		"on REST":               {func(c *resume.Call) { c.Surface = resume.REST }, hodl.AudienceMismatch},
		"as somebody else":      {func(c *resume.Call) { c.Audience = "x.ai" }, hodl.AudienceMismatch},
		"without sessions:read": {func(c *resume.Call) { c.Key.Scopes = []string{"hodls:write"} }, hodl.InsufficientScope},
		"no such session":       {func(c *resume.Call) { c.Session = "ses_none" }, hodl.NotFound},
		"another's session":     {func(c *resume.Call) { c.Key.User = "usr_other" }, hodl.NotFound},
		"another workspace":     {func(c *resume.Call) { c.Key.Workspace = "wks_other" }, hodl.NotFound},
		"the sandbox":           {func(c *resume.Call) { c.Key.Mode = hodl.Sandbox }, hodl.NotFound},
	} {
		call := w.keyCall("sessions:read")
		c.change(&call)
		if h, err := w.Hydrate(t.Context(), call, resume.Ask{Format: render.JSON}); hodl.CodeOf(err) != c.code || h != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if used, err := w.store.Used(t.Context(), w.caller.Workspace, hodl.Live, hodl.Month(w.now())); used != 0 || err != nil {
		t.Errorf("%d hydrations were counted, %v", used, err)
	}
}

// An agent that comes with a key writes as an agent.
func TestKeyWrites(t *testing.T) {
	w := newWorld(t)
	if _, err := w.Note(t.Context(), w.keyCall("sessions:read"), "x", ""); hodl.CodeOf(err) != hodl.InsufficientScope {
		t.Errorf("with a key that reads: %v", err)
	}
	before := len(w.records())
	_, err := w.Note(t.Context(), w.keyCall("sessions:write"), "an agent was here", "")
	w.must(err)
	if r := w.records()[0]; len(w.records()) != before+1 || r.Kind != hodl.KindWrite || r.Actor != "key_1" || r.Scopes[0] != hodl.WriteNotes {
		t.Errorf("recorded as %+v", r)
	}
	v, err := w.store.Version(t.Context(), w.caller.Workspace, hodl.Live, "ses_1", w.records()[0].Fingerprint)
	w.must(err)
	if n := v.Content.Notes[0]; n.Trust != hodl.TrustAgent || n.Author != "agent:"+issuer+"/mcp" {
		t.Errorf("the note is %+v", n)
	}
}

// A call is presented once: what follows verifies no signature and counts as one use.
func TestPresent(t *testing.T) {
	w := newWorld(t)
	m, err := w.Mint(t.Context(), w.caller, hodl.TokenDraft{Session: "ses_1", Audience: issuer + "/mcp", Scopes: []hodl.Scope{hodl.ReadContext}})
	w.must(err)
	call := resume.Call{Token: m.Signed, Session: "ses_1", Surface: resume.MCP}
	call, claims, err := w.Present(t.Context(), call)
	w.must(err)
	if claims.ID != m.ID {
		t.Errorf("the claims are %+v", claims)
	}
	before, err := w.Standing(t.Context(), call)
	w.must(err)
	w.put("ses_1", "changed")
	after, err := w.Standing(t.Context(), call)
	w.must(err)
	if before.Fingerprint == after.Fingerprint {
		t.Error("the session stands where it stood")
	}
	_, err = w.Revoke(t.Context(), w.caller, m.ID, "enough")
	w.must(err)
	if _, err := w.Standing(t.Context(), call); hodl.CodeOf(err) != hodl.TokenRevoked {
		t.Errorf("once revoked: %v", err)
	}
	if _, err := w.Hydrate(t.Context(), call, resume.Ask{Format: render.JSON}); hodl.CodeOf(err) != hodl.TokenRevoked {
		t.Errorf("hydrate once revoked: %v", err)
	}
}
