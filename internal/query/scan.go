package query

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"hodl"
)

type kind int

const (
	term kind = iota
	or
	end
)

// A token is a piece of a query: an or, or a term before its words are looked at.
type token struct {
	kind  kind
	at    int // counted in characters from 1
	not   bool
	field string // "" for a bare word or phrase
	value string
}

// fields are the names that stand before a colon. Any other is a part of a word, so
// that an address can be pasted as it is.
var fields = []string{"tag", "source", "repo", "file", "url", "is", "after", "before"}

type scanner struct {
	text string
	pos  int
}

func (s *scanner) at() int { return utf8.RuneCountInString(s.text[:s.pos]) + 1 }

func (s *scanner) next() (token, error) {
	s.pos += len(s.text[s.pos:]) - len(strings.TrimLeftFunc(s.text[s.pos:], unicode.IsSpace))
	t := token{at: s.at()}
	if s.pos == len(s.text) {
		t.kind = end
		return t, nil
	}
	if t.not = s.text[s.pos] == '-'; t.not {
		s.pos++
	}
	t.field = s.field()
	start := s.pos
	var err error
	if t.value, err = s.value(t.at); err != nil {
		return t, err
	}
	if t.field == "" && !t.not && strings.EqualFold(t.value, "or") && s.text[start] != '"' {
		t.kind = or
	}
	if t.field != "" && t.value == "" {
		return t, wrong(t.at, "%s: has no value", t.field)
	}
	return t, nil
}

// field reads a known name and its colon.
func (s *scanner) field() string {
	name, _, found := strings.Cut(s.text[s.pos:], ":")
	name = strings.ToLower(name)
	if !found || !slices.Contains(fields, name) {
		return ""
	}
	s.pos += len(name) + 1
	return name
}

// value reads a word, or what stands in double quotes.
func (s *scanner) value(at int) (string, error) {
	rest := s.text[s.pos:]
	if quoted, found := strings.CutPrefix(rest, `"`); found {
		value, _, closed := strings.Cut(quoted, `"`)
		if !closed {
			return "", wrong(at, `a double quote is never closed; add one, or leave this one out`)
		}
		s.pos += len(value) + 2
		return value, nil
	}
	if i := strings.IndexFunc(rest, func(r rune) bool { return r == '"' || unicode.IsSpace(r) }); i >= 0 {
		rest = rest[:i]
	}
	s.pos += len(rest)
	return rest, nil
}

// termOf looks at the words of a term.
func termOf(t token) (Term, error) {
	x := Term{Not: t.not}
	switch t.field {
	case "tag":
		x.Words = []string{TagKey(t.value)}
		return x, nil
	case "source":
		return x, x.source(t)
	case "is":
		return x, x.is(t)
	case "url":
		x.Field = URL
	case "repo":
		x.Field = Repository
	case "file":
		x.Field = File
	}
	if x.Words = Words(t.value); len(x.Words) == 0 {
		return x, wrong(t.at, "there is no letter or digit to look for")
	}
	return x, nil
}

func (x *Term) source(t token) error {
	if !slices.Contains(hodl.Sources, hodl.Source(t.value)) {
		return wrong(t.at, "source: is one of editor, browser, node, python, rest, mcp, cli")
	}
	x.Words = []string{SourceKey(hodl.Source(t.value))}
	return nil
}

func (x *Term) is(t token) error {
	if !slices.Contains(kinds, t.value) {
		return wrong(t.at, "is: is one of %s, deleted", strings.Join(kinds, ", "))
	}
	x.Words = []string{isKey(t.value)}
	return nil
}
