package redact

import (
	"strings"

	"hodl/internal/detect"
)

// quotes follows whether a place of a JSON document lies in a string: elsewhere a
// placeholder needs quotes of its own, and takes the place of a whole number.
type quotes struct{ document, open bool }

// fit returns what a span takes the place of, and what stands there. at is where the
// span before ends.
func (q *quotes) fit(p placeholder, kind detect.Kind, text string, at int, s detect.Span) (int, int, string) {
	if !q.document {
		return s.Start, s.End, p.fit(kind, text, s.Start, s.End)
	}
	if q.open = q.open != oddQuotes(text[at:s.Start]); !q.open {
		start, end := wholeLiteral(text, s.Start, s.End)
		return start, end, `"` + p.inText() + `"`
	}
	if kind == detect.URL || inAddress(text, s.Start) {
		return s.Start, s.End, p.inAddress()
	}
	return s.Start, s.End, p.inText()
}

// oddQuotes reports whether a part of a JSON document holds an odd number of quotes
// that stand for themselves: whether a string begins or ends in it.
func oddQuotes(part string) bool {
	odd := false
	for i := strings.IndexByte(part, '"'); i >= 0 && i < len(part); {
		slashes := 0
		for i-slashes > 0 && part[i-slashes-1] == '\\' {
			slashes++
		}
		odd = odd != (slashes%2 == 0)
		n := strings.IndexByte(part[i+1:], '"')
		if n < 0 {
			break
		}
		i += 1 + n
	}
	return odd
}

// wholeLiteral widens a part of a number of a JSON document to all of it.
func wholeLiteral(text string, start, end int) (int, int) {
	const around = " \t\r\n,:[]{}\""
	for start > 0 && strings.IndexByte(around, text[start-1]) < 0 {
		start--
	}
	for end < len(text) && strings.IndexByte(around, text[end]) < 0 {
		end++
	}
	return start, end
}
