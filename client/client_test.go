package client_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hodl"
	"hodl/client"
	"hodl/hodltest"
)

func draft() hodl.SessionDraft {
	return hodl.SessionDraft{
		Title: "the cache bug", Summary: "stale reads after a deploy",
		Tabs:   []hodl.Tab{{URL: "https://example.com/issues/7", Title: "Issue 7"}},
		Thread: []hodl.Node{{ID: "n1", Kind: hodl.Observation, Text: "only the second node is stale"}},
		Notes:  []hodl.NoteDraft{{Body: "ask who owns the cache"}},
	}
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestHodls(t *testing.T) {
	ctx, c := t.Context(), hodltest.Start(t).Client()
	got := must[*client.Captured](t)(c.CaptureHodl(ctx, hodl.HodlDraft{URL: "https://example.com/a", Title: "A", Tags: []string{"x"}, Source: "node"}))
	if got.ID == "" || got.Title != "A" || len(got.Warnings) != 0 {
		t.Errorf("captured %+v", got)
	}
	second := must[*client.Captured](t)(c.CaptureHodl(ctx, hodl.HodlDraft{Note: "remember"}))

	page := must[*client.HodlPage](t)(c.Hodls(ctx, client.Page{Limit: 1}))
	if len(page.Hodls) != 1 || page.Hodls[0].ID != second.ID || page.Next == "" {
		t.Fatalf("first page %+v", page)
	}
	page = must[*client.HodlPage](t)(c.Hodls(ctx, client.Page{Limit: 1, Cursor: page.Next}))
	if len(page.Hodls) != 1 || page.Hodls[0].ID != got.ID {
		t.Errorf("second page %+v", page)
	}
	if last := must[*hodl.Hodl](t)(c.LatestHodl(ctx)); last.ID != second.ID {
		t.Errorf("the latest is %s, want %s", last.ID, second.ID)
	}

	title := "B"
	changed := must[*hodl.Hodl](t)(c.ChangeHodl(ctx, got.ID, hodl.HodlChange{Title: &title}))
	if diff := cmp.Diff(changed, must[*hodl.Hodl](t)(c.Hodl(ctx, got.ID))); diff != "" || changed.Title != "B" || changed.URL != got.URL {
		t.Errorf("changed to %+v, which is read as (-changed +read)\n%s", changed, diff)
	}
	if err := c.DeleteHodl(ctx, got.ID); err != nil {
		t.Error(err)
	}
	_, err := c.Hodl(ctx, got.ID)
	wantCode(t, err, hodl.NotFound)
}

func TestSessions(t *testing.T) {
	ctx, c := t.Context(), hodltest.Start(t).Client()
	first := must[*client.CapturedSession](t)(c.CaptureSession(ctx, draft()))
	got := must[*client.Session](t)(c.Session(ctx, first.ID))
	if got.Title != "the cache bug" || got.State != hodl.Held || got.Fingerprint != first.Fingerprint {
		t.Errorf("session %+v", got)
	}
	content := must[*client.Content](t)(c.Content(ctx, first.ID))
	if diff := cmp.Diff(draft().Tabs, content.Tabs); diff != "" || len(content.Notes) != 1 || content.Notes[0].Body != "ask who owns the cache" {
		t.Errorf("content %+v; tabs (-want +got)\n%s", content, diff)
	}

	changed := draft()
	changed.Title = "the cache bug, found"
	second := must[*client.CapturedSession](t)(c.PutSession(ctx, first.ID, changed, client.IfMatch(first.Fingerprint)))
	_, err := c.PutSession(ctx, first.ID, draft(), client.IfMatch(first.Fingerprint))
	wantCode(t, err, hodl.Stale)
	versions := must[*client.VersionPage](t)(c.Versions(ctx, first.ID, client.Page{}))
	if len(versions.Versions) != 2 || versions.Versions[0].Fingerprint != second.Fingerprint || !versions.Versions[0].Current {
		t.Errorf("versions %+v", versions)
	}
	if old := must[*client.Content](t)(c.Version(ctx, first.ID, first.Fingerprint)); old.Title != "the cache bug" {
		t.Errorf("the old version is called %q", old.Title)
	}
	d := must[*client.SessionDiff](t)(c.DiffSession(ctx, first.ID, "", ""))
	if d.From == nil || d.From.Fingerprint != first.Fingerprint || d.To.Fingerprint != second.Fingerprint || d.Changed != 1 || d.Changes[0].Field != "title" {
		t.Errorf("diff %+v", d)
	}
	fork := must[*client.CapturedSession](t)(c.ForkSession(ctx, first.ID, hodl.ForkDraft{Title: "another way", From: first.Fingerprint}))
	if x := must[*client.Content](t)(c.Content(ctx, fork.ID)); x.Title != "another way" || fork.ID == first.ID {
		t.Errorf("fork %+v holds %+v", fork, x)
	}
	if err := c.DeleteSession(ctx, fork.ID); err != nil {
		t.Error(err)
	}
	if list := must[*client.SessionPage](t)(c.Sessions(ctx, client.Page{})); len(list.Sessions) != 1 || list.Sessions[0].ID != first.ID {
		t.Errorf("sessions %+v", list)
	}
}

func TestTransitions(t *testing.T) {
	ctx, c := t.Context(), hodltest.Start(t).Client()
	open := draft()
	open.State = hodl.Open
	id := must[*client.CapturedSession](t)(c.CaptureSession(ctx, open)).ID
	for _, step := range []struct {
		move func() (*client.Session, error)
		want hodl.State
	}{
		{func() (*client.Session, error) { return c.HoldSession(ctx, id) }, hodl.Held},
		{func() (*client.Session, error) { return c.ResumeSession(ctx, id) }, hodl.Resumed},
		{func() (*client.Session, error) { return c.ArchiveSession(ctx, id) }, hodl.Archived},
		{func() (*client.Session, error) { return c.RestoreSession(ctx, id) }, hodl.Held},
	} {
		if got := must[*client.Session](t)(step.move()); got.State != step.want {
			t.Errorf("state %s, want %s", got.State, step.want)
		}
	}
	if err := c.DeleteSession(ctx, id); err != nil {
		t.Error(err)
	}
	_, err := c.Session(ctx, id)
	wantCode(t, err, hodl.NotFound)
}

// TestHandOff walks a session from its capture to an agent's writes and the records
// of both.
func TestHandOff(t *testing.T) {
	ctx, server := t.Context(), hodltest.Start(t)
	c := server.Client()
	id := must[*client.CapturedSession](t)(c.CaptureSession(ctx, draft())).ID
	minted := must[*client.Minted](t)(c.Mint(ctx, hodl.TokenDraft{
		Session: id, Audience: "claude.anthropic.com",
		Scopes: []hodl.Scope{hodl.ReadContext, hodl.ReadReasoning, hodl.WriteNotes, hodl.WriteNextStep},
	}))
	agent := server.Agent(minted.Token, client.As("claude.anthropic.com"))
	given := must[*client.Context](t)(agent.Hydrate(ctx, id))
	if given.Title != "the cache bug" || len(given.Tabs) != 1 || len(given.Thread) != 1 || given.Hydration == "" {
		t.Errorf("received %+v", given)
	}
	text := must[*client.Rendering](t)(agent.Render(ctx, id, client.Ask{Format: "prompt-ready"}))
	if !strings.Contains(string(text.Body), "the cache bug") || !strings.HasPrefix(text.ContentType, "text/") || text.Fingerprint != given.Fingerprint {
		t.Errorf("rendering %s %s:\n%s", text.ContentType, text.Fingerprint, text.Body)
	}
	must[*client.Noted](t)(agent.Note(ctx, id, "looked at it"))
	must[*client.Written](t)(agent.Node(ctx, id, hodl.Node{ID: "a1", Kind: hodl.Question, Text: "which release?"}))
	step := must[*client.Written](t)(agent.NextStep(ctx, id, client.Step{Text: "bisect"}))
	if step.Fingerprint == given.Fingerprint {
		t.Error("a write made no new version")
	}

	records := must[*client.RecordPage](t)(c.Records(ctx, client.RecordFilter{Token: minted.ID, Kind: hodl.KindHydrate}))
	if len(records.Records) != 2 || records.Records[1].ID != given.Hydration {
		t.Fatalf("records %+v", records)
	}
	if r := must[*hodl.Record](t)(c.Record(ctx, text.Hydration)); r.Returned == nil || r.Returned.Bytes != len(text.Body) {
		t.Errorf("record %+v of %d bytes", r, len(text.Body))
	}
	if u := must[*client.Usage](t)(c.Usage(ctx)); u.Hydrations != 2 {
		t.Errorf("usage %+v", u)
	}

	kept := must[*client.TokenPage](t)(c.Tokens(ctx, client.TokenFilter{Session: id}))
	if len(kept.Tokens) != 1 || kept.Tokens[0].HydrationsLeft != hodl.DefaultHydrations-2 {
		t.Errorf("tokens %+v", kept)
	}
	if r := must[*client.Revoked](t)(c.Revoke(ctx, minted.ID, "done")); r.Reason != "done" {
		t.Errorf("revoked %+v", r)
	}
	if kept := must[*client.Token](t)(c.Token(ctx, minted.ID)); kept.RevokedAt == nil || kept.Reason != "done" {
		t.Errorf("token %+v", kept)
	}
	_, err := agent.Hydrate(ctx, id)
	wantCode(t, err, hodl.TokenRevoked)
}

func TestKeys(t *testing.T) {
	ctx, server := t.Context(), hodltest.Start(t)
	c := server.Client()
	me := must[*client.Me](t)(c.Me(ctx))
	if me.Workspace != server.Workspace || me.Mode != hodl.Live || me.Role != hodl.Admin {
		t.Errorf("me %+v", me)
	}
	made := must[*client.Key](t)(c.CreateKey(ctx, hodl.KeyDraft{Name: "ci", Mode: hodl.Sandbox}))
	other := client.New(server.URL+"/", made.Key)
	if me := must[*client.Me](t)(other.Me(ctx)); me.KeyID != made.ID || me.Mode != hodl.Sandbox {
		t.Errorf("the new key is %+v", me)
	}
	if page := must[*client.KeyPage](t)(c.Keys(ctx, client.KeyQuery{})); len(page.Keys) != 3 || page.Keys[0].Name != "ci" || page.Keys[0].Key != "" {
		t.Errorf("keys %+v", page)
	}
	name := "renamed"
	if k := must[*client.Key](t)(c.ChangeKey(ctx, made.ID, hodl.KeyChange{Name: &name})); k.Name != name {
		t.Errorf("changed key %+v", k)
	}
	next := must[*client.Key](t)(c.RotateKey(ctx, made.ID, time.Hour))
	if k := must[*client.Key](t)(c.Key(ctx, made.ID)); k.ReplacedBy != next.ID || k.ExpiresAt == nil || next.Key == "" {
		t.Errorf("rotated key %+v", k)
	}
	if k := must[*client.Key](t)(c.RevokeKey(ctx, made.ID)); k.RevokedAt == nil {
		t.Errorf("revoked key %+v", k)
	}
	_, err := other.Me(ctx)
	wantCode(t, err, hodl.InvalidKey)
}

func TestRefusals(t *testing.T) {
	ctx, server := t.Context(), hodltest.Start(t)
	_, err := client.New(server.URL, "").Me(ctx)
	wantCode(t, err, hodl.MissingCredentials)
	_, err = server.Client().Session(ctx, "../hodls")
	wantCode(t, err, hodl.NotFound)

	_, err = server.Client().CaptureHodl(ctx, hodl.HodlDraft{Tags: []string{strings.Repeat("x", 200)}, Note: "n"})
	refused := refusal(t, err, hodl.ValidationFailed)
	if refused.Message == "" || refused.Hint == "" || len(refused.Fields) == 0 || refused.Fields[0].Path != "tags[0]" {
		t.Errorf("refusal %+v", refused)
	}
}

// TestStrangers is what becomes of answers that no hodl server gave.
func TestStrangers(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		body   string
		want   hodl.Code
	}{
		{"a proxy without its server", 502, "<h1>bad gateway</h1>", hodl.Unavailable},
		{"another server", 404, "page not found", hodl.Internal},
		{"a redirect is not followed", 302, "", hodl.Internal},
		{"another envelope", 400, `{"error":"no"}`, hodl.Internal},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "https://example.com/")
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(tt.status)
			_, _ = w.Write([]byte(tt.body))
		}))
		_, err := client.New(server.URL, "k").Me(t.Context())
		if e := refusal(t, err, tt.want); e.RetryAfter != 7*time.Second {
			t.Errorf("%s: retry after %s", tt.name, e.RetryAfter)
		}
		server.Close()
		if _, err := client.New(server.URL, "k").Me(t.Context()); err == nil || errors.As(err, new(*hodl.Error)) {
			t.Errorf("%s: a server that is gone refuses: %v", tt.name, err)
		}
	}
}

func wantCode(t *testing.T, err error, want hodl.Code) {
	t.Helper()
	_ = refusal(t, err, want) // it is fatal when it is another
}

func refusal(t *testing.T, err error, want hodl.Code) *hodl.Error {
	t.Helper()
	e, ok := errors.AsType[*hodl.Error](err)
	if !ok || e.Code != want {
		t.Fatalf("got %v, want %s", err, want)
	}
	return e
}
