package redact_test

import (
	"strings"
	"testing"

	"hodl"
	"hodl/internal/redact"
)

// token is joined from parts: a whole one would be found by the scanners of whoever
// hosts this code.
var token = "ghp" + "_" + "x8Kq2LmZ4vRt7WnYbC3dEfGhJ5sPaQ1uT9iO"

func planted() hodl.Content {
	return hodl.Content{
		Title: "Mail from jane.roe@example.org",
		Tabs: []hodl.Tab{
			{URL: "https://example.com/reset?token=" + token + "&lang=en", Title: "Reset"},
			{URL: "https://example.com/a", Title: "A", SelectedText: `password = "hunter2-Xq9"`},
		},
		Notes: []hodl.Note{{ID: 1, Body: "I used " + token + " and hunter2-Xq9, ask jane.roe@example.org"}},
	}
}

func applied(t *testing.T, p *redact.Policy, c hodl.Content) redact.Redacted {
	t.Helper()
	r, err := p.Apply(session(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func preset(t *testing.T, name string) *redact.Policy {
	t.Helper()
	p, ok := redact.Lookup(name)
	if !ok {
		t.Fatalf("no preset %q", name)
	}
	return p
}

func TestApplyRemovesAndTells(t *testing.T) {
	r := applied(t, preset(t, "balanced"), planted())
	c := r.Content()
	if got, want := c.Tabs[0].URL, "https://example.com/reset?token=__GITHUB_TOKEN_1__&lang=en"; got != want {
		t.Errorf("address %q, want %q", got, want)
	}
	if got, want := c.Tabs[1].SelectedText, `password = "[PASSWORD_1]"`; got != want {
		t.Errorf("selection %q, want %q", got, want)
	}
	if got, want := c.Notes[0].Body, "I used [GITHUB_TOKEN_1] and [PASSWORD_1], ask [EMAIL_1]"; got != want {
		t.Errorf("note %q, want %q: a value found anywhere is removed everywhere", got, want)
	}
	fields := map[string]bool{}
	for _, x := range r.Redactions() {
		fields[x.Field] = true
		if x.Rule == "" || x.Reason == "" || x.Count != 1 || !strings.Contains(x.Placeholder, "_1]") {
			t.Errorf("the list says %+v", x)
		}
	}
	for _, want := range []string{"title", "tabs[0].url", "tabs[1].selected_text", "notes[0].body"} {
		if !fields[want] {
			t.Errorf("the list does not name %s: %v", want, fields)
		}
	}
	if len(r.Uses()) != len(r.Redactions()) {
		t.Errorf("uses %v", r.Uses())
	}
}

func TestCapturedPlaceholdersAreNotOurs(t *testing.T) {
	c := planted()
	c.Summary = "the page says [EMAIL_1] and __GITHUB_TOKEN_1__"
	got := applied(t, preset(t, "balanced"), c).Content()
	if !strings.Contains(got.Title, "[EMAIL_2]") || !strings.Contains(got.Tabs[0].URL, "__GITHUB_TOKEN_2__") {
		t.Errorf("title %q, address %q: a captured look-alike has the number", got.Title, got.Tabs[0].URL)
	}
	c.Summary, c.Notes = "", append(c.Notes, hodl.Note{ID: 2, Body: "[EMAIL_1] should know", Trust: hodl.TrustAgent})
	if got := applied(t, preset(t, "balanced"), c).Content().Title; !strings.Contains(got, "[EMAIL_1]") {
		t.Errorf("title %q: an agent's note must go on meaning the same address", got)
	}
}

func TestRedactingTwiceChangesNothing(t *testing.T) {
	for _, name := range hodl.Presets {
		once := applied(t, preset(t, name), planted()).Content()
		if twice := applied(t, preset(t, name), once).Content(); twice.Tabs[0] != once.Tabs[0] || twice.Notes[0] != once.Notes[0] || twice.Title != once.Title {
			t.Errorf("%s: %+v became %+v", name, once, twice)
		}
	}
}
