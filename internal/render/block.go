package render

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"hodl"
)

// A data block is
//
//	<hodl:data of="notes" origin="person agent" trust="agent">
//	| ## a heading of ours
//	| [1] the first line of a captured text
//	|     every further line of it
//	|   label: the first line of a captured value
//	|     every further line of it
//	</hodl:data>
//
// or, in Markdown, a fence with the same words behind it. Every line between the delimiters begins with "|". A captured line never
// begins a line of the block and, past its first, is always indented by four: it
// can neither close the block nor pass for a heading, an item or a label. What
// only looks like a delimiter is escaped as well (see escape.go).
const linesOn = "|     " // how a captured text goes on

// Who wrote what a block holds, for kinds of content that always have one origin.
const (
	originCapture = "capture"
	originPage    = "page"
	originPlaces  = "person page file"
	originPolicy  = "policy"
)

type prompt struct {
	marks
	out  []byte
	cuts []int // where the sections begin, and last the words behind them
}

// marks are the delimiters of a block. What stands between them is the same in
// every rendering that is text.
type marks struct{ of, origin, trust, opened, shut string }

var (
	tagged = marks{"<hodl:data of=\"", "\" origin=\"", "\" trust=\"", "\">\n", "</hodl:data>\n"}
	fenced = marks{"```hodl:data of=\"", "\" origin=\"", "\" trust=\"", "\"\n", "```\n"}
)

// open begins a section of one block. All four arguments are ours, never captured.
func (p *prompt) open(head, of, origin string, trust hodl.Trust) {
	p.cuts = append(p.cuts, len(p.out))
	p.write("\n## ", head, "\n", p.of, of, p.origin, origin, p.trust, string(trust), p.opened)
}

func (p *prompt) close() { p.write(p.shut) }

// text appends a captured text. A fence within is made visible whatever the marks
// are: who reads a rendering as Markdown sees one block as well.
func (p *prompt) text(s string) {
	from := len(p.out)
	p.out = append(appendText(p.out, s), '\n')
	if bytes.Contains(p.out[from:], []byte(fence)) {
		p.out = append(p.out[:from], breakFences(string(p.out[from:]))...)
	}
}

const fence = "```"

// breakFences makes all but two of the backticks that stand in a row visible.
func breakFences(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if strings.HasPrefix(s[i:], fence) {
			b.WriteString("⟨U+0060⟩")
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// sections cuts the text into our first words, each section, and our last words.
func (p *prompt) sections() []string {
	out := make([]string, 0, len(p.cuts)+1)
	from := 0
	for _, to := range append(p.cuts, len(p.out)) {
		out = append(out, string(p.out[from:to]))
		from = to
	}
	return out
}

// head writes a heading of ours inside a block.
func (p *prompt) head(text string) { p.write("| ## ", text, "\n") }

// item writes a captured text under its number.
func (p *prompt) item(number int, text string) {
	p.write("| [")
	p.out = strconv.AppendInt(p.out, int64(number), 10)
	p.write("] ")
	p.text(text)
}

// field writes a captured value under our label, and nothing when it is empty.
func (p *prompt) field(label, text string) {
	if text == "" {
		return
	}
	p.write("|   ", label, ": ")
	p.text(text)
}

// author names who wrote an item where that was not the person.
func (p *prompt) author(author string, trust hodl.Trust) {
	if trust == hodl.TrustUser || author == "" {
		return
	}
	p.field("by", author+" (trust: "+string(trust)+")")
}

func (p *prompt) write(parts ...string) {
	for _, s := range parts {
		p.out = append(p.out, s...)
	}
}

// trusts lists what an author may be, least trusted last, with the name of the
// origin it means.
var trusts = []struct {
	trust  hodl.Trust
	origin string
}{{hodl.TrustUser, "person"}, {hodl.TrustPage, "page"}, {hodl.TrustAgent, "agent"}}

// least returns the lowest trust of a block's items. One the server never set is
// taken for the lowest.
func least(items []hodl.Trust) hodl.Trust {
	lowest := 0
	for _, t := range items {
		lowest = max(lowest, rank(t))
	}
	return trusts[lowest].trust
}

func rank(t hodl.Trust) int {
	for i, row := range trusts {
		if row.trust == t {
			return i
		}
	}
	return len(trusts) - 1
}

// origins names everyone who wrote an item of a block.
func origins(items []hodl.Trust) string {
	s := ""
	for i, row := range trusts {
		if !slices.ContainsFunc(items, func(t hodl.Trust) bool { return rank(t) == i }) {
			continue
		}
		if s != "" {
			s += " "
		}
		s += row.origin
	}
	return s
}

// promptSize guesses the length of the text, to spare the buffer its growing.
func promptSize(v *View) int {
	c := &v.context
	n := 2048 + len(c.Title) + len(c.Summary) + 64*(len(c.Tags)+len(c.Redactions))
	for i := range c.Thread {
		n += 128 + len(c.Thread[i].Text)
	}
	for i := range c.Notes {
		n += 64 + len(c.Notes[i].Body)
	}
	for i := range c.Tabs {
		n += 64 + len(c.Tabs[i].URL) + len(c.Tabs[i].Title) + len(c.Tabs[i].SelectedText)
	}
	for i := range c.Media {
		n += 64 + len(c.Media[i].URL) + len(c.Media[i].Transcript)
	}
	for i := range c.Hodls {
		n += 256 + len(c.Hodls[i].URL) + len(c.Hodls[i].Title) + len(c.Hodls[i].Note) + len(c.Hodls[i].DeepLink)
	}
	return n
}
