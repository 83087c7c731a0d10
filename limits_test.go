package hodl_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"hodl"
)

func TestHodlDraftCheck(t *testing.T) {
	for name, tt := range map[string]struct {
		draft hodl.HodlDraft
		want  string // the field at fault
	}{
		"a title":             {hodl.HodlDraft{Title: "x"}, ""},
		"a note":              {hodl.HodlDraft{Note: "x"}, ""},
		"an address":          {hodl.HodlDraft{URL: "https://example.com/é?q=1#f"}, ""},
		"a browser's page":    {hodl.HodlDraft{URL: "chrome://settings"}, ""},
		"a file":              {hodl.HodlDraft{URL: "file:///home/me/notes.md"}, ""},
		"a place":             {hodl.HodlDraft{Location: &hodl.Location{File: "a/b..c.go", Line: 1, Column: 1}}, ""},
		"a repository":        {hodl.HodlDraft{Location: &hodl.Location{Repository: "github.com/a/b"}}, ""},
		"nothing":             {hodl.HodlDraft{Tags: []string{"x"}}, "url"},
		"half an address":     {hodl.HodlDraft{URL: "example.com"}, "url"},
		"an empty tag":        {hodl.HodlDraft{Title: "x", Tags: []string{"a", ""}}, "tags[1]"},
		"an unknown source":   {hodl.HodlDraft{Title: "x", Source: "fax"}, "source"},
		"a bad session":       {hodl.HodlDraft{Title: "x", SessionID: "1"}, "session_id"},
		"no UTF-8":            {hodl.HodlDraft{Title: "\xff"}, "title"},
		"NUL":                 {hodl.HodlDraft{Note: "a\x00"}, "note"},
		"an absolute path":    {hodl.HodlDraft{Location: &hodl.Location{File: "/etc/passwd"}}, "location.file"},
		"a path up":           {hodl.HodlDraft{Location: &hodl.Location{File: "a/../../b"}}, "location.file"},
		"no file":             {hodl.HodlDraft{Location: &hodl.Location{Line: 3}}, "location.file"},
		"line minus one":      {hodl.HodlDraft{Location: &hodl.Location{File: "f", Line: -1}}, "location.line"},
		"a selection upwards": {hodl.HodlDraft{Location: &hodl.Location{File: "f", Selection: &hodl.Selection{StartLine: 3, EndLine: 2}}}, "location.selection"},
	} {
		if err := tt.draft.Check(); pathOf(err) != tt.want || (err == nil) != (tt.want == "") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Every fault is told, up to what a reader can use.
func TestFaultsAreToldTogether(t *testing.T) {
	d := hodl.SessionDraft{ID: "x", Title: strings.Repeat("t", hodl.MaxTitle+1), Tabs: make([]hodl.Tab, 3)}
	e, ok := errors.AsType[*hodl.Error](d.Check())
	if !ok || len(e.Fields) != 5 || e.Hint == "" {
		t.Errorf("the faults are %v", e)
	}
	d = hodl.SessionDraft{Tabs: make([]hodl.Tab, 1000)}
	if e, ok := errors.AsType[*hodl.Error](d.Check()); !ok || len(e.Fields) != 50 {
		t.Errorf("%d faults are told", len(e.Fields))
	}
}

func TestTokenDraftCheck(t *testing.T) {
	n := func(n int) *int { return &n }
	sound := hodl.TokenDraft{Session: "ses_1", Audience: "sdk.unihodl.app", Scopes: []hodl.Scope{hodl.ReadContext}}
	for name, tt := range map[string]struct {
		change func(*hodl.TokenDraft)
		want   string
	}{
		"sound":         {func(*hodl.TokenDraft) {}, ""},
		"shortest":      {func(d *hodl.TokenDraft) { d.TTLSeconds = n(60) }, ""},
		"longest":       {func(d *hodl.TokenDraft) { d.TTLSeconds = n(86400) }, ""},
		"too short":     {func(d *hodl.TokenDraft) { d.TTLSeconds = n(59) }, "ttl_seconds"},
		"too long":      {func(d *hodl.TokenDraft) { d.TTLSeconds = n(86401) }, "ttl_seconds"},
		"most":          {func(d *hodl.TokenDraft) { d.MaxHydrations = n(1000) }, ""},
		"none":          {func(d *hodl.TokenDraft) { d.MaxHydrations = n(0) }, "max_hydrations"},
		"too many":      {func(d *hodl.TokenDraft) { d.MaxHydrations = n(1001) }, "max_hydrations"},
		"no scopes":     {func(d *hodl.TokenDraft) { d.Scopes = nil }, "scopes"},
		"unknown scope": {func(d *hodl.TokenDraft) { d.Scopes = append(d.Scopes, "read:all") }, "scopes[1]"},
		"no audience":   {func(d *hodl.TokenDraft) { d.Audience = "" }, "audience"},
		"long audience": {func(d *hodl.TokenDraft) { d.Audience = strings.Repeat("a", 513) }, "audience"},
		"no session":    {func(d *hodl.TokenDraft) { d.Session = "" }, "session_id"},
		"long policy":   {func(d *hodl.TokenDraft) { d.RedactionPolicy = strings.Repeat("p", 129) }, "redaction_policy"},
	} {
		d := sound
		d.Scopes = append([]hodl.Scope{}, sound.Scopes...)
		tt.change(&d)
		if err := d.Check(); pathOf(err) != tt.want || (err == nil) != (tt.want == "") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMonths(t *testing.T) {
	zone := time.FixedZone("east", 9*3600)
	for at, want := range map[time.Time][2]string{
		time.Date(2026, 11, 30, 23, 59, 59, 999, time.UTC): {"2026-11", "2026-12-01"},
		time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC):       {"2026-12", "2027-01-01"},
		time.Date(2026, 12, 1, 8, 0, 0, 0, zone):           {"2026-11", "2026-12-01"}, // still November in UTC
		time.Date(2028, 1, 31, 12, 0, 0, 0, time.UTC):      {"2028-01", "2028-02-01"},
	} {
		if got := [2]string{hodl.Month(at), hodl.NextMonth(at).Format(time.DateOnly)}; got != want {
			t.Errorf("%v: %v, want %v", at, got, want)
		}
	}
}

func TestPrincipalMay(t *testing.T) {
	for _, tt := range []struct {
		scopes, want string
		ok           bool
	}{
		{"*", "keys:write", true},
		{"sessions:read", "sessions:read", true},
		{"sessions:write", "sessions:read", true},
		{"sessions:read", "sessions:write", false},
		{"sessions:write", "tokens:read", false},
		{"", "sessions:read", false},
		{"sessions", "sessions:read", false},
	} {
		p := hodl.Principal{Scopes: strings.Fields(tt.scopes)}
		if got := p.May(tt.want); got != tt.ok {
			t.Errorf("%q may %s: %v", tt.scopes, tt.want, got)
		}
	}
}
