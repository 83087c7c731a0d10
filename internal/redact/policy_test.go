package redact_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"hodl"
	"hodl/internal/redact"
)

func compiled(t *testing.T, d hodl.PolicyDocument) *redact.Policy {
	t.Helper()
	p, err := redact.Compile("own", 3, d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestValidateNamesWhatIsWrong(t *testing.T) {
	for want, d := range map[string]hodl.PolicyDocument{
		"extends":               {Extends: "lax"},
		"classes.pii.mail":      {Classes: map[string]hodl.Action{"pii.mail": hodl.Remove}},
		"classes.pii":           {Classes: map[string]hodl.Action{"pii": "hide"}},
		"rules.person.mail":     {Rules: map[string]hodl.Action{"person.mail": hodl.Keep}},
		"fields[0].path":        {Fields: []hodl.FieldRule{{Path: "tabs[0].url", Action: hodl.Drop}}},
		"fields[0].action":      {Fields: []hodl.FieldRule{{Path: "notes", Action: "hide"}}},
		"hosts[0].host":         {Hosts: []hodl.HostRule{{Host: "https://example.com", Action: hodl.Drop}}},
		"paths[0].path":         {Paths: []hodl.PathRule{{Action: hodl.Drop}}},
		"urls.query":            {URLs: &hodl.URLRule{Query: "some"}},
		"allow[0]":              {Allow: []hodl.Allowance{{}}},
		"allow[0].types[0]":     {Allow: []hodl.Allowance{{Value: "x", Types: []string{"pii.mail"}}}},
		"dictionaries[0].words": {Dictionaries: []hodl.Dictionary{{ID: "d", Type: "D", Words: make([]string, 10_001)}}},
		"patterns[0].regex":     {Patterns: []hodl.Pattern{{ID: "p", Type: "P", Regex: "("}}},
		"patterns[1].regex":     {Patterns: []hodl.Pattern{{ID: "p", Type: "P", Regex: "a"}, {ID: "q", Type: "Q", Regex: "a*"}}},
		"patterns[0].type":      {Patterns: []hodl.Pattern{{ID: "p", Type: "p1", Regex: "a"}}},
		"field_bytes":           {FieldBytes: 7},
		"on_fault":              {OnFault: "pass"},
	} {
		err := redact.Validate(&d)
		refused, ok := errors.AsType[*hodl.Error](err)
		if !ok || refused.Code != hodl.ValidationFailed || refused.Fields[0].Path != want {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestDrops(t *testing.T) {
	c := hodl.Content{
		Tabs: []hodl.Tab{
			{URL: "https://mail.example.com/inbox/7?x=1", Title: "Inbox", SelectedText: "Dear all"},
			{URL: "https://example.com/", Title: "Home", SelectedText: "hello"},
		},
		Notes: []hodl.Note{{Body: "mine"}},
		Hodls: []hodl.Hodl{{ID: "hdl_1", Location: &hodl.Location{File: "deploy/.env", Selection: &hodl.Selection{Text: "A=1"}}}},
	}
	got := applied(t, compiled(t, hodl.PolicyDocument{
		Extends: "balanced",
		Fields:  []hodl.FieldRule{{Path: "notes", Action: hodl.Drop}},
		Hosts:   []hodl.HostRule{{Host: "*.example.com", Action: hodl.Drop}},
		Paths:   []hodl.PathRule{{Path: "**/.env", Action: hodl.Drop}},
	}), c).Content()
	if tab := got.Tabs[0]; !strings.HasPrefix(tab.URL, "https://mail.example.com/__DROPPED_") || strings.Contains(tab.Title+tab.SelectedText, "n") {
		t.Errorf("a page of a dropped host: %+v", tab)
	}
	if got.Tabs[1] != c.Tabs[1] {
		t.Errorf("another page: %+v", got.Tabs[1])
	}
	if got.Notes[0].Body == "mine" || got.Hodls[0].Location.Selection.Text == "A=1" {
		t.Errorf("note %q, selection %q", got.Notes[0].Body, got.Hodls[0].Location.Selection.Text)
	}
}

func TestAllowances(t *testing.T) {
	until := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	p := compiled(t, hodl.PolicyDocument{Extends: "balanced", Allow: []hodl.Allowance{
		{Domain: "example.org"}, {Value: "ann@example.com", Expires: until}, {Value: "hunter2-Xq9"},
	}})
	c := planted()
	c.Summary = "ann@example.com"
	for _, at := range []struct {
		policy *redact.Policy
		kept   bool
	}{{p, false}, {p.At(until.Add(-time.Hour)), true}, {p.At(until), false}} {
		out := applied(t, at.policy, c).Content()
		if got := out.Summary == c.Summary; got != at.kept {
			t.Errorf("summary %q, kept %v, want %v", out.Summary, got, at.kept)
		}
		if out.Title != c.Title {
			t.Errorf("title %q: the domain is allowed", out.Title)
		}
		if strings.Contains(out.Tabs[1].SelectedText, "hunter2") {
			t.Error("an allowance that names no type let a secret pass")
		}
	}
	if p.Key() == p.At(until.Add(-time.Hour)).Key() {
		t.Error("a cached rendering would outlive the allowance")
	}
}

func TestOwnWordsAndPatterns(t *testing.T) {
	p := compiled(t, hodl.PolicyDocument{
		Extends:      "off",
		Dictionaries: []hodl.Dictionary{{ID: "customers", Type: "CUSTOMER", Words: []string{"Initech"}}},
		Patterns:     []hodl.Pattern{{ID: "ticket", Type: "TICKET", Regex: `ticket (?P<value>[A-Z]+-\d+)`}},
	})
	got := applied(t, p, hodl.Content{Title: "INITECH wants ticket ABC-7, Initechs do not", Summary: "jane.roe@example.org"}).Content()
	if want := "[CUSTOMER_1] wants ticket [TICKET_1], Initechs do not"; got.Title != want || got.Summary != "jane.roe@example.org" {
		t.Errorf("title %q, want %q; summary %q", got.Title, want, got.Summary)
	}
}

func TestFieldsTooLong(t *testing.T) {
	long := hodl.Content{Title: strings.Repeat("x", 2000), Summary: "short"}
	_, err := compiled(t, hodl.PolicyDocument{FieldBytes: 1024}).Apply(session(), long)
	if hodl.CodeOf(err) != hodl.Forbidden || !strings.Contains(err.Error(), "title") {
		t.Errorf("refused with %v", err)
	}
	got := applied(t, compiled(t, hodl.PolicyDocument{FieldBytes: 1024, OnFault: hodl.DropFault}), long).Content()
	if got.Title != "[DROPPED_1]" || got.Summary != "short" {
		t.Errorf("title %q, summary %q", got.Title, got.Summary)
	}
}

func TestSecretsOnly(t *testing.T) {
	out := texts(t, applied(t, preset(t, "default-strict").SecretsOnly(), planted()).Content())
	if strings.Contains(out, "hunter2") || !strings.Contains(out, "jane.roe@example.org") {
		t.Errorf("who may read what is redacted gets %s", out)
	}
}
