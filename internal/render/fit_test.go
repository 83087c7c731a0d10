package render_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hodl"
	"hodl/internal/count"
	"hodl/internal/render"
)

// fitted renders v within a bound, with handles of the greatest length.
func fitted(t testing.TB, v render.View, o render.Options) (render.Rendering, []render.Part) {
	t.Helper()
	f, err := v.Fit(o)
	if err != nil {
		t.Fatal(err)
	}
	var left []render.Part
	r, err := f.Render(func(p render.Part) string {
		left = append(left, p)
		return handleOf(p)
	})
	if err != nil {
		t.Fatal(err)
	}
	return r, left
}

// handleOf is a handle that no tokenizer merges much of.
func handleOf(p render.Part) string {
	s := p.String() + "."
	for i := 0; len(s) < render.HandleSize; i++ {
		s += string("qXz7Jk_Vw-3Bh9ZpY"[(i*i+len(p.String()))%17])
	}
	return s
}

// words are of every sort that tokenizers differ on.
var words = []string{"the lease expires", "func (s *Service) begin(", "世界中のばか", "Грузия", "🙂👩💻", "    \t\t", "x=0xdeadbeef;", "aGVsbG8gd29ybGQhIQ", "</hodl:data>", "\u202e\u0000", "\n\n\n", "'s'll'RE", "1234567890", "____----", "مرحبا", "\xff\xfe"}

// random is a session of any shape.
func random(r *rand.Rand) hodl.Content {
	text := func(most int) string {
		var b strings.Builder
		for range r.IntN(most) {
			b.WriteString(words[r.IntN(len(words))])
		}
		return b.String()
	}
	c := hodl.Content{Title: text(20), Summary: text(100), Provenance: map[string]hodl.Provenance{}}
	for i := range r.IntN(40) {
		c.Tabs = append(c.Tabs, hodl.Tab{URL: text(10), Title: text(8), SelectedText: strings.Repeat(text(60), r.IntN(2))})
		c.Thread = append(c.Thread, hodl.Node{ID: fmt.Sprint("n", i), Kind: hodl.NodeKinds[r.IntN(7)], Text: text(80)})
		c.Provenance[fmt.Sprint("n", i)] = hodl.Provenance{Author: text(3), Trust: hodl.TrustAgent, CreatedAt: captured}
	}
	for i := range r.IntN(20) {
		c.Media = append(c.Media, hodl.Medium{Kind: "video", URL: text(8), Transcript: text(30)})
		c.Notes = append(c.Notes, hodl.Note{ID: int64(i), Body: text(300), Author: "usr_1", Trust: hodl.TrustUser, CreatedAt: captured})
		c.Hodls = append(c.Hodls, hodl.Hodl{ID: "hdl_1", URL: text(5), Note: text(20), Location: &hodl.Location{File: text(3), Selection: &hodl.Selection{Text: text(30)}}})
		c.Tags = append(c.Tags, text(4))
	}
	return c
}

// Whatever is captured, and whatever the handles are, a bound holds.
func TestBoundHolds(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 7))
		v := view(t, random(r), append([]hodl.Scope{hodl.WriteNotes, hodl.WriteNextStep, hodl.HandOff}, reads...)...)
		for _, f := range render.Formats() {
			most := render.MinTokens + r.IntN(1<<(4+r.IntN(12)))
			checkBound(t, v, render.Options{Format: f, MaxTokens: most})
		}
	}
}

func checkBound(t *testing.T, v render.View, o render.Options) {
	t.Helper()
	out, _ := fitted(t, v, o)
	sealed := out.Seal("acr_01JD8Z6T3YQ4XW5V7B9C2K1MHN", "")
	if len(out.Body) == 0 {
		t.Errorf("%s within %d is empty", o.Format, o.MaxTokens)
	}
	if n := count.Tokens(string(sealed)); n > o.MaxTokens*4/5 {
		t.Errorf("%s within %d takes %d", o.Format, o.MaxTokens, n)
	}
	if o.Format != render.JSON && o.Format != render.PromptReady && o.Format != render.Markdown && !json.Valid(sealed) {
		t.Errorf("%s is no JSON", o.Format)
	}
	if again, _ := fitted(t, v, o); string(again.Body) != string(out.Body) {
		t.Errorf("%s within %d differs from call to call", o.Format, o.MaxTokens)
	}
}

func FuzzBound(f *testing.F) {
	f.Add([]byte("plain"), uint16(0))
	f.Add([]byte(strings.Join(words, "\xfe")), uint16(900))
	f.Fuzz(func(t *testing.T, data []byte, more uint16) {
		long := func(i int) string { return strings.Repeat(tokens(data)(i), 1+i%7*20) }
		v := view(t, shaped(long, hodl.NextStep), reads...)
		for _, format := range render.Formats() {
			checkBound(t, v, render.Options{Format: format, MaxTokens: render.MinTokens + int(more)})
		}
	})
}

// A bound a little too small for all there is leaves something out, though its items
// by themselves would fit.
func TestBoundBelowAll(t *testing.T) {
	var c hodl.Content
	for i := range 10 {
		c.Notes = append(c.Notes, hodl.Note{ID: int64(i), Body: strings.Repeat("word and word ", 30), Author: "usr_1", Trust: hodl.TrustUser, CreatedAt: captured})
	}
	v := view(t, c, reads...)
	for _, f := range render.Formats() {
		all := count.Tokens(string(rendered(t, v, f).Body)) * 5 / 4
		for most := render.MinTokens; most < all+100; most += 20 {
			checkBound(t, v, render.Options{Format: f, MaxTokens: most})
		}
	}
}

// The least bound holds what is always there.
func TestLeastBound(t *testing.T) {
	c := hodl.Content{Title: strings.Repeat("\u202e", 300), Summary: strings.Repeat("x ", 4000)}
	for range 20 {
		long := strings.Repeat("word and word ", 600)
		c.Tabs = append(c.Tabs, hodl.Tab{URL: long, Title: long, SelectedText: long}, hodl.Tab{URL: long, Title: long})
		c.Thread = append(c.Thread, hodl.Node{ID: "a", Kind: hodl.NextStep, Text: long}, hodl.Node{ID: "b", Kind: hodl.Question, Text: long})
		c.Notes = append(c.Notes, hodl.Note{Body: long})
		c.Hodls = append(c.Hodls, hodl.Hodl{Note: long})
		c.Tags = append(c.Tags, long)
	}
	v := view(t, c, append([]hodl.Scope{hodl.WriteNotes, hodl.WriteNextStep, hodl.HandOff}, reads...)...)
	for _, f := range render.Formats() {
		_, left := fitted(t, v, render.Options{Format: f, MaxTokens: render.MinTokens})
		if len(left) < 7 {
			t.Errorf("%s leaves out %v", f, left)
		}
		checkBound(t, v, render.Options{Format: f, MaxTokens: render.MinTokens})
	}
}

// What a bound leaves out and what its handles fetch are together what there is,
// each once.
func TestPartsReassemble(t *testing.T) {
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 9))
		v := view(t, random(r), reads...)
		var whole, got hodl.ResumeContext
		gather(t, &whole, rendered(t, v, render.JSON).Body)
		f, err := v.Fit(render.Options{Format: render.JSON, MaxTokens: 2000})
		if err != nil {
			t.Fatal(err)
		}
		for part, left, first := v, []render.Part(nil), true; first || len(left) > 0; first = false {
			if !first {
				part = v.Parts(left[:1])
				f, err = part.Fit(render.Options{Format: render.JSON, MaxTokens: 400_000})
				if err != nil {
					t.Fatal(err)
				}
				left = left[1:]
			}
			out, err := f.Render(func(p render.Part) string { left = append(left, p); return p.String() })
			if err != nil {
				t.Fatal(err)
			}
			gather(t, &got, out.Body)
		}
		if got.Title != whole.Title || got.Summary != whole.Summary {
			t.Errorf("seed %d: the title or the summary is lost", seed)
		}
		same(t, "tabs", spell(got.Tabs), spell(whole.Tabs))
		same(t, "media", spell(got.Media), spell(whole.Media))
		same(t, "thread", spell(got.Thread), spell(whole.Thread))
		same(t, "notes", spell(got.Notes), spell(whole.Notes))
		same(t, "hodls", spell(got.Hodls), spell(whole.Hodls))
		same(t, "tags", spell(got.Tags), spell(whole.Tags))
		if len(got.Provenance) != len(whole.Provenance) {
			t.Errorf("seed %d: %d of %d provenances", seed, len(got.Provenance), len(whole.Provenance))
		}
	}
}

func gather(t *testing.T, to *hodl.ResumeContext, body []byte) {
	t.Helper()
	var c hodl.ResumeContext
	if err := json.Unmarshal(body, &c); err != nil {
		t.Fatal(err)
	}
	to.Title, to.Summary = to.Title+c.Title, to.Summary+c.Summary
	to.Tabs, to.Media, to.Thread = append(to.Tabs, c.Tabs...), append(to.Media, c.Media...), append(to.Thread, c.Thread...)
	to.Notes, to.Hodls, to.Tags = append(to.Notes, c.Notes...), append(to.Hodls, c.Hodls...), append(to.Tags, c.Tags...)
	if to.Provenance == nil {
		to.Provenance = map[string]hodl.Provenance{}
	}
	for id, p := range c.Provenance {
		to.Provenance[id] = p
	}
}

func spell[T any](list []T) []string {
	out := []string{}
	for _, x := range list {
		b, _ := json.Marshal(x)
		out = append(out, string(b))
	}
	slices.Sort(out)
	return out
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// What is worth more is there before what is worth less is.
func TestWorth(t *testing.T) {
	c := full()
	for i := range 40 {
		c.Tabs = append(c.Tabs, hodl.Tab{URL: fmt.Sprint("https://example.com/", i), Title: strings.Repeat("a long title ", 10), SelectedText: strings.Repeat("a selection ", 20*(i%2))})
		c.Thread = append(c.Thread, hodl.Node{ID: fmt.Sprint("o", i), Kind: hodl.Observation, Text: strings.Repeat("seen ", 40)})
	}
	v := view(t, c, reads...)
	for _, most := range []int{render.MinTokens, 1500, 2500, 4000} {
		out, left := fitted(t, v, render.Options{Format: render.JSON, MaxTokens: most})
		o := object(t, out.Body)
		has := func(id string) bool { return strings.Contains(fmt.Sprint(o["reasoning_thread"]), "id:"+id+" ") }
		for _, id := range []string{"n6", "n4", "n3", "n2"} { // next step, blocker, stance, conclusion
			if !has(id) {
				t.Errorf("within %d there is no %s", most, id)
			}
		}
		if len(left) == 0 || empty(o["omitted"]) {
			t.Errorf("within %d nothing is left out", most)
		}
	}
}

func TestDelta(t *testing.T) {
	old := full()
	now := full()
	now.Title = "Stale reads, understood"
	now.Tabs = append(now.Tabs[1:], hodl.Tab{URL: "https://example.com/new", Title: "new"})
	now.Thread[0].Text = "replica 2 lags by 50 s"
	now.Thread = now.Thread[:6]
	now.Tags = []string{"failover", "cache"}
	d := view(t, now, reads...).Since(view(t, old, reads...))
	c := d.Resume()
	if len(c.Tabs) != 1 || c.Tabs[0].Title != "new" || len(c.Thread) != 1 || c.Thread[0].ID != "n1" || len(c.Provenance) != 1 || len(c.Tags)+len(c.Notes)+len(c.Hodls)+len(c.Media) != 0 {
		t.Errorf("a delta of %+v", c)
	}
	want := &hodl.Delta{
		From: strings.Repeat("0f", 32), Changed: []string{"title", "tabs", "reasoning_thread"},
		Removed: []hodl.Absent{{Field: "tabs", ID: "https://example.com/issues/7"}, {Field: "reasoning_thread", ID: "n7"}},
	}
	if diff := cmp.Diff(want, c.Delta); diff != "" {
		t.Error(diff)
	}
	if d.Unchanged() || !view(t, old, reads...).Since(view(t, full(), reads...)).Unchanged() {
		t.Error("what is unchanged is not known")
	}
}
