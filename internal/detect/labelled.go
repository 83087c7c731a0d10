package detect

// labelled looks for a number of the kind that the label at [start, end) tells.
func (s *scanner) labelled(start, end int, l *label) {
	if is(s.at(start), letter) && !s.wordStarts(start) || len(l.shapes) == 0 {
		return
	}
	if len(l.words) > 0 && end-start <= 4 && is(s.at(end), letter) {
		return // a short label is a whole word
	}
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
			return
		}
	}
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
				if n == 0 || !contains(" -./+", c) || !is(s.at(end+1), alnum) || c == ' ' && !is(s.at(end+1), digit|upper) || c == '+' && l.kind != "fi" && l.kind != "se" {
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
	for n := len(s.hits) - 1; n >= 0; n-- {
		end := int(s.hits[n].end)
		if end > i {
			continue
		}
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
