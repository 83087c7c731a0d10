package detect

// identity reads a number whose form and check letter tell what it is, with no
// label: identity cards of Singapore, Spain, Finland and Italy, tax numbers of
// India, prescribers of the United States.
func (s *scanner) identity(start, end int) {
	v := s.text[start:end]
	switch {
	case hasShape(v, "A9999999A") && (nric(v) || nie(v)), hasShape(v, "99999999A") && dni(v), hasShape(v, "AAAAAA99A99A999A") && fiscale(v), hetu(v):
		s.add(start, end, ruleNational)
	case hasShape(v, "AAAAA9999A") && contains("ABCFGHJLPT", v[3]):
		s.add(start, end, ruleTax)
	case hasShape(v, "AA9999999") && dea(v):
		s.add(start, end, ruleLicence)
	}
}

// hasShape reports whether v, in capitals, has the shape.
func hasShape(v, shape string) bool {
	if len(v) != len(shape) {
		return false
	}
	for i := range len(v) {
		if !fits(shape[i], v[i]) || is(v[i], lower) {
			return false
		}
	}
	return true
}

func nric(v string) bool {
	sum := weighted(v[1:], 2, 7, 6, 5, 4, 3, 2)
	switch v[0] {
	case 'S':
		return "JZIHGFEDCBA"[sum%11] == v[8]
	case 'T':
		return "JZIHGFEDCBA"[(sum+4)%11] == v[8]
	case 'F':
		return "XWUTRQPNMLK"[sum%11] == v[8]
	case 'G':
		return "XWUTRQPNMLK"[(sum+4)%11] == v[8]
	case 'M':
		return "XWUTRQPNJLK"[(sum+3)%11] == v[8]
	}
	return false
}

const dniLetters = "TRWAGMYFPDXBNJZSQVHLCKE"

func number(v string) int {
	n := 0
	for i := range len(v) {
		n = n*10 + int(v[i]-'0')
	}
	return n
}

func dni(v string) bool { return dniLetters[number(v[:8])%23] == v[8] }

func nie(v string) bool {
	if !contains("XYZ", v[0]) {
		return false
	}
	return dniLetters[(int(v[0]-'X')*10_000_000+number(v[1:8]))%23] == v[8]
}

// hetu checks a Finnish identity code: day, month, year, century, number, check.
func hetu(v string) bool {
	if len(v) != 11 || !contains("-+ABCDEFUVWXY", v[6]) {
		return false
	}
	for i := range 10 {
		if i != 6 && !is(v[i], digit) {
			return false
		}
	}
	n := number(v[:6])*1000 + number(v[7:10])
	return "0123456789ABCDEFHJKLMNPRSTUVWXY"[n%31] == v[10] && number(v[:2]) <= 31 && number(v[2:4]) <= 12
}

// fiscale checks the last letter of an Italian codice fiscale.
func fiscale(v string) bool {
	odd := [...]int{1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23}
	sum := 0
	for i := range 15 {
		n := int(v[i] - 'A')
		if is(v[i], digit) {
			n = int(v[i] - '0')
		}
		if i%2 == 0 {
			n = odd[n]
		}
		sum += n
	}
	return 'A'+byte(sum%26) == v[15]
}

// dea checks the number of a prescriber of the United States.
func dea(v string) bool {
	d := v[2:]
	sum := weighted(d, 1, 2, 1, 2, 1, 2)
	return sum%10 == int(d[6]-'0') && contains("ABCDEFGHJKLMPRSTUX", v[0])
}
