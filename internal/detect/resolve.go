package detect

import (
	"cmp"
	"slices"
	"strings"
)

// Resolve sorts spans and joins those that overlap, in place: a byte that any of
// them covers is covered. What joined spans are called is what the one called that
// says most of them: a secret before personal data before a workspace's own, the
// longest of a class.
func Resolve(spans []Span) []Span {
	if len(spans) < 2 {
		return spans
	}
	slices.SortFunc(spans, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(a.Rule.ID, b.Rule.ID))
	})
	out := spans[:1]
	width := out[0].End - out[0].Start
	for _, s := range spans[1:] {
		last := &out[len(out)-1]
		if s.Start >= last.End {
			out = append(out, s)
			width = s.End - s.Start
			continue
		}
		if n := s.End - s.Start; better(s, n, *last, width) {
			last.Rule, width = s.Rule, n
		}
		last.End = max(last.End, s.End)
	}
	return out
}

func better(a Span, na int, b Span, nb int) bool {
	if ra, rb := rank(a.Rule), rank(b.Rule); ra != rb {
		return ra < rb
	}
	return na > nb
}

// rank orders what a find is called: tokens of a known form first, guesses last among
// the secrets.
func rank(r *Rule) int {
	switch {
	case r.Class() == PII:
		return 3
	case r.Class() != Secret:
		return 4
	case r == ruleUnknown || r == ruleNear || r == ruleEncoded:
		return 2
	case strings.HasPrefix(r.ID, "token."):
		return 0
	}
	return 1
}
