// Package query is the language of the hodl search: what a person types, read into
// clauses, and what a hodl is cut into, so that any engine that knows words and
// their order finds the same. docs/search.md describes it.
package query

import (
	"fmt"
	"time"

	"hodl"
)

// Bounds of a query.
const (
	MaxBytes = 1024
	MaxTerms = 32
)

// A Query finds the hodls for which every clause holds.
type Query struct {
	Clauses []Clause
	After   time.Time // none captured before it; zero for any
	Before  time.Time // none captured at or after it; zero for any
	Deleted bool      // the deleted ones instead of the others
}

// A Clause holds when one of its terms does.
type Clause []Term

// A Term holds when its words follow each other in a field, and with Not when they
// do not.
type Term struct {
	Not   bool
	Field Field
	Words []string // never empty; lower case, without accents
}

// A Field is a part of a hodl that words can be looked for in.
type Field int

const (
	Any Field = iota // all parts
	URL
	Repository
	File
	Text // title, tags, note, branch and commit
)

// Fields is how many fields a [Document] has, less one for [Any].
const Fields = 4

// And demands keys as well, such as [TagKey] makes.
func (q *Query) And(keys ...string) {
	for _, k := range keys {
		q.Clauses = append(q.Clauses, Clause{{Words: []string{k}}})
	}
}

// Empty reports whether nothing has to be looked up in the words.
func (q *Query) Empty() bool { return len(q.Clauses) == 0 }

// Parse reads what a person typed. It refuses with [hodl.ValidationFailed], naming
// q, what is wrong and the character it begins at, counted from 1.
func Parse(text string) (*Query, error) {
	if len(text) > MaxBytes {
		return nil, hodl.Invalid("q", fmt.Sprintf("is %d bytes; at most %d are allowed", len(text), MaxBytes))
	}
	p := &parser{scanner: scanner{text: text}, out: &Query{}}
	if err := p.parse(); err != nil {
		return nil, err
	}
	return p.out, nil
}

// A parser puts terms into clauses: or joins its two neighbours, and whatever stands
// side by side must all hold.
type parser struct {
	scanner
	out     *Query
	terms   int
	skipped int  // where the last term stands that is but signs, as & in "salt & pepper"; 0 for none
	or      int  // where the or stands that waits for its right side; 0 for none
	bound   bool // the last token was a bound of the whole query
}

func (p *parser) parse() error {
	for {
		t, err := p.next()
		if err != nil {
			return err
		}
		switch {
		case t.kind == end && p.or > 0:
			return wrong(p.or, "or has nothing to its right")
		case t.kind == end && p.skipped > 0 && p.terms == 0:
			return wrong(p.skipped, "there is no letter or digit to look for")
		case t.kind == end:
			return nil
		case t.kind == or && (p.bound || len(p.out.Clauses) == 0):
			return wrong(t.at, "or has nothing to its left that it could join")
		case t.kind == or && p.or > 0:
			return wrong(t.at, "two or follow each other")
		case t.kind == or:
			p.or = t.at
		case t.field == "" && len(Words(t.value)) == 0:
			p.skipped = t.at
		default:
			if err := p.take(t); err != nil {
				return err
			}
		}
	}
}

// take puts a term or a bound in its place.
func (p *parser) take(t token) error {
	if p.terms++; p.terms > MaxTerms {
		return wrong(t.at, "a query has at most %d terms", MaxTerms)
	}
	done, err := p.takeBound(t)
	if p.bound = done; done || err != nil {
		return err
	}
	x, err := termOf(t)
	if err != nil {
		return err
	}
	all := p.out.Clauses
	if p.or > 0 {
		all[len(all)-1] = append(all[len(all)-1], x)
	} else {
		p.out.Clauses = append(all, Clause{x})
	}
	p.or = 0
	return nil
}

// takeBound takes what narrows the whole query: times, and is:deleted.
func (p *parser) takeBound(t token) (bool, error) {
	isBound := t.field == "after" || t.field == "before" || t.field == "is" && t.value == "deleted"
	if !isBound {
		return false, nil
	}
	if t.not || p.or > 0 {
		return false, wrong(t.at, "%s: narrows the whole query; it stands neither behind a minus nor beside an or", t.field)
	}
	var err error
	switch t.field {
	case "after":
		p.out.After, err = timeOf(t)
	case "before":
		p.out.Before, err = timeOf(t)
	default:
		p.out.Deleted = true
	}
	return err == nil, err
}

// layouts are the forms of a time, coarse to fine; a coarse one means its first
// moment, UTC.
var layouts = []string{"2006", "2006-01", "2006-01-02", time.RFC3339}

func timeOf(t token) (time.Time, error) {
	for _, l := range layouts {
		if x, err := time.Parse(l, t.value); err == nil {
			return x.UTC(), nil
		}
	}
	return time.Time{}, wrong(t.at, "%.40q is no time; write %s:2026-11-21, or a year, a month, or RFC 3339", t.value, t.field)
}

func wrong(at int, format string, args ...any) error {
	return hodl.Invalid("q", fmt.Sprintf("is not understood at character %d: ", at)+fmt.Sprintf(format, args...)).
		WithHint("docs/search.md describes the language; put words in double quotes to look for just them")
}
