// Package detect finds what should not leave: credentials and structured personal
// data in a text. It is pure: text in, spans out, no clock, no file, no network.
//
// One pass of an automaton over all keywords at once tells where to look; every
// look is hand-written, bounded, and answers yes or no from the bytes around it. No
// regular expression runs. What a rule is called, what it finds and why, is data:
// see [Rules].
package detect

import (
	"sync"
)

// A Class is a kind of thing that may be removed.
type Class string

const (
	Secret Class = "secret" // grants access: tokens, passwords, keys
	PII    Class = "pii"    // tells of a person and has a form: addresses, numbers
	Custom Class = "custom" // a workspace's own words and patterns
)

// A Rule names one way to find something. Ids, types and reasons are a closed
// vocabulary: they stand in what agents and access records are told.
type Rule struct {
	ID     string // assignment.password
	Type   string // secret.password: class, a dot, what it is
	Label  string // PASSWORD: what stands in placeholders
	Reason string // one clause for who wonders why
	Source string // where the form is written down
}

// Class returns the class of what the rule finds.
func (r *Rule) Class() Class {
	for i := range len(r.Type) {
		if r.Type[i] == '.' {
			return Class(r.Type[:i])
		}
	}
	return Class(r.Type)
}

// A Span is one find: text[Start:End] is what Rule found. Spans of a scan may
// overlap; [Resolve] decides.
type Span struct {
	Start, End int
	Rule       *Rule
}

// A Kind is what a text is, where that changes how it is read.
type Kind uint8

const (
	Text Kind = iota // prose, notes, code
	URL              // one address; everything of it may stand percent-encoded
	Word             // a path, a branch, a tag: no sentence
)

// A Scanner holds the memory of a scan. It is not safe for concurrent use.
type scanner struct {
	text      string
	kind      Kind
	lanes     [2]lane
	hits      []hit
	marks     []int32 // where words end that are worth a look
	spans     []Span
	urls      []extent // what [scanner.address] has read; words in them are not read again
	depth     int      // how many encodings deep
	numbersTo int      // up to where numbers have been read
	addressTo int      // up to where groups with colons have been read
	pemTo     int      // up to where a private key has been looked for
	valueTo   int      // up to where a value has been read
	within    int      // names read within that value
	lastName  int      // where the name stands that was read last
}

type extent struct{ start, end int }

var scanners = sync.Pool{New: func() any { return new(scanner) }}

// Scan appends to spans what is found in text, in no order. name is the key the
// text stands under, as "password" in {"password":"x"}; "" for none.
func Scan(spans []Span, text string, kind Kind, name string) []Span {
	s := scanners.Get().(*scanner)
	s.depth = 0
	spans = s.into(spans, text, kind, name)
	scanners.Put(s)
	return spans
}

func (s *scanner) into(spans []Span, text string, kind Kind, name string) []Span {
	s.text, s.kind = text, kind
	s.lastName, s.numbersTo, s.addressTo, s.pemTo, s.valueTo, s.within = -1, 0, 0, 0, 0, 0
	s.hits, s.marks, s.spans, s.urls = s.hits[:0], s.marks[:0], s.spans[:0], s.urls[:0]
	s.pass()
	s.keywords()
	s.words()
	if kind == URL {
		s.wholeAddress()
	}
	if name != "" {
		s.named(name)
	}
	s.second()
	spans = append(spans, s.spans...)
	s.text = ""
	return spans
}

func (s *scanner) add(start, end int, r *Rule) {
	if start < end && !IsPlaceholder(s.text[start:end]) {
		s.spans = append(s.spans, Span{start, end, r})
	}
}
