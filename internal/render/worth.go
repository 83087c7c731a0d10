package render

import (
	"slices"
	"strconv"
	"strings"

	"hodl"
)

// A class is content of one worth. What does not fit is left out from the least
// class on, and within a class from its last item on.
type class int

const (
	reasoning  class = iota // next step, blockers, stance, conclusions
	head                    // title, summary
	notes                   // by person and agents
	removed                 // what is no longer there, of a delta
	selections              // tabs with selected text
	places                  // hodls
	thread                  // questions, observations, references
	sources                 // the other tabs, media
	tags
	classes
)

var classNames = [classes]string{"reasoning", "head", "notes", "removed", "selections", "hodls", "thread", "sources", "tags"}

// A Part is the items of a class from one on.
type Part struct {
	class class
	from  int
}

// String returns the short form that [ParsePart] reads.
func (p Part) String() string { return string(rune('a'+p.class)) + strconv.Itoa(p.from) }

// ParsePart reads what [Part.String] wrote.
func ParsePart(s string) (Part, bool) {
	if s == "" || s[0] < 'a' || class(s[0]-'a') >= classes {
		return Part{}, false
	}
	from, err := strconv.ParseUint(s[1:], 10, 16)
	return Part{class(s[0] - 'a'), int(from)}, err == nil
}

// A span is how far the items of a class are taken: from, up to to.
type span struct{ from, to int }

// spans says so for each class.
type spans [classes]span

// A field is a list of the context, or one of its two texts.
type field int

const (
	titles field = iota
	summaries
	tabs
	media
	nodes
	labels
	noted
	hodls
	gone
	fields
)

// fieldNames are those that redactions name.
var fieldNames = [fields]string{"title", "summary", "tabs", "media", "reasoning_thread", "ai_tags", "notes", "hodls", ""}

// An item is the place of one thing in its field.
type item struct {
	field field
	index int
}

// items lists what v holds, by class, in the order of worth.
func (v *View) items() (list [classes][]item) {
	c := &v.context
	add := func(to class, f field, i int) { list[to] = append(list[to], item{f, i}) }
	if c.Title != "" {
		add(head, titles, 0)
	}
	if c.Summary != "" {
		add(head, summaries, 0)
	}
	for i := range c.Tabs[:v.tabs] {
		if c.Tabs[i].SelectedText != "" {
			add(selections, tabs, i)
		} else {
			add(sources, tabs, i)
		}
	}
	each := func(to class, f field, n int) {
		for i := range n {
			add(to, f, i)
		}
	}
	each(sources, media, len(c.Media))
	each(notes, noted, len(c.Notes))
	each(places, hodls, len(c.Hodls))
	each(tags, labels, len(c.Tags))
	if c.Delta != nil {
		each(removed, gone, len(c.Delta.Removed))
	}
	v.nodeItems(add)
	return list
}

// most is how many of the kinds in worth come before everything else.
const most = 4

func (v *View) nodeItems(add func(class, field, int)) {
	for rank, w := range worth {
		to := thread
		if rank < most {
			to = reasoning
		}
		for i := range v.context.Thread {
			if v.context.Thread[i].Kind == w.kind {
				add(to, nodes, i)
			}
		}
	}
	for i := range v.context.Thread {
		if !slices.Contains(hodl.NodeKinds, v.context.Thread[i].Kind) {
			add(thread, nodes, i)
		}
	}
}

// A choice says of each item whether it stays.
type choice [fields][]bool

func (v *View) chooseNone() (out choice) {
	c := &v.context
	gones := 0
	if c.Delta != nil {
		gones = len(c.Delta.Removed)
	}
	for f, n := range [fields]int{1, 1, v.tabs, len(c.Media), len(c.Thread), len(c.Tags), len(c.Notes), len(c.Hodls), gones} {
		out[f] = make([]bool, n)
	}
	return out
}

// within keeps the items of the spans.
func (v View) within(s spans) View {
	keep := v.chooseNone()
	for k, list := range v.items() {
		from := min(s[k].from, len(list))
		for _, x := range list[from:max(from, min(s[k].to, len(list)))] {
			keep[x.field][x.index] = true
		}
	}
	return v.only(keep)
}

// only keeps the items that are chosen, with what is known of them.
func (v View) only(keep choice) View {
	out, c := v, &v.context
	to := &out.context
	if !keep[titles][0] {
		to.Title = ""
	}
	if !keep[summaries][0] {
		to.Summary = ""
	}
	captured := kept(c.Tabs[:v.tabs], keep[tabs])
	to.Hodls = kept(c.Hodls, keep[hodls])
	to.Tabs, out.tabs = withPlaces(captured, to.Hodls), len(captured)
	to.Media, to.Tags, to.Notes = kept(c.Media, keep[media]), kept(c.Tags, keep[labels]), kept(c.Notes, keep[noted])
	to.Thread = kept(c.Thread, keep[nodes])
	to.Provenance = map[string]hodl.Provenance{}
	for _, n := range to.Thread {
		if p, known := c.Provenance[n.ID]; known {
			to.Provenance[n.ID] = p
		}
	}
	if c.Delta != nil {
		delta := *c.Delta
		delta.Removed = kept(delta.Removed, keep[gone])
		to.Delta = &delta
	}
	to.Redactions = keptRedactions(c.Redactions, keep)
	return out
}

func kept[T any](list []T, keep []bool) []T {
	out := []T{}
	for i := range list {
		if keep[i] {
			out = append(out, list[i])
		}
	}
	return out
}

// keptRedactions follows the items to where they stand now. What was removed of an
// item that is not here is not told here.
func keptRedactions(list []hodl.Redaction, keep choice) []hodl.Redaction {
	out := []hodl.Redaction{}
	for _, r := range list {
		name, rest, indexed := strings.Cut(r.Field, "[")
		f := field(slices.Index(fieldNames[:], strings.SplitN(name, ".", 2)[0]))
		if f < 0 {
			out = append(out, r)
			continue
		}
		index, behind := 0, ""
		if indexed {
			number, after, _ := strings.Cut(rest, "]")
			index, _ = strconv.Atoi(number)
			behind = after
		}
		if index < 0 || index >= len(keep[f]) || !keep[f][index] {
			continue
		}
		if indexed {
			r.Field = name + "[" + strconv.Itoa(before(keep[f][:index])) + "]" + behind
		}
		out = append(out, r)
	}
	return out
}

// before counts those that stay.
func before(keep []bool) int {
	n := 0
	for _, k := range keep {
		if k {
			n++
		}
	}
	return n
}
