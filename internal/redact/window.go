package redact

import (
	"unicode/utf8"

	"hodl/internal/detect"
)

// A window is a part of a text, [from, to). A placeholder changes what a look may see
// within reach of it and nothing further away: of a long text, the windows round the
// placeholders are looked through again, and the rest is not.
type window struct{ from, to int }

const (
	reach = 1<<10 + 1<<7 // the longest value, and what may stand before and after it
	brim  = 1 << 6       // what is found so near to a cut is of the cut
)

// changed notes that text[from:to] of the field is new.
func (f *field) changed(from, to int) {
	w := window{max(0, from-reach), to + reach}
	if n := len(f.windows); n > 0 && f.windows[n-1].to >= w.from {
		f.windows[n-1].to = w.to
		return
	}
	f.windows = append(f.windows, w)
}

// settle ends the windows within the text, and leaves none when all of it is to be
// looked through: a short text, one whose whole form counts, one that the workspace
// has patterns for, which may reach further.
func (f *field) settle(j *job) {
	size := 0
	for i := range f.windows {
		w := &f.windows[i]
		w.to = min(w.to, len(*f.text))
		for w.from > 0 && !utf8.RuneStart((*f.text)[w.from]) {
			w.from--
		}
		for w.to < len(*f.text) && !utf8.RuneStart((*f.text)[w.to]) {
			w.to++
		}
		size += w.to - w.from
	}
	if size == 0 || size*2 > len(*f.text) || f.kind == detect.URL || f.document || j.patterned() {
		f.windows = nil
	}
}

func (j *job) patterned() bool {
	for _, l := range j.layers {
		if len(l.custom) > 0 {
			return true
		}
	}
	return false
}

// scanWindows is [detect.Scan] for the windows of a field.
func scanWindows(text string, f *field) []detect.Span {
	var found []detect.Span
	for _, w := range f.windows {
		n := len(found)
		kept := found
		for _, s := range detect.Scan(found, text[w.from:w.to], f.kind, "")[n:] {
			s.Start, s.End = s.Start+w.from, s.End+w.from
			if (w.from == 0 || s.Start >= w.from+brim) && (w.to == len(text) || s.End <= w.to-brim) {
				kept = append(kept, s)
			}
		}
		found = kept
	}
	return found
}
