package hodl_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"hodl"
	"hodl/internal/fingerprint"
)

// told writes the changes of a diff as a person reads them.
func told(d hodl.Diff) string {
	var out []string
	for _, c := range d.Changes {
		line := fmt.Sprintf("%s %s %s %s>%s", c.Kind, c.Field, c.ID, c.Was, c.Is)
		for _, e := range c.Edits {
			line += fmt.Sprintf(" %s:%s>%s", e.Field, e.Was, e.Is)
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func TestDiff(t *testing.T) {
	ten, half := 10.0, 0.5
	from := &hodl.Content{
		Title: "a", Summary: "s", Tags: []string{"x", "y"},
		Tabs:   []hodl.Tab{{URL: "u1", Title: "1"}, {URL: "u2"}, {URL: "u3"}, {URL: "u3", Title: "twice"}},
		Media:  []hodl.Medium{{Kind: "video", URL: "v"}},
		Thread: []hodl.Node{{ID: "n1", Kind: hodl.Question, Text: "?"}}, Provenance: map[string]hodl.Provenance{"n1": {Author: "usr_1"}},
		Notes: []hodl.Note{{ID: 1, Body: "one"}},
		Hodls: []hodl.Hodl{{ID: "hdl_1", Title: "h"}},
	}
	to := &hodl.Content{
		Title: "b", Summary: "s", Tags: []string{"y"},
		Tabs:   []hodl.Tab{{URL: "u3"}, {URL: "u1", Title: "1", ScrollYPct: &ten}, {URL: "u2"}, {URL: "u4"}},
		Media:  []hodl.Medium{{Kind: "audio", URL: "v"}},
		Thread: []hodl.Node{{ID: "n1", Kind: hodl.Question, Text: "?", DependsOn: []string{"n2"}, Confidence: &half}, {ID: "n2"}},
		Notes:  []hodl.Note{{ID: 1, Body: "one"}, {ID: 2, Body: "two", Trust: hodl.TrustAgent}},
		Hodls:  []hodl.Hodl{{ID: "hdl_1", Title: "h", Location: &hodl.Location{File: "f", Line: 3}}},
	}
	d := hodl.DiffOf(from, to)
	const want = `changed title  title>title title:a>b
moved tabs u3 tabs[2]>tabs[0]
changed tabs u1 tabs[0]>tabs[1] scroll_y_pct:>10
added tabs u4 >tabs[3]
removed tabs u3 tabs[3]>
changed media v media[0]>media[0] kind:video>audio
changed reasoning_thread n1 reasoning_thread[0]>reasoning_thread[0] depends_on:>["n2"] confidence:>0.5 author:usr_1>
added reasoning_thread n2 >reasoning_thread[1]
removed ai_tags x ai_tags[0]>
added notes 2 >notes[1]
changed hodls hdl_1 hodls[0]>hodls[0] location:>{"file":"f","line":3}`
	if got := told(d); got != want {
		t.Errorf("the diff is\n%s\nwant\n%s", got, want)
	}
	if d.Added != 3 || d.Removed != 2 || d.Changed != 5 || d.Moved != 1 || d.Omitted != 0 {
		t.Errorf("counted %+v", d)
	}
}

// However large two versions are, the diff is small and names what it left out; two
// long texts are shown where they part.
func TestDiffIsBounded(t *testing.T) {
	long := strings.Repeat("é", 30_000)
	from, to := &hodl.Content{Summary: long + "a" + long, Title: long}, &hodl.Content{Summary: long + "b" + long}
	for i := range 1500 {
		to.Notes = append(to.Notes, hodl.Note{ID: int64(i), Body: long})
	}
	d := hodl.DiffOf(from, to)
	if len(d.Changes) != 1000 || d.Omitted != 502 || d.Added != 1500 || d.Changed != 2 {
		t.Errorf("%d listed of %+v", len(d.Changes), [3]int{d.Added, d.Changed, d.Omitted})
	}
	if e := d.Changes[1].Edits[0]; !strings.Contains(e.Was, "éa") || !strings.Contains(e.Is, "éb") {
		t.Errorf("the difference is not in %.80q and %.80q", e.Was, e.Is)
	}
	text, err := json.Marshal(d)
	if err != nil || len(text) > 500_000 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

// A diff is empty exactly when the fingerprints are equal, and every item is told
// of at most once as added, removed or moved.
func TestDiffAgreesWithFingerprints(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	some := func() *hodl.Content {
		c := &hodl.Content{Provenance: map[string]hodl.Provenance{}}
		for _, i := range r.Perm(3)[:r.IntN(4)] {
			c.Tabs = append(c.Tabs, hodl.Tab{URL: fmt.Sprint(r.IntN(2)), Title: fmt.Sprint(r.IntN(2))})
			c.Tags = append(c.Tags, fmt.Sprint(r.IntN(3)))
			id := fmt.Sprint("n", i)
			c.Thread = append(c.Thread, hodl.Node{ID: id})
			c.Provenance[id] = hodl.Provenance{Author: fmt.Sprint(r.IntN(2))}
		}
		return c
	}
	for range 20_000 {
		a, b := some(), some()
		fa, _ := fingerprint.Of(nil, a)
		fb, _ := fingerprint.Of(nil, b)
		d := hodl.DiffOf(a, b)
		if (fa == fb) != (len(d.Changes) == 0) {
			t.Fatalf("%+v and %+v: %s", a, b, told(d))
		}
		if got := len(a.Tabs) + len(a.Tags) + len(a.Thread) + d.Added - d.Removed; got != len(b.Tabs)+len(b.Tags)+len(b.Thread) {
			t.Fatalf("%+v and %+v do not add up: %s", a, b, told(d))
		}
	}
}
