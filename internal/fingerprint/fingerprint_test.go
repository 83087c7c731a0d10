package fingerprint_test

import (
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"hodl"
	"hodl/internal/fingerprint"
)

var salt = []byte("0123456789abcdef")

func content() *hodl.Content {
	scroll, confidence := 42.5, 0.8
	return &hodl.Content{
		Title:   "cache bug",
		Summary: "stale reads",
		Tabs:    []hodl.Tab{{URL: "https://example.com/a", Title: "a", ScrollYPct: &scroll, SelectedText: "x", Role: "docs"}},
		Media:   []hodl.Medium{{Kind: "video", URL: "https://example.com/v", Transcript: "so"}},
		Thread:  []hodl.Node{{ID: "n1", Kind: hodl.Question, Text: "why?", Evidence: []string{"e"}, Confidence: &confidence}, {ID: "n2", Kind: hodl.NextStep, Text: "look", DependsOn: []string{"n1"}}},
		Tags:    []string{"go", "cache"},
		Notes:   []hodl.Note{{ID: 1, Body: "remember", Author: "usr_1", Trust: hodl.TrustUser}},
		Hodls: []hodl.Hodl{{ID: "hdl_1", Title: "h", Tags: []string{"t"}, Source: "editor", Location: &hodl.Location{
			File: "a.go", Line: 3, Selection: &hodl.Selection{StartLine: 3, Text: "f()"},
		}}},
		Provenance: map[string]hodl.Provenance{
			"n1": {Author: "usr_1", Trust: hodl.TrustUser},
			"n2": {Author: "agent:x", Trust: hodl.TrustAgent},
		},
	}
}

func of(t testing.TB, salt []byte, c *hodl.Content) string {
	t.Helper()
	f, err := fingerprint.Of(salt, c)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestEveryCoveredFieldCounts(t *testing.T) {
	seen := map[string]string{of(t, salt, content()): "nothing"}
	number := 0.5
	for name, change := range map[string]func(*hodl.Content){
		"title":           func(c *hodl.Content) { c.Title += "x" },
		"summary":         func(c *hodl.Content) { c.Summary = "" },
		"tab url":         func(c *hodl.Content) { c.Tabs[0].URL += "x" },
		"tab title":       func(c *hodl.Content) { c.Tabs[0].Title += "x" },
		"tab scroll":      func(c *hodl.Content) { c.Tabs[0].ScrollYPct = &number },
		"tab scroll gone": func(c *hodl.Content) { c.Tabs[0].ScrollYPct = nil },
		"tab scroll zero": func(c *hodl.Content) { c.Tabs[0].ScrollYPct = new(float64) },
		"tab selection":   func(c *hodl.Content) { c.Tabs[0].SelectedText += "x" },
		"tab role":        func(c *hodl.Content) { c.Tabs[0].Role += "x" },
		"one tab more":    func(c *hodl.Content) { c.Tabs = append(c.Tabs, hodl.Tab{}) },
		"medium kind":     func(c *hodl.Content) { c.Media[0].Kind = "audio" },
		"medium url":      func(c *hodl.Content) { c.Media[0].URL += "x" },
		"medium position": func(c *hodl.Content) { c.Media[0].TimestampS = &number },
		"medium words":    func(c *hodl.Content) { c.Media[0].Transcript += "x" },
		"node id":         func(c *hodl.Content) { c.Thread[0].ID = "n9" },
		"node kind":       func(c *hodl.Content) { c.Thread[0].Kind = hodl.Blocker },
		"node text":       func(c *hodl.Content) { c.Thread[0].Text += "x" },
		"node evidence":   func(c *hodl.Content) { c.Thread[0].Evidence[0] += "x" },
		"node supports":   func(c *hodl.Content) { c.Thread[1].Supports = []string{"n1"} },
		"node depends on": func(c *hodl.Content) { c.Thread[1].DependsOn = nil },
		"node confidence": func(c *hodl.Content) { c.Thread[0].Confidence = &number },
		"node order":      func(c *hodl.Content) { c.Thread[0], c.Thread[1] = c.Thread[1], c.Thread[0] },
		"node author":     func(c *hodl.Content) { c.Provenance["n1"] = hodl.Provenance{Author: "usr_2", Trust: hodl.TrustUser} },
		"node trust":      func(c *hodl.Content) { c.Provenance["n1"] = hodl.Provenance{Author: "usr_1", Trust: hodl.TrustPage} },
		"tags":            func(c *hodl.Content) { c.Tags[0], c.Tags[1] = c.Tags[1], c.Tags[0] },
		"note id":         func(c *hodl.Content) { c.Notes[0].ID++ },
		"note body":       func(c *hodl.Content) { c.Notes[0].Body += "x" },
		"note author":     func(c *hodl.Content) { c.Notes[0].Author += "x" },
		"note trust":      func(c *hodl.Content) { c.Notes[0].Trust = hodl.TrustAgent },
		"hodl id":         func(c *hodl.Content) { c.Hodls[0].ID += "x" },
		"hodl url":        func(c *hodl.Content) { c.Hodls[0].URL += "x" },
		"hodl title":      func(c *hodl.Content) { c.Hodls[0].Title += "x" },
		"hodl note":       func(c *hodl.Content) { c.Hodls[0].Note += "x" },
		"hodl tag":        func(c *hodl.Content) { c.Hodls[0].Tags[0] += "x" },
		"hodl source":     func(c *hodl.Content) { c.Hodls[0].Source = "cli" },
		"hodl line":       func(c *hodl.Content) { c.Hodls[0].Location.Line++ },
		"hodl snippet":    func(c *hodl.Content) { c.Hodls[0].Location.Selection.Text += "x" },
		"hodl no place":   func(c *hodl.Content) { c.Hodls[0].Location = nil },
		"hodl no line":    func(c *hodl.Content) { c.Hodls[0].Location = &hodl.Location{} },
		"hodl session":    func(c *hodl.Content) { c.Hodls[0].SessionID = "ses_1" },
		"hodl deep link":  func(c *hodl.Content) { c.Hodls[0].DeepLink += "x" },
	} {
		c := content()
		change(c)
		f := of(t, salt, c)
		if other, repeated := seen[f]; repeated {
			t.Errorf("changing %s gives the fingerprint of changing %s", name, other)
		}
		seen[f] = name
	}
	if _, repeated := seen[of(t, []byte("another salt"), content())]; repeated {
		t.Error("the salt does not count")
	}
}

func TestTimesAndRepresentationDoNotCount(t *testing.T) {
	want := of(t, salt, content())
	if !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(want) {
		t.Errorf("fingerprint %q is no SHA-256 in hex", want)
	}
	now := time.Unix(1_800_000_000, 0)
	for name, change := range map[string]func(*hodl.Content){
		"note time":  func(c *hodl.Content) { c.Notes[0].CreatedAt = now },
		"hodl times": func(c *hodl.Content) { c.Hodls[0].CreatedAt, c.Hodls[0].UpdatedAt = now, now },
		"provenance time": func(c *hodl.Content) {
			c.Provenance["n1"] = hodl.Provenance{Author: "usr_1", Trust: hodl.TrustUser, CreatedAt: now}
		},
		"stray provenance":  func(c *hodl.Content) { c.Provenance["gone"] = hodl.Provenance{Author: "x"} },
		"empty optionals":   func(c *hodl.Content) { c.Thread[0].Supports = []string{} },
		"provenance remade": func(c *hodl.Content) { c.Provenance = content().Provenance },
	} {
		c := content()
		change(c)
		if got := of(t, salt, c); got != want {
			t.Errorf("%s counts", name)
		}
	}
}

func TestNilAndEmptyAreTheSame(t *testing.T) {
	empty := &hodl.Content{
		Tabs: []hodl.Tab{}, Media: []hodl.Medium{}, Thread: []hodl.Node{}, Tags: []string{}, Notes: []hodl.Note{}, Hodls: []hodl.Hodl{},
		Provenance: map[string]hodl.Provenance{},
	}
	if of(t, nil, &hodl.Content{}) != of(t, []byte{}, empty) {
		t.Error("nil and empty lists differ")
	}
	if of(t, nil, &hodl.Content{Hodls: []hodl.Hodl{{}}}) != of(t, nil, &hodl.Content{Hodls: []hodl.Hodl{{Tags: []string{}}}}) {
		t.Error("nil and empty tags of a hodl differ")
	}
}

// The fingerprint is stored and compared over years: it must not drift.
func TestFingerprintIsPinned(t *testing.T) {
	const want = "5a6375ac46998dcc9b8aab1e241748c3ddd0ab586158feb6f3926574f63f311c"
	if got := of(t, salt, content()); got != want {
		t.Errorf("Of = %s, want %s: versions stored under the old name are lost", got, want)
	}
}

func TestOfRefuses(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]*hodl.Content{
		"invalid UTF-8": {Title: "\xff"},
		"not a number":  {Tabs: []hodl.Tab{{ScrollYPct: &nan}}},
	} {
		if f, err := fingerprint.Of(salt, c); err == nil {
			t.Errorf("%s: got %s", name, f)
		}
	}
}

func TestCanonical(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"white space goes", " { \"a\" : [ 1 , true , null ] } ", `{"a":[1,true,null]}`},
		{"names by UTF-16 units: U+FB33 after U+1F600", `{"\ufb33":1,"😀":2,"a":3,"":4,"A":5,"é":6}`, `{"":4,"A":5,"a":3,"é":6,"😀":2,"` + "\ufb33" + `":1}`},
		{"members of members too", `[{"b":{"d":1,"c":2},"a":[]}]`, `[{"a":[],"b":{"c":2,"d":1}}]`},
		{"shortest escapes", `"\u0041\u000a\u0008\u001f\u002f\u005c\u0022\u007f\u2028\ud83d\ude00"`, `"A\n\b\u001f/\\\"` + "\u007f\u2028😀" + `"`},
		{"no normalisation", `["e\u0301","\u00e9"]`, `["e` + "\u0301" + `","é"]`},
		{"whole numbers", `[0,-0,1.0,100,1e2,-5.00]`, `[0,0,1,100,100,-5]`},
		{"exponents begin at 1e21 and 1e-7", `[1e20,1e21,0.000001,0.0000001,123456789012345680000]`, `[100000000000000000000,1e+21,0.000001,1e-7,123456789012345680000]`},
		{"doubles", `[0.1,0.30000000000000004,5e-324,1.7976931348623157e308,9007199254740993]`, `[0.1,0.30000000000000004,5e-324,1.7976931348623157e+308,9007199254740992]`},
	} {
		got, err := fingerprint.Canonical(jsontext.Value(tt.in))
		if err != nil || string(got) != tt.want {
			t.Errorf("%s:\n got %s, %v\nwant %s", tt.name, got, err, tt.want)
		}
	}
}

func TestCanonicalOfGoValues(t *testing.T) {
	got, err := fingerprint.Canonical(hodl.PolicyUse{Name: "<off> & on", Version: 1})
	if want := `{"name":"<off> & on","version":1}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	got, err = fingerprint.Canonical(&hodl.Location{File: "a.go"})
	if want := `{"file":"a.go"}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s: optional zeros are left out", got, err, want)
	}
}

func TestCanonicalRefuses(t *testing.T) {
	for _, in := range []string{`{"a":1,"a":2}`, `{`, `"` + "\xff" + `"`, `"\ud800"`, ``} {
		if got, err := fingerprint.Canonical(jsontext.Value(in)); err == nil {
			t.Errorf("Canonical(%q) = %s, want an error", in, got)
		}
	}
}

func BenchmarkOf16K(b *testing.B) {
	c := content()
	for range 8 {
		c.Notes = append(c.Notes, hodl.Note{ID: 2, Body: strings.Repeat("context ", 128)})
		c.Tabs = append(c.Tabs, hodl.Tab{URL: "https://example.com/" + strings.Repeat("a/", 32), Title: "page", SelectedText: strings.Repeat("text ", 100)})
		c.Thread = append(c.Thread, hodl.Node{ID: "n", Kind: hodl.Observation, Text: strings.Repeat("seen ", 60)})
	}
	b.ReportAllocs()
	for b.Loop() {
		of(b, salt, c)
	}
}
