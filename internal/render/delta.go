package render

import (
	"strconv"

	"hodl"
)

// Since keeps of v what changed after old was handed over, and names what is gone.
// The title and the summary stay. Both views must be of one token's scopes.
func (v View) Since(old View) View {
	keep := v.chooseNone()
	keep[titles][0], keep[summaries][0] = true, true
	d := &hodl.Delta{From: old.context.Fingerprint, Changed: []string{}, Removed: []hodl.Absent{}}
	c, was := &v.context, &old.context
	text := func(name, is, was string) {
		if is != was {
			d.Changed = append(d.Changed, name)
		}
	}
	text("title", c.Title, was.Title)
	text("summary", c.Summary, was.Summary)
	keep[tabs] = changes(d, "tabs", c.Tabs[:v.tabs], was.Tabs[:old.tabs], func(t hodl.Tab) string { return t.URL }, nil)
	keep[media] = changes(d, "media", c.Media, was.Media, func(m hodl.Medium) string { return m.URL }, nil)
	keep[nodes] = changes(d, "reasoning_thread", c.Thread, was.Thread, func(n hodl.Node) string { return n.ID }, func(n hodl.Node) bool {
		return c.Provenance[n.ID] == was.Provenance[n.ID]
	})
	keep[labels] = changes(d, "ai_tags", c.Tags, was.Tags, func(t string) string { return t }, nil)
	keep[noted] = changes(d, "notes", c.Notes, was.Notes, func(n hodl.Note) string { return strconv.FormatInt(n.ID, 10) }, nil)
	keep[hodls] = changes(d, "hodls", c.Hodls, was.Hodls, func(h hodl.Hodl) string { return string(h.ID) }, nil)
	out := v.only(keep)
	out.context.Delta = d
	out.lead = leadDelta
	return out
}

// Unchanged reports whether v is a delta of nothing.
func (v View) Unchanged() bool {
	return v.context.Delta != nil && len(v.context.Delta.Changed) == 0
}

// changes chooses the items of is that were not there as they are, and names those
// of was that are gone. What only moved did not change.
func changes[T any](d *hodl.Delta, field string, is, was []T, id func(T) string, same func(T) bool) []bool {
	before, there := map[string]int{}, map[string]bool{}
	for _, x := range was {
		before[spelled(x)]++
	}
	keep, any := make([]bool, len(is)), false
	for i, x := range is {
		there[id(x)] = true
		s := spelled(x)
		if before[s] > 0 && (same == nil || same(x)) {
			before[s]--
			continue
		}
		keep[i], any = true, true
	}
	for _, x := range was {
		if !there[id(x)] {
			d.Removed, any = append(d.Removed, hodl.Absent{Field: field, ID: id(x)}), true
		}
	}
	if any {
		d.Changed = append(d.Changed, field)
	}
	return keep
}

// spelled is a thing as bytes; equal things give equal ones.
func spelled(x any) string {
	body, err := marshal(JSON, x)
	if err != nil {
		return "" // never: nothing of a context fails to encode
	}
	return string(body)
}
