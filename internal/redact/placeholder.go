package redact

import (
	"strconv"
	"strings"

	"hodl/internal/detect"
)

// A placeholder stands for a value: [EMAIL_1], and __EMAIL_1__ within an address,
// which stays one. Equal values have equal placeholders in all of a session, in every
// version of it.
type placeholder struct {
	text   string
	number int
}

func newPlaceholder(label string, number int) placeholder {
	return placeholder{"[" + label + "_" + strconv.Itoa(number) + "]", number}
}

func (p placeholder) name() string      { return p.text[1 : len(p.text)-1] }
func (p placeholder) inText() string    { return p.text }
func (p placeholder) inAddress() string { return "__" + p.name() + "__" }

// fit returns the placeholder as it fits where text[start:end] stands.
func (p placeholder) fit(kind detect.Kind, text string, start, end int) string {
	switch {
	case kind == detect.URL || inAddress(text, start):
		return p.inAddress()
	case bareNumber(text, start, end):
		return `"` + p.inText() + `"`
	}
	return p.inText()
}

// inAddress reports whether start stands within an address in a text.
func inAddress(text string, start int) bool {
	const reach = 2 << 10
	for i := start - 1; i >= 0 && i > start-reach; i-- {
		switch c := text[i]; {
		case c <= ' ' || strings.IndexByte("\"'`<>{}|\\", c) >= 0:
			return false
		case c == ':' && strings.HasPrefix(text[i:], "://"):
			return true
		}
	}
	return false
}

// bareNumber reports whether text[start:end] is a number of JSON: a placeholder is
// a string there.
func bareNumber(text string, start, end int) bool {
	for i := start; i < end; i++ {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	before := strings.TrimRight(text[max(0, start-8):start], " \t\r\n")
	after := strings.TrimLeft(text[end:min(len(text), end+8)], " \t\r\n")
	return strings.HasSuffix(before, `":`) && after != "" && strings.IndexByte(",}]", after[0]) >= 0
}

// numbering gives placeholders their numbers, a label at a time: those that values of
// the session were given before, then the next by first appearance. A number that
// captured text uses in such a form is left out, so that no page can pass its own text
// off as something removed.
type numbering struct {
	history *history
	given   map[removed]placeholder
	next    map[string]int
	taken   map[string]bool
}

type removed struct{ label, text string }

// reserve notes what looks like a placeholder in what people and pages wrote. An
// agent's text speaks of the placeholders it was shown.
func (n *numbering) reserve(fields []field) {
	for i := range fields {
		if f := &fields[i]; !f.agent && f.marks&underline != 0 {
			n.reserveIn(*f.text)
		}
	}
}

func (n *numbering) reserveIn(text string) {
	for i := strings.IndexByte(text, '_'); i >= 0 && i < len(text); {
		end := i + 1
		for end < len(text) && '0' <= text[end] && text[end] <= '9' {
			end++
		}
		if end > i+1 && end < i+20 {
			start := i
			for start > 0 && (text[start-1] == '_' || 'A' <= text[start-1] && text[start-1] <= 'Z' || 'a' <= text[start-1] && text[start-1] <= 'z' || '0' <= text[start-1] && text[start-1] <= '9') && i-start < 40 {
				start--
			}
			n.taken[strings.ToUpper(strings.TrimLeft(text[start:end], "_"))] = true
		}
		next := strings.IndexByte(text[end:], '_')
		if next < 0 {
			return
		}
		i = end + next
	}
}

func (n *numbering) placeholder(r *detect.Rule, text string) placeholder {
	key := removed{r.Label, text}
	if p, ok := n.given[key]; ok {
		return p
	}
	p, ok := n.before(key)
	if !ok {
		p = n.fresh(r.Label)
	}
	n.given[key] = p
	return p
}

// before returns the placeholder that the value had in earlier versions, unless captured
// text has come to hold what looks like it.
func (n *numbering) before(key removed) (placeholder, bool) {
	number := n.history.number(key)
	if number == 0 {
		return placeholder{}, false
	}
	p := newPlaceholder(key.label, number)
	return p, !n.taken[p.name()]
}

// fresh returns the next placeholder of a label that stands for nothing.
func (n *numbering) fresh(label string) placeholder {
	number := max(n.next[label], n.history.last(label))
	for {
		number++
		if p := newPlaceholder(label, number); len(n.taken) == 0 || !n.taken[p.name()] {
			n.next[label] = number
			return p
		}
	}
}
