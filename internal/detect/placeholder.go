package detect

// IsPlaceholder reports whether v is what stands in the place of a find: [EMAIL_1],
// or __EMAIL_1__ within an address, or the name in it.
func IsPlaceholder(v string) bool {
	n := len(v)
	switch {
	case n > 4 && v[0] == '[' && v[n-1] == ']':
		return numbered(v[1 : n-1])
	case n > 6 && v[:2] == "__" && v[n-2:] == "__":
		return numbered(v[2 : n-2])
	}
	return numbered(v)
}

// numbered reports whether v is a label and a number: EMAIL_1.
func numbered(v string) bool {
	i := len(v)
	for i > 0 && is(v[i-1], digit) {
		i--
	}
	if i == len(v) || i < 2 || v[i-1] != '_' || len(v) > 44 {
		return false
	}
	return labels[v[:i-1]]
}

// labels is every label a rule has.
var labels = map[string]bool{}
