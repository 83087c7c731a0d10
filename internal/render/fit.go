package render

import (
	"strconv"
	"strings"

	"hodl"
	"hodl/internal/count"
)

// Bounds of what [Options].MaxTokens may be. The least holds what every rendering
// says, and a handle for each class of content.
const (
	MinTokens = 1_200
	MaxTokens = 1_000_000
)

// Options say how a view is rendered.
type Options struct {
	Format    Format
	MaxTokens int // the most tokens of the body; 0 for no bound
}

// CheckTokens refuses a bound that cannot be kept.
func CheckTokens(n int) error {
	if n != 0 && (n < MinTokens || n > MaxTokens) {
		return hodl.Invalid("max_tokens", "must be "+strconv.Itoa(MinTokens)+" to "+strconv.Itoa(MaxTokens)+", or be left out")
	}
	return nil
}

// budget is how many tokens of o200k_base may be used of n. Other vendors' tokenizers
// make more of the same text; a quarter more still fits.
func budget(n int) int { return n * 4 / 5 }

// HandleSize is how many characters a handle may have.
const HandleSize = 56

// Fitted is a view cut to a bound: what is rendered now, and the parts that are not.
type Fitted struct {
	view   View
	format Format
	parts  []Part
	items  []int // of each part
	whole  Rendering
}

// Fit cuts v to the bound, most needed first, and renders it but for the handles. If
// all there is fits, nothing is left out. What is not redacted is refused, as
// [Render] does.
func (v View) Fit(o Options) (*Fitted, error) {
	whole, err := Render(v, o.Format)
	if err != nil || o.MaxTokens == 0 {
		return &Fitted{whole: whole}, err
	}
	limit := budget(o.MaxTokens)
	if keepsTo(whole, 0, limit) {
		return &Fitted{whole: whole}, nil
	}
	costs := v.costs(limit)
	var best *Fitted
	// What an item takes is only about known, so the room for items is searched for.
	for least, most := 0, limit; most-least > limit/steps || best == nil; {
		room := (least + most + 1) / 2
		f, keeps := v.cut(o.Format, costs.fill(room)), false
		if len(f.parts) > 0 { // all there is does not fit, whatever its items take
			if f.whole, err = f.Render(sample); err != nil {
				return nil, err
			}
			keeps = keepsTo(f.whole, len(f.parts), limit)
		}
		switch {
		case keeps:
			best, least = f, room
		case room == 0:
			return nil, hodl.Invalid("max_tokens", "is too small for what is always there")
		default:
			most = room - 1
		}
	}
	return best, nil
}

// steps is how finely the bound is filled: all but a part of so many is used.
const steps = 32

// sample stands for handles while tokens are counted: a character is a token or part
// of one, and of these each is one.
func sample(Part) string { return strings.Repeat("a~b~c~d~", HandleSize/8) }

// What stands behind the body of an open format takes: a member of 46 characters, and
// what may split where they meet.
const sealed = 56

// keepsTo reports whether a rendering keeps the limit, whatever its handles are.
func keepsTo(r Rendering, handles, limit int) bool {
	limit -= handles * 4 // where a handle meets what is around it
	if r.open {
		limit -= sealed
	}
	if len(r.Body) <= limit {
		return true
	}
	_, ok := count.Within(string(r.Body), limit)
	return ok
}

// A cost list is about what each item takes, by class.
type costs [classes][]int

// costs measures items for as long as they might fit.
func (v *View) costs(limit int) (out costs) {
	for k, list := range v.items() {
		sum := 0
		out[k] = make([]int, len(list))
		for i, x := range list {
			if sum > limit {
				out[k][i] = limit + 1
				continue
			}
			out[k][i] = v.cost(x)
			sum += out[k][i]
		}
	}
	return out
}

// cost is about what an item takes in any rendering: what it is as JSON.
func (v *View) cost(x item) int {
	const around = 8
	c := &v.context
	var what any
	switch x.field {
	case titles:
		what = c.Title
	case summaries:
		what = c.Summary
	case tabs:
		what = c.Tabs[x.index]
	case media:
		what = c.Media[x.index]
	case nodes:
		what = []any{c.Thread[x.index], c.Provenance[c.Thread[x.index].ID]}
	case labels:
		what = c.Tags[x.index]
	case noted:
		what = c.Notes[x.index]
	case hodls:
		what = c.Hodls[x.index]
	case gone:
		what = c.Delta.Removed[x.index]
	}
	body, err := marshal(JSON, what)
	if err != nil {
		return len(c.Title) // never: the view was rendered before
	}
	return around + count.Tokens(string(body))
}

// fill takes items while they fit, class by class in the order of worth. A class
// stops at its first item that does not fit; the next may still find room.
func (c *costs) fill(room int) (out spans) {
	for k, list := range c {
		for _, n := range list {
			if n > room {
				break
			}
			room -= n
			out[k].to++
		}
	}
	return out
}

// cut keeps the spans and names the rest of each class.
func (v View) cut(f Format, s spans) *Fitted {
	out := &Fitted{view: v.within(s), format: f}
	for k, list := range v.items() {
		if left := len(list) - s[k].to; left > 0 {
			out.parts = append(out.parts, Part{class(k), v.start[k] + s[k].to})
			out.items = append(out.items, left)
		}
	}
	return out
}

// Render writes the view, with a handle for each part that is left out. The body of
// one that leaves out nothing is always the same, and shared.
func (f *Fitted) Render(handle func(Part) string) (Rendering, error) {
	if len(f.parts) == 0 {
		return f.whole, nil
	}
	v := f.view
	v.context.Omitted = make([]hodl.Omission, len(f.parts))
	for i, p := range f.parts {
		v.context.Omitted[i] = hodl.Omission{What: classNames[p.class], Items: f.items[i], Handle: handle(p)}
	}
	return Render(v, f.format)
}

// Empty reports whether everything was left out.
func (f *Fitted) Empty() bool {
	for _, list := range f.view.items() {
		if len(list) > 0 {
			return false
		}
	}
	return len(f.parts) > 0
}

// Size is about how many bytes it takes to keep: the body, and it quoted, or the view
// to be rendered with other handles.
func (f *Fitted) Size() int { return 2 * len(f.whole.Body) }

// Parts keeps what was left out of v before: the continuation of a hand-off.
func (v View) Parts(parts []Part) View {
	var s spans
	for i := range s {
		s[i].from = 1 << 16
	}
	for _, p := range parts {
		s[p.class] = span{min(p.from, s[p.class].from), 1 << 16}
	}
	out := v.within(s)
	for i := range s {
		out.start[i] = s[i].from
	}
	out.lead = leadPart
	return out
}
