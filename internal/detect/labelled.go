package detect

import "strings"

// labelled looks for a number of the kind that the label at [start, end) tells.
func (s *scanner) labelled(start, end int, l *label) {
	if is(s.at(start), letter) && (!s.wordStarts(start) || is(s.at(start-1), digit)) || len(l.shapes) == 0 && l.rule != ruleBirth {
		return
	}
	if end-start <= 4 && is(s.at(end-1), letter) && is(s.at(end), alnum) {
		return // a short label is a whole word
	}
	if l.rule == ruleBirth {
		s.birth(end)
		return
	}
	s.before(start, l)
	limit := min(len(s.text), end+48)
	tries := 0
	for i := end; i < limit && tries < 7; i++ {
		c := classOf[s.text[i]]
		if s.text[i] == '\n' && i > end+1 {
			return
		}
		if c&alnum == 0 || is(s.at(i-1), alnum) {
			continue
		}
		tries++
		if to := s.shaped(i, l); to > 0 {
			s.add(i, to, l.rule)
			if !s.another(to) {
				return
			}
			i, limit = to, min(len(s.text), to+32)
		}
	}
}

// another reports whether a list goes on after a number.
func (s *scanner) another(i int) bool {
	rest := s.text[i:min(len(s.text), i+6)]
	for _, w := range [...]string{" and ", ", ", " or ", " y ", " und ", " e ", " ve "} {
		if strings.HasPrefix(rest, w) {
			return true
		}
	}
	return false
}

// before looks for a number that its label follows: X123 is my passport.
func (s *scanner) before(start int, l *label) {
	if !strings.HasPrefix(s.text[max(0, start-1):start], " ") {
		return
	}
	i := start - 1
	if !s.digitBefore(i, 40) {
		return
	}
	for n := 0; i > 0 && n < 40 && s.text[i-1] != '\n' && s.text[i-1] != '.' && s.text[i-1] != ','; n++ {
		i--
		if !is(s.text[i], alnum) || is(s.at(i-1), alnum) || n < 5 {
			continue
		}
		if to := s.shaped(i, l); to > 0 && linked(s.text[to:start]) && shapeOf(s.text[i:to]).digits > 2 {
			s.add(i, to, l.rule)
			return
		}
	}
}

func (s *scanner) digitBefore(i, reach int) bool {
	for k := max(0, i-reach); k < i; k++ {
		if is(s.text[k], digit) {
			return true
		}
	}
	return false
}

// linked reports whether the words between a number and its label say that it is
// one.
func linked(between string) bool {
	between = strings.ToLower(between)
	for _, w := range [...]string{" is my ", " is a ", " es mi ", " är m", " is his ", " is her ", " is your ", " is the ", " on mi", " en mi ", " ist mein", " est mon ", " è "} {
		if strings.HasPrefix(between, w) {
			return true
		}
	}
	return false
}

// shaped returns where the number that starts at i and has one of the label's
// shapes ends; the longest counts.
func (s *scanner) shaped(i int, l *label) int {
	var compact [24]byte
	best := 0
	for _, shape := range l.shapes {
		n, end := 0, i
		digits := 0
		for n < len(shape) && end < len(s.text) && n < len(compact) {
			c := s.text[end]
			if !is(c, alnum) {
				if n == 0 || !contains(" -./+:", c) || !is(s.at(end+1), alnum) || c == ':' && l.kind != "in" || c == ' ' && (!is(s.at(end+1), digit|upper) || is(s.at(end-1), lower)) || c == '+' && l.kind != "fi" && l.kind != "se" {
					break
				}
				end++
				continue
			}
			if !fits(shape[n], c) {
				break
			}
			if is(c, digit) {
				digits++
			}
			if is(c, lower) {
				c &^= 0x20
			}
			compact[n] = c
			n++
			end++
		}
		if n < len(shape) || is(s.at(end), alnum|under) || end <= best || digits == 0 && l.kind != "au_medicare" {
			continue
		}
		if s.at(end) == '-' && is(s.at(end+1), alnum) || s.at(end) == '.' && is(s.at(end+1), digit) {
			continue
		}
		if v := string(compact[:n]); l.check == nil || l.check(v) {
			best = end
		}
	}
	return best
}

func fits(shape, c byte) bool {
	switch shape {
	case 'A':
		return is(c, letter)
	case '9':
		return is(c, digit)
	case '*':
		return is(c, alnum)
	}
	return shape == c || shape|0x20 == c
}

// labelNear reports whether a label of that kind stands within reach before i.
func (s *scanner) labelNear(i int, kind string) bool {
	const reach = 40
	for n := s.hitsTo(i) - 1; n >= 0; n-- {
		end := int(s.hits[n].end)
		if end < i-reach {
			break
		}
		k := &keywords[s.hits[n].word]
		if k.look == lookLabel && labelTable[k.arg].kind == kind && s.wordStarts(end-len(k.text)) {
			return true
		}
	}
	return false
}
