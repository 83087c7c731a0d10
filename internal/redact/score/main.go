// Command score measures the redaction engine on labelled texts: what share of
// what is sensitive it finds, and how much of what is not it leaves alone.
package main

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"hodl/internal/detect"
)

// A doc is one labelled text. Offsets are half-open and count bytes.
type doc struct {
	ID     string `json:"id"`
	Text   string `json:"text"`
	Spans  []span `json:"spans"`
	Source string `json:"source"`
	Labels string `json:"labels"` // full: all that is sensitive is listed
	Neg    string `json:"neg"`
}

type span struct {
	Start int    `json:"start"`
	End   int    `json:"end"`
	Type  string `json:"type"`
}

func main() {
	var o options
	flag.IntVar(&o.misses, "misses", 0, "print so many spans that were missed")
	flag.IntVar(&o.wrong, "wrong", 0, "print so many finds that are wrong")
	flag.StringVar(&o.only, "only", "", "only sources or types with this prefix, for -misses and -wrong")
	flag.BoolVar(&o.types, "types", false, "print recall by type")
	flag.IntVar(&o.half, "half", 0, "1 or 2: score one half of the documents")
	flag.StringVar(&o.out, "spans", "", "also write the finds to this file, as hodl redact --spans does")
	flag.Parse()
	files := flag.Args()
	if len(files) == 0 {
		files = []string{"internal/redact/score/testdata/texts.jsonl.gz", "internal/redact/score/testdata/sessions.jsonl.gz"}
	}
	if err := run(&o, files); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type options struct {
	misses, wrong, half int
	only, out           string
	types               bool
}

func run(o *options, files []string) error {
	for _, f := range files {
		docs, err := read(f)
		if err != nil {
			return fmt.Errorf("read %s: %w", f, err)
		}
		if o.half > 0 {
			docs = slices.DeleteFunc(docs, func(d doc) bool { return int(hashOf(d.ID))%2 != o.half-1 })
		}
		t := newTally(o)
		for i := range docs {
			t.score(&docs[i], detect.Resolve(detect.ScanDocument(nil, docs[i].Text, detect.Text)))
		}
		fmt.Printf("%s: %d documents\n", f, len(docs))
		var report strings.Builder
		t.goals(&report)
		t.print(&report)
		fmt.Print(report.String())
		if o.out != "" {
			if err := os.WriteFile(o.out, []byte(t.lines.String()), 0o600); err != nil {
				return err
			}
		}
	}
	printBaselines(os.Stdout)
	return nil
}

func hashOf(s string) (h uint32) {
	for i := range len(s) {
		h = h*31 + uint32(s[i])
	}
	return h
}

func read(path string) ([]doc, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	var in io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			return nil, err
		}
	}
	var docs []doc
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var d doc
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			return nil, err
		}
		docs = append(docs, d)
	}
	return docs, lines.Err()
}

// A count is what happened to the spans of a group, a source or a type.
type count struct{ gold, hit, full, bytes, leaked int }

func (c *count) add(length, covered int) {
	c.gold++
	c.bytes += length
	c.leaked += length - covered
	if covered > 0 {
		c.hit++
	}
	if covered*100 >= 95*length {
		c.full++
	}
}

func (c count) recall() float64 { return ratio(c.hit, c.gold) }

func ratio(a, b int) float64 { return float64(a) / float64(max(1, b)) }

type tally struct {
	o                        *options
	groups, sources, types   map[string]*count
	rules                    map[string]*[2]int
	right, wrong             int
	negatives, touched, over int
	negs                     map[string]*[2]int
	shown                    [2]int
	lines                    strings.Builder
}

func newTally(o *options) *tally {
	return &tally{o: o, groups: map[string]*count{}, sources: map[string]*count{}, types: map[string]*count{}, rules: map[string]*[2]int{}, negs: map[string]*[2]int{}}
}

func of[K comparable, V any](m map[K]*V, k K) *V {
	if m[k] == nil {
		m[k] = new(V)
	}
	return m[k]
}

func (t *tally) score(d *doc, found []detect.Span) {
	t.write(d, found)
	for _, g := range d.Spans {
		t.gold(d, g, found)
	}
	full := d.Labels != "partial"
	for _, f := range found {
		r := of(t.rules, f.Rule.ID)
		switch {
		case touches(f, d.Spans):
			t.right++
			r[0]++
		case full:
			t.wrong++
			t.over += f.End - f.Start
			r[1]++
			t.show(1, t.o.wrong, d, f.Start, f.End, f.Rule.ID)
		}
	}
	if full && len(d.Spans) == 0 {
		t.negatives++
		n := of(t.negs, d.Neg)
		n[0]++
		if len(found) > 0 {
			t.touched++
			n[1]++
		}
	}
}

func (t *tally) gold(d *doc, g span, found []detect.Span) {
	covered := 0
	for _, f := range found {
		covered += max(0, min(g.End, f.End)-max(g.Start, f.Start))
	}
	group, _, _ := strings.Cut(g.Type, ".")
	source, _, _ := strings.Cut(d.Source, ":")
	for _, c := range []*count{of(t.groups, group), of(t.sources, source+" / "+group), of(t.types, g.Type)} {
		c.add(g.End-g.Start, covered)
	}
	if covered == 0 && group != "soft" {
		t.show(0, t.o.misses, d, g.Start, g.End, g.Type)
	}
}

func touches(f detect.Span, gold []span) bool {
	return slices.ContainsFunc(gold, func(g span) bool { return f.Start < g.End && g.Start < f.End })
}

func (t *tally) show(kind, most int, d *doc, start, end int, what string) {
	if !strings.HasPrefix(what, t.o.only) && !strings.HasPrefix(d.Source, t.o.only) && d.Neg != t.o.only {
		return
	}
	if t.shown[kind]++; t.shown[kind] > most {
		return
	}
	fmt.Printf("%s %s %s: %.60q <<%.80s>> %.30q\n", []string{"MISS", "WRONG"}[kind], what, d.Source, d.Text[max(0, start-60):start], d.Text[start:end], d.Text[end:min(len(d.Text), end+30)])
}

func (t *tally) write(d *doc, found []detect.Span) {
	spans := make([]span, 0, len(found))
	for _, f := range found {
		spans = append(spans, span{f.Start, f.End, f.Rule.Type})
	}
	line, _ := json.Marshal(struct {
		ID    string `json:"id"`
		Spans []span `json:"spans"`
	}{d.ID, spans})
	t.lines.Write(append(line, '\n'))
}

func (t *tally) print(w *strings.Builder) {
	secret, pii := *of(t.groups, "secret"), *of(t.groups, "pii")
	both := count{secret.gold + pii.gold, secret.hit + pii.hit, secret.full + pii.full, secret.bytes + pii.bytes, secret.leaked + pii.leaked}
	p, r := ratio(t.right, t.right+t.wrong), both.recall()
	fmt.Fprintf(w, "precision %.4f  recall %.4f  F1 %.4f  leaked %.2f%%  untouched negatives %.4f (%d of %d touched)  right %d wrong %d\n",
		p, r, 2*p*r/max(p+r, 1e-9), 100*ratio(both.leaked, both.bytes), 1-ratio(t.touched, t.negatives), t.touched, t.negatives, t.right, t.wrong)
	for _, m := range []map[string]*count{t.groups, t.sources} {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			c := m[k]
			fmt.Fprintf(w, "  %-44s %5d  recall %.4f  full %.4f  leaked %.2f%%\n", k, c.gold, c.recall(), ratio(c.full, c.gold), 100*ratio(c.leaked, c.bytes))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(t.negs)) {
		if n := t.negs[k]; n[1] > 0 {
			fmt.Fprintf(w, "  negative %-20s %d of %d touched\n", k, n[1], n[0])
		}
	}
	if t.o.types {
		t.printTypes(w)
	}
}

func (t *tally) printTypes(w *strings.Builder) {
	names := slices.SortedFunc(maps.Keys(t.types), func(a, b string) int {
		return cmp.Or(cmp.Compare(t.types[b].gold-t.types[b].hit, t.types[a].gold-t.types[a].hit), cmp.Compare(a, b))
	})
	for _, k := range names[:min(60, len(names))] {
		c := t.types[k]
		fmt.Fprintf(w, "  type %-44s missed %d of %d\n", k, c.gold-c.hit, c.gold)
	}
	for _, k := range slices.SortedFunc(maps.Keys(t.rules), func(a, b string) int { return t.rules[b][1] - t.rules[a][1] })[:25] {
		fmt.Fprintf(w, "  rule %-44s right %d wrong %d\n", k, t.rules[k][0], t.rules[k][1])
	}
}
