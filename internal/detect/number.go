package detect

import "strings"

// number looks at the number that starts at i: groups of digits with single
// separators between them.
func (s *scanner) number(i int) {
	if s.at(i-1) == '.' && is(s.at(i-2), digit) || s.urlAt(i) && s.kind != URL && !s.ipHost(i) {
		return
	}
	if end := s.ipv4(i); end > 0 {
		s.numbersTo = end
		return
	}
	if s.urlAt(i) {
		return
	}
	var g phoneForm
	end := s.phoneDigits(i, &g)
	if g.n < 6 {
		return // the least of a phone number
	}
	to := 0
	if g.n >= 12 {
		to = s.card(i)
	}
	if g.n >= 9 && to == 0 {
		to = s.ssn(i)
	}
	if to == 0 {
		to = s.phone(i, end, &g)
	}
	s.numbersTo = max(s.numbersTo, to)
}

func (s *scanner) ipHost(i int) bool { return s.at(i-1) == '/' || s.at(i-1) == '@' }

// group is what a number is made of.
type groups struct {
	digits [24]byte
	n      int
	sizes  [10]uint8
	seps   [10]byte
	count  int
	end    int
}

// groupsAt reads groups of digits from i, with one of the separators between them.
func (s *scanner) groupsAt(i int, separators string, g *groups) {
	for g.count < len(g.sizes) {
		end := i
		for end < len(s.text) && is(s.text[end], digit) && g.n < len(g.digits) {
			g.digits[g.n] = s.text[end]
			g.n++
			end++
		}
		if end == i {
			return
		}
		g.sizes[g.count] = uint8(min(end-i, 255))
		g.count++
		g.end = end
		if end >= len(s.text) || !contains(separators, s.text[end]) || !is(s.at(end+1), digit) {
			return
		}
		g.seps[g.count-1] = s.text[end]
		i = end + 1
	}
}

// cut leaves what may be one card: the first group, or the first four.
func (g *groups) cut() {
	keep := 1
	if g.sizes[0] == 4 {
		keep = min(4, g.count)
	}
	for g.count > keep {
		g.count--
		g.end -= int(g.sizes[g.count]) + 1
		g.n -= int(g.sizes[g.count])
	}
}

func contains(set string, c byte) bool {
	for i := range len(set) {
		if set[i] == c {
			return true
		}
	}
	return false
}

// card reads a payment card's number: issuer range and Luhn.
func (s *scanner) card(i int) int {
	var g groups
	s.groupsAt(i, " -", &g)
	if g.count > 1 && (g.n > 16 || g.sizes[0] > 6) {
		g.cut()
	}
	if g.n < 12 || g.n > 19 || is(s.at(g.end), alnum|under) || !issuer(g.digits[:g.n]) || !luhn(g.digits[:g.n]) {
		return 0
	}
	if g.count > 1 && (g.sizes[0] != 4 || g.count > 5) {
		return 0
	}
	if s.at(g.end) == '.' && is(s.at(g.end+1), digit) || s.at(i-1) == '_' {
		return 0
	}
	s.add(i, g.end, ruleCard)
	return g.end
}

func issuer(d []byte) bool {
	two, four := int(d[0]-'0')*10+int(d[1]-'0'), 0
	for _, c := range d[:4] {
		four = four*10 + int(c-'0')
	}
	n := len(d)
	switch {
	case d[0] == '4':
		return n == 13 || n == 16 || n == 19
	case two >= 51 && two <= 55, four >= 2221 && four <= 2720:
		return n == 16
	case two == 34 || two == 37:
		return n == 15
	case four >= 3528 && four <= 3589, four == 6011, two == 65, four/10 >= 644 && four/10 <= 649, two == 62, two == 60, two == 81, four >= 2200 && four <= 2204:
		return n >= 16
	case two == 36 || two == 38 || two == 39 || four/10 >= 300 && four/10 <= 305:
		return n == 14 || n == 16
	case two == 50 || two >= 56 && two <= 69:
		return n == 16 || n == 12 || n == 19
	case four == 1800 || four == 2131:
		return n == 15
	}
	return false
}

func luhn(d []byte) bool {
	sum, distinct := 0, false
	for i := range d {
		n := int(d[len(d)-1-i] - '0')
		distinct = distinct || d[i] != d[0]
		if i%2 == 1 {
			if n *= 2; n > 9 {
				n -= 9
			}
		}
		sum += n
	}
	return sum%10 == 0 && distinct
}

// ssn reads a social security number of the United States: three groups of 3, 2 and
// 4 digits that were ever issued.
func (s *scanner) ssn(i int) int {
	var g groups
	s.groupsAt(i, "- .", &g)
	if g.n == 9 && g.count == 1 && !is(s.at(g.end), word|dot) && (s.prose(i, g.end) && validSSN(g.digits[:9])) && s.labelNear(i, "ssn") {
		s.add(i, g.end, ruleSSN)
		return g.end
	}
	if g.n != 9 || g.count != 3 || g.sizes[0] != 3 || g.sizes[1] != 2 || g.seps[0] != g.seps[1] || is(s.at(g.end), alnum|dash) || is(s.at(i-1), alnum|dash) {
		return 0
	}
	if !validSSN(g.digits[:9]) || g.seps[0] == '.' && !s.labelNear(i, "ssn") {
		return 0
	}
	s.add(i, g.end, ruleSSN)
	return g.end
}

func validSSN(d []byte) bool {
	return string(d[:3]) != "000" && string(d[:3]) != "666" && d[0] != '9' && string(d[3:5]) != "00" && string(d[5:]) != "0000" && string(d) != "123456780"
}

// prose reports whether a bare number stands among words rather than in code.
func (s *scanner) prose(start, end int) bool {
	b, a := s.at(start-1), s.at(end)
	return (b == ' ' || b == 0 || b == ':') && (a == ' ' || a == 0 || a == '.' || a == ',' || a == '\n')
}

// phone reads a phone number: any with a country code; a national one in the form
// of North America, or of any form beside a word for phone.
func (s *scanner) phone(i, end int, g *phoneForm) int {
	start := i
	open := s.at(i-1) == '('
	if open {
		start--
	}
	plus := s.at(start-1) == '+' && !is(s.at(start-2), alnum)
	if plus {
		start--
	}
	if s.at(end) == 'x' && is(s.at(end+1), digit) {
		end = s.run(end+1, digit, 6) // an extension
	}
	if is(s.at(end), alnum|under) || s.at(end) == '.' && is(s.at(end+1), digit) || s.at(end) == '-' && is(s.at(end+1), digit) {
		return 0
	}
	switch {
	case plus:
		if g.n < 7 || g.n > 15 || g.first == '0' {
			return 0
		}
	case is(s.at(start-1), alnum|under) || s.at(start-1) == '.' || s.at(start-1) == '-' || s.at(start-1) == '/' || s.at(start-1) == '=' && s.kind != Text:
		return 0
	case open && g.sizes[0] == 3 && g.sizes[1] == 3 && g.sizes[2] == 4 && g.count == 3:
	case g.nanp() && g.sep != 0:
	case s.labelNear(start, "phone") && g.n >= 7 && g.n <= 15 && !g.date():
	case g.first == '0' && g.second == '0' && s.at(i+2) != '0' && g.n >= 11 && g.n <= 15 && g.count > 1 && !is(s.at(start-2), upper|digit):
	case s.phoneAfter(end) && g.n >= 6 && g.n <= 15 && !g.date():
	default:
		return 0
	}
	s.add(start, end, rulePhone)
	return end
}

// phoneAfter reports whether what follows a number says that it is one of a phone.
func (s *scanner) phoneAfter(end int) bool {
	if s.at(end) != '-' && s.at(end) != ' ' {
		return false
	}
	next := s.text[end+1 : min(len(s.text), end+8)]
	for _, w := range [...]string{"office", "fax", "mobile", "(fax)", "(mobil", "(cell", "(offi", "cell"} {
		if len(next) >= len(w) && strings.EqualFold(next[:len(w)], w) {
			return true
		}
	}
	return false
}

type phoneForm struct {
	n, count      int
	sizes         [8]int
	first, second byte
	sep           byte // the separator, 0 for none, ? for several
}

// nanp reports whether the number is one of North America, with its code or without.
func (g *phoneForm) nanp() bool {
	switch g.count {
	case 3:
		return g.sizes[0] == 3 && g.sizes[1] == 3 && g.sizes[2] == 4 && g.first >= '2'
	case 4:
		return g.sizes[0] == 1 && g.first == '1' && g.sizes[1] == 3 && g.sizes[2] == 3 && g.sizes[3] == 4 || g.first == '0' && g.second == '0' && g.n == 13
	}
	return false
}

func (g *phoneForm) date() bool {
	return g.count == 3 && (g.sizes[0] == 4 && g.sizes[1] <= 2 && g.sizes[2] <= 2 || g.sizes[2] == 4 && g.sizes[0] <= 2 && g.sizes[1] <= 2)
}

func (s *scanner) phoneDigits(i int, g *phoneForm) int {
	end, size := 0, 0
	g.first, g.second = s.at(i), s.at(i+1)
	for n := 0; i < len(s.text) && n < 32; n++ {
		c := s.text[i]
		switch {
		case is(c, digit):
			g.n++
			size++
			end = i + 1
		case contains(" -./()", c) && g.count < len(g.sizes)-1:
			if size > 0 {
				g.sizes[g.count] = size
				g.count++
				size = 0
				if c != '(' && c != ')' && (g.sep == 0 || g.sep == c) {
					g.sep = c
				} else {
					g.sep = '?'
				}
			}
			if next := s.at(i + 1); !is(next, digit) && next != '(' && next != ')' && (c != ')' || next != ' ' && next != '-') {
				return end
			}
		default:
			if size > 0 {
				g.sizes[g.count] = size
				g.count++
			}
			return end
		}
		i++
	}
	if size > 0 {
		g.sizes[g.count] = size
		g.count++
	}
	return end
}
