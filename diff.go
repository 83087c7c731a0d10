package hodl

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Diff tells how one version of a session became another: the same for equal
// versions, and bounded however large they are. It is for orientation; the versions
// themselves hold every byte.
type Diff struct {
	Added   int      `json:"added" doc:"How many things were added"`
	Removed int      `json:"removed" doc:"How many were removed"`
	Changed int      `json:"changed" doc:"How many are still there and differ"`
	Moved   int      `json:"moved" doc:"How many stand in another order; as few as explain it"`
	Changes []Change `json:"changes" doc:"Each of them, field by field in the order of the session; at most 1,000"`
	Omitted int      `json:"omitted" doc:"How many more there are than listed"`
}

// A Change is one thing that happened to one thing of a session.
type Change struct {
	Kind  ChangeKind `json:"change" enum:"added,removed,changed,moved" doc:"What happened"`
	Field string     `json:"field" enum:"title,summary,tabs,media,reasoning_thread,ai_tags,notes,hodls" doc:"To what of the session"`
	ID    string     `json:"id,omitempty" doc:"Which of them: a url, the id of a node or hodl, the number of a note, a label"`
	Was   string     `json:"was,omitempty" doc:"Its path in the version before, such as tabs[2]" example:"tabs[2]"`
	Is    string     `json:"is,omitempty" doc:"Its path in the version after" example:"tabs[0]"`
	Text  string     `json:"text,omitempty" doc:"How it begins: a title or text, cut to 256 bytes"`
	Edits []Edit     `json:"edits,omitempty" doc:"What differs, of something changed"`
}

// ChangeKind is what happened to a thing between two versions.
type ChangeKind string

const (
	Added   ChangeKind = "added"
	Removed ChangeKind = "removed"
	Changed ChangeKind = "changed"
	Moved   ChangeKind = "moved"
)

// An Edit is one field of a thing before and after, as text: lists and places in
// files as JSON, numbers in decimal, "" for what is not there.
type Edit struct {
	Field string `json:"field" doc:"Which of its fields"`
	Was   string `json:"was" doc:"Before: 256 bytes around the first difference"`
	Is    string `json:"is" doc:"After: 256 bytes around the first difference"`
}

const (
	mostChanges = 1000
	excerpt     = 256 // bytes shown of a text
)

// DiffOf compares two versions of a session. Tabs and media are the same when their
// address is, nodes, notes and hodls when their id is. It is empty exactly when both
// have the same fingerprint.
func DiffOf(from, to *Content) Diff {
	d := Diff{Changes: []Change{}}
	d.field("title", from.Title, to.Title)
	d.field("summary", from.Summary, to.Summary)
	compare(&d, "tabs", from.Tabs, to.Tabs, tabThing)
	compare(&d, "media", from.Media, to.Media, mediumThing)
	compare(&d, "reasoning_thread", nodesOf(from), nodesOf(to), authoredNode.thing)
	compare(&d, "ai_tags", from.Tags, to.Tags, func(tag string) thing { return thing{id: tag} })
	compare(&d, "notes", from.Notes, to.Notes, noteThing)
	compare(&d, "hodls", from.Hodls, to.Hodls, hodlThing)
	return d
}

func (d *Diff) add(c Change) {
	switch c.Kind {
	case Added:
		d.Added++
	case Removed:
		d.Removed++
	case Changed:
		d.Changed++
	case Moved:
		d.Moved++
	}
	if len(d.Changes) == mostChanges {
		d.Omitted++
		return
	}
	c.ID, c.Text = begin(c.ID), begin(c.Text)
	d.Changes = append(d.Changes, c)
}

func (d *Diff) field(name, was, is string) {
	if e := editsOf([]fact{{name, was}}, []fact{{name, is}}); len(e) > 0 {
		d.add(Change{Kind: Changed, Field: name, Was: name, Is: name, Edits: e})
	}
}

// A thing is an item of a list as it is compared: what makes it the same item, how
// it is called, and everything else a fingerprint covers.
type thing struct {
	id, text string
	facts    []fact
}

type fact struct{ name, value string }

// compare adds what became of a list: first what is there now, in its order, then
// what is gone.
func compare[T any](d *Diff, field string, from, to []T, describe func(T) thing) {
	was, is := things(from, describe), things(to, describe)
	at := place(was)
	origin := make([]int, len(is)) // where each stood before; -1 for nowhere
	for i, key := range keys(is) {
		origin[i] = -1
		if j, known := at[key]; known {
			origin[i] = j
			delete(at, key)
		}
	}
	stays := inOrder(origin)
	for i, x := range is {
		j := origin[i]
		c := Change{Field: field, ID: x.id, Text: x.text, Is: indexed(field, i)}
		if j < 0 {
			c.Kind = Added
			d.add(c)
			continue
		}
		c.Was = indexed(field, j)
		if !stays[i] {
			c.Kind = Moved
			d.add(c)
		}
		if c.Edits = editsOf(was[j].facts, x.facts); len(c.Edits) > 0 {
			c.Kind = Changed
			d.add(c)
		}
	}
	for j, key := range keys(was) {
		if _, gone := at[key]; gone {
			d.add(Change{Kind: Removed, Field: field, ID: was[j].id, Text: was[j].text, Was: indexed(field, j)})
		}
	}
}

func things[T any](list []T, describe func(T) thing) []thing {
	out := make([]thing, len(list))
	for i, x := range list {
		out[i] = describe(x)
	}
	return out
}

// A key is an id and which of those that share it: a page may be open twice.
type key struct {
	id  string
	nth int
}

func keys(list []thing) []key {
	seen := map[string]int{}
	out := make([]key, len(list))
	for i, x := range list {
		out[i] = key{x.id, seen[x.id]}
		seen[x.id]++
	}
	return out
}

func place(list []thing) map[key]int {
	out := make(map[key]int, len(list))
	for i, k := range keys(list) {
		out[k] = i
	}
	return out
}

// inOrder marks the most items whose origins rise: those that need not be called
// moved. It is the longest rising subsequence, by patience sorting.
func inOrder(origin []int) []bool {
	var piles []int // the item on top of each pile
	below := make([]int, len(origin))
	for i, o := range origin {
		if o < 0 {
			continue
		}
		pile, _ := slices.BinarySearchFunc(piles, o, func(top, o int) int { return cmp.Compare(origin[top], o) })
		below[i] = -1
		if pile > 0 {
			below[i] = piles[pile-1]
		}
		if pile == len(piles) {
			piles = append(piles, i)
		}
		piles[pile] = i
	}
	out := make([]bool, len(origin))
	if len(piles) == 0 {
		return out
	}
	for i := piles[len(piles)-1]; i >= 0; i = below[i] {
		out[i] = true
	}
	return out
}

func editsOf(was, is []fact) []Edit {
	var out []Edit
	for i := range is {
		if was[i].value != is[i].value {
			before, after := around(was[i].value, is[i].value)
			out = append(out, Edit{is[i].name, before, after})
		}
	}
	return out
}

func indexed(field string, i int) string { return field + "[" + strconv.Itoa(i) + "]" }

// begin is the beginning of a text.
func begin(s string) string {
	if len(s) <= excerpt {
		return s
	}
	return strings.ToValidUTF8(s[:excerpt], "") + "…"
}

// around cuts two texts to what surrounds their first difference.
func around(a, b string) (string, string) {
	const before = 40 // bytes that lead up to it
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	start := 0
	if max(len(a), len(b)) > excerpt {
		start = max(same-before, 0)
	}
	return window(a, start), window(b, start)
}

func window(s string, start int) string {
	for start < len(s) && !utf8.RuneStart(s[start]) {
		start++
	}
	if start == 0 {
		return begin(s)
	}
	return "…" + begin(s[min(start, len(s)):])
}

func tabThing(t Tab) thing {
	return thing{t.URL, t.Title, []fact{{"title", t.Title}, {"scroll_y_pct", number(t.ScrollYPct)}, {"selected_text", t.SelectedText}, {"tab_role", t.Role}}}
}

func mediumThing(m Medium) thing {
	return thing{m.URL, m.Kind, []fact{{"kind", m.Kind}, {"timestamp_s", number(m.TimestampS)}, {"transcript_anchor", m.Transcript}}}
}

// An authoredNode is a node with who wrote it, which its fingerprint covers too.
type authoredNode struct {
	Node
	by Provenance
}

func nodesOf(c *Content) []authoredNode {
	out := make([]authoredNode, len(c.Thread))
	for i, n := range c.Thread {
		out[i] = authoredNode{n, c.Provenance[n.ID]}
	}
	return out
}

func (n authoredNode) thing() thing {
	facts := []fact{{"kind", string(n.Kind)}, {"text", n.Text}, {"evidence", asList(n.Evidence)}, {"supports", asList(n.Supports)}}
	return thing{n.ID, n.Text, append(facts,
		fact{"depends_on", asList(n.DependsOn)}, fact{"confidence", number(n.Confidence)}, fact{"author", n.by.Author}, fact{"trust", string(n.by.Trust)})}
}

func noteThing(n Note) thing {
	return thing{strconv.FormatInt(n.ID, 10), n.Body, []fact{{"body", n.Body}, {"author", n.Author}, {"trust", string(n.Trust)}}}
}

func hodlThing(h Hodl) thing {
	location, _ := json.Marshal(h.Location) // strings and whole numbers cannot fail to encode
	if h.Location == nil {
		location = nil
	}
	facts := []fact{{"url", h.URL}, {"title", h.Title}, {"note", h.Note}, {"tags", asList(h.Tags)}, {"source", string(h.Source)}}
	return thing{string(h.ID), cmp.Or(h.Title, h.URL, h.Note), append(facts,
		fact{"location", string(location)}, fact{"session_id", string(h.SessionID)}, fact{"deep_link", h.DeepLink})}
}

func number(f *float64) string {
	if f == nil {
		return ""
	}
	return strconv.FormatFloat(*f, 'g', -1, 64)
}

func asList(list []string) string {
	if len(list) == 0 {
		return ""
	}
	text, _ := json.Marshal(list) // strings cannot fail to encode
	return string(text)
}
