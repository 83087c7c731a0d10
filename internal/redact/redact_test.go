package redact_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hodl"
	"hodl/internal/redact"
)

func content() hodl.Content {
	scroll, at, sure := 10.0, 20.0, 0.5
	return hodl.Content{
		Title:      "t",
		Tabs:       []hodl.Tab{{URL: "u", Title: "t", ScrollYPct: &scroll}},
		Media:      []hodl.Medium{{Kind: "video", URL: "u", TimestampS: &at}},
		Thread:     []hodl.Node{{ID: "n", Evidence: []string{"e"}, Supports: []string{"s"}, DependsOn: []string{"d"}, Confidence: &sure}},
		Tags:       []string{"tag"},
		Notes:      []hodl.Note{{ID: 1, Body: "b"}},
		Hodls:      []hodl.Hodl{{ID: "hdl_1", Tags: []string{"tag"}, Location: &hodl.Location{File: "f", Selection: &hodl.Selection{Text: "s"}}}},
		Provenance: map[string]hodl.Provenance{"n": {Author: "usr_1"}},
	}
}

func session() hodl.Session {
	return hodl.Session{ID: "ses_1", Fingerprint: "f", CapturedAt: time.Unix(1, 0), Title: "unread", Summary: "unread"}
}

func apply(t *testing.T, c hodl.Content) redact.Redacted {
	t.Helper()
	policy, ok := redact.Lookup("off")
	if !ok {
		t.Fatal("there is no policy off")
	}
	r, err := policy.Apply(session(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestOffRemovesNothingAndSaysSo(t *testing.T) {
	r := apply(t, content())
	if diff := cmp.Diff(content(), r.Content()); diff != "" {
		t.Errorf("content changed:\n%s", diff)
	}
	if diff := cmp.Diff([]hodl.PolicyUse{{Name: "off", Version: 2}}, r.Policies()); diff != "" {
		t.Error(diff)
	}
	if len(r.Redactions()) != 0 || len(r.Uses()) != 0 {
		t.Errorf("redactions %v, uses %v, want none", r.Redactions(), r.Uses())
	}
	if r.Session() != "ses_1" || r.Fingerprint() != "f" || !r.CapturedAt().Equal(time.Unix(1, 0)) {
		t.Errorf("session %s %s %s", r.Session(), r.Fingerprint(), r.CapturedAt())
	}
}

// Whoever holds the content passed in must not be able to change what leaves.
func TestResultIsOutOfReach(t *testing.T) {
	c := content()
	r := apply(t, c)
	c.Tabs[0].URL, *c.Tabs[0].ScrollYPct = "x", 99
	c.Media[0].URL, *c.Media[0].TimestampS = "x", 99
	n := c.Thread[0]
	n.Evidence[0], n.Supports[0], n.DependsOn[0], *n.Confidence = "x", "x", "x", 1
	c.Thread[0].Text, c.Tags[0], c.Notes[0].Body = "x", "x", "x"
	c.Hodls[0].Title, c.Hodls[0].Tags[0] = "x", "x"
	c.Hodls[0].Location.File, c.Hodls[0].Location.Selection.Text = "x", "x"
	c.Provenance["n"] = hodl.Provenance{Author: "x"}
	if diff := cmp.Diff(content(), r.Content()); diff != "" {
		t.Errorf("a later write got through:\n%s", diff)
	}
}

func TestListsAreNeverNil(t *testing.T) {
	got := apply(t, hodl.Content{Hodls: []hodl.Hodl{{}}}).Content()
	want := hodl.Content{
		Tabs: []hodl.Tab{}, Media: []hodl.Medium{}, Thread: []hodl.Node{}, Tags: []string{}, Notes: []hodl.Note{},
		Hodls: []hodl.Hodl{{Tags: []string{}}}, Provenance: map[string]hodl.Provenance{},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDoorFailsClosed(t *testing.T) {
	known, _ := redact.Lookup(redact.Off)
	for _, name := range []string{"", "OFF", "strict"} {
		if p, ok := redact.Lookup(name); ok || p != nil {
			t.Errorf("Lookup(%q) found a policy", name)
		}
	}
	for name, tt := range map[string]struct {
		policy  *redact.Policy
		session hodl.Session
	}{
		"no policy":            {nil, session()},
		"the zero policy":      {&redact.Policy{}, session()},
		"a session without id": {known, hodl.Session{}},
	} {
		r, err := tt.policy.Apply(tt.session, content())
		if hodl.CodeOf(err) != hodl.Internal || r.Session() != "" || len(r.Content().Tabs) != 0 {
			t.Errorf("%s: %v, and content %v", name, err, r.Content())
		}
	}
}
