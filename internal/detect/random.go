package detect

// shape is what a token is made of.
type shape struct {
	lower, upper, digits, other int
	changes                     int // between small, capital, digit
	hex                         int
	distinct                    int
	pairs                       int // of letters
	common                      int // of those, pairs that words are full of
}

func shapeOf(s string) shape {
	var sh shape
	var seen [4]uint64
	prev := uint8(0)
	for i := range len(s) {
		c := s[i]
		seen[c>>6] |= 1 << (c & 63)
		k := classOf[c]
		switch {
		case k&lower != 0:
			sh.lower++
		case k&upper != 0:
			sh.upper++
		case k&digit != 0:
			sh.digits++
		default:
			sh.other++
		}
		if k&hexed != 0 {
			sh.hex++
		}
		if k &= alnum; k != prev && k != 0 && prev != 0 {
			sh.changes++
		}
		prev = k & alnum
		if i > 0 && k&letter != 0 && classOf[s[i-1]]&letter != 0 {
			sh.pairs++
			if commonPair(s[i-1], c) {
				sh.common++
			}
		}
	}
	for _, w := range seen {
		for ; w != 0; w &= w - 1 {
			sh.distinct++
		}
	}
	return sh
}

func (sh *shape) letters() int { return sh.lower + sh.upper }

// pairs holds, for each letter, the letters that follow it in words of European
// languages and names of code more often than chance would have it.
var pairs = func() (t [26]uint32) {
	for i, follows := range [26]string{
		"bcdgilmnprstuvy", "aeiloruy", "aehiklortu", "aeiorsu", "acdelmnprstvxy", "aefioru", "aehilnoru",
		"aeiou", "acdefglmnoprstvz", "aeou", "aeiys", "adeilosuy", "abeimopsu", "acdegiknostu", "bcdfgklmnoprstuvw",
		"aehiloprstu", "u", "acdegikmnorstuy", "aceghikmnopqstuw", "aehiorstuwy", "abcdegilmnprst", "aeio", "aehino",
		"ceiprt", "eops", "aeioz",
	} {
		for _, c := range follows {
			t[i] |= 1 << (c - 'a')
		}
	}
	return t
}()

func commonPair(a, b byte) bool {
	a, b = fold(a), fold(b)
	return a-'a' < 26 && b-'a' < 26 && pairs[a-'a']&(1<<(b-'a')) != 0
}

// looksRandom reports whether a token of sixteen or more letters and digits was
// drawn rather than written: its classes change often and its pairs of letters are
// not those of words.
func looksRandom(s string) bool {
	if len(s) < 12 {
		return false
	}
	sh := shapeOf(s)
	return sh.random(len(s))
}

func (sh *shape) random(n int) bool {
	letters := sh.letters()
	if sh.distinct < 6 || letters < 3 || letters+sh.digits < n*3/4 || sh.distinct*5 < min(n, 40) {
		return false
	}
	// By chance 0.45 of pairs of letters are common ones; in words 0.85 are. A few
	// pairs among digits tell nothing.
	wordy := sh.common*100 >= sh.pairs*62 && sh.pairs*3 >= n
	switch {
	case sh.digits >= 2 && sh.changes*7 >= n:
		return !wordy || sh.changes*5 >= n*2
	case sh.digits >= 1 && sh.changes*4 >= n:
		return !wordy || sh.changes*5 >= n*2
	case sh.upper > 1 && sh.lower > 1 && sh.changes*3 >= n:
		return !wordy || sh.changes*2 >= n
	case sh.upper > 0 && sh.lower > 0 && sh.digits > 0:
		return !wordy && sh.changes*8 >= n
	}
	return n >= 16 && sh.pairs >= 10 && sh.common*100 <= sh.pairs*52
}

// looksHex reports whether s is a long hexadecimal number with letters in it.
func looksHex(s string) bool {
	sh := shapeOf(s)
	return len(s) >= 16 && sh.hex == len(s) && sh.digits > 1 && sh.digits < len(s) && sh.distinct >= 6 && (sh.lower == 0 || sh.upper == 0)
}

// looksUUID reports whether s has the form of a UUID (RFC 9562).
func looksUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if s[i] != '-' {
				return false
			}
		} else if !is(s[i], hexed) {
			return false
		}
	}
	return true
}

// looksDrawn reports whether s would be a credential wherever one is expected.
func looksDrawn(s string) bool {
	return looksUUID(s) && varied(s) || looksHex(s) || looksRandom(s)
}
