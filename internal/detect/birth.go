package detect

import "strings"

// birth reads the date that follows a word for birth.
func (s *scanner) birth(i int) {
	const reach = 8
	for n := 0; n < reach && i < len(s.text) && s.text[i] != '\n' && !is(s.text[i], alnum); n++ {
		i++
	}
	if strings.HasPrefix(s.text[i:], "is ") {
		i += 3
	}
	if end := s.date(i); end > 0 {
		s.add(i, end, ruleBirth)
	}
}

// date returns where the date that starts at i ends, 0 when there is none: 1984-03-12,
// 12.3.1984, 3/12/84, 12 March 1984, March 12, 1984.
func (s *scanner) date(i int) int {
	parts, digits, month := 0, 0, false
	end := i
	for at := i; parts < 3 && at < len(s.text); parts++ {
		to := at
		switch {
		case is(s.text[at], digit):
			to = s.run(at, digit, 5)
			digits += to - at
		case !month:
			to = s.run(at, letter, 12)
			if to-at < 3 || !months[strings.ToLower(s.text[at:at+3])] {
				return 0
			}
			month = true
		}
		if to == at || to-at > 4 && !month {
			return 0
		}
		end = to
		for at = to; at < len(s.text) && at-to < 3 && contains("-./, thsrdn", s.text[at]) && parts < 2; at++ {
		}
	}
	if parts < 3 || digits < 4 || digits > 8 || is(s.at(end), alnum) {
		return 0
	}
	return end
}

var months = words("jan feb mar apr may jun jul aug sep oct nov dec mai okt dez fév avr mei maj ene abr ago dic gen mag giu lug set ott fev out")
