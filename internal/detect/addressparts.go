package detect

import "strings"

// harmlessParams are names of parameters whose values say what page it is.
var harmlessParams = words("v t page p line l q tab lang hl start offset limit sort order view ref_type branch version format")

// AddressParts appends every parameter of an address whose name is not known to be
// harmless, and the fragment unless it names a place in the page. It is for policies
// that want whole addresses gone.
func AddressParts(spans []Span, address string) []Span {
	end := len(address)
	if h := strings.IndexByte(address, '#'); h >= 0 {
		if f := address[h+1:]; f != "" && !isPlace(f) && !IsPlaceholder(f) {
			spans = append(spans, Span{h + 1, end, ruleAnyHash})
		}
		end = h
	}
	q := strings.IndexByte(address[:end], '?')
	if q < 0 {
		return spans
	}
	for i := q + 1; i < end; {
		stop := i + indexAny(address[i:end], "&;")
		if name, v, ok := strings.Cut(address[i:stop], "="); ok && v != "" && !harmlessParams[strings.ToLower(name)] && !IsPlaceholder(v) {
			spans = append(spans, Span{i + len(name) + 1, stop, ruleAnyQuery})
		}
		i = stop + 1
	}
	return spans
}

// isPlace reports whether a fragment names a place in a page or file: L42, install,
// a heading's words.
func isPlace(f string) bool {
	for i := range len(f) {
		if !is(f[i], word|dot) {
			return false
		}
	}
	return len(f) <= 64 && !looksDrawn(f) && shapeOf(f).digits <= 6
}
