package detect

// Classes of bytes, as bits.
const (
	lower uint8 = 1 << iota
	upper
	digit
	under // _
	dash  // -
	plus  // + / = of base64
	dot   // . ~ :
	hexed // may stand in a hexadecimal number
)

const (
	letter = lower | upper
	alnum  = letter | digit
	word   = alnum | under | dash
)

var classOf = func() (t [256]uint8) {
	for c := 'a'; c <= 'z'; c++ {
		t[c], t[c-'a'+'A'] = lower, upper
	}
	for c := '0'; c <= '9'; c++ {
		t[c] = digit | hexed
	}
	for c := 'a'; c <= 'f'; c++ {
		t[c] |= hexed
		t[c-'a'+'A'] |= hexed
	}
	t['_'], t['-'] = under, dash
	t['+'], t['/'], t['='] = plus, plus, plus
	t['.'], t['~'], t[':'], t['!'] = dot, dot, dot, dot
	return t
}()

func is(c byte, class uint8) bool { return classOf[c]&class != 0 }

// at returns the byte at i, 0 outside of the text.
func (s *scanner) at(i int) byte {
	if i < 0 || i >= len(s.text) {
		return 0
	}
	return s.text[i]
}

// run returns where the run of bytes of a class that starts at i ends, at most
// limit bytes on.
func (s *scanner) run(i int, class uint8, limit int) int {
	end := min(len(s.text), i+limit)
	for i < end && classOf[s.text[i]]&class != 0 {
		i++
	}
	return i
}

// back returns where the run of bytes of a class that ends before i starts.
func (s *scanner) back(i int, class uint8, limit int) int {
	start := max(0, i-limit)
	for i > start && classOf[s.text[i-1]]&class != 0 {
		i--
	}
	return i
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// skipSpace returns the first place from i that is neither space nor tab.
func (s *scanner) skipSpace(i int) int {
	for n := 0; n < 32 && isSpace(s.at(i)); n++ {
		i++
	}
	return i
}
