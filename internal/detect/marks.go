package detect

// pass goes over the text once, in two automata side by side: the keywords leave
// hits, and the words worth a look, which few are, leave marks where they end.
func (s *scanner) pass() {
	machine, state, r := machine(), uint16(0), uint8(0)
	for i := 0; i < len(s.text); {
		i, state, r = machine.both(s.text, i, state, r)
		if state >= machine.accept {
			for _, id := range machine.ends[state-machine.accept] {
				s.hits = append(s.hits, hit{end: int32(i), word: id})
			}
		}
		if r >= marked {
			s.marks = append(s.marks, int32(i-1))
		}
	}
	if r >= longWord && r < marked {
		s.marks = append(s.marks, int32(len(s.text)))
	}
}

// both goes on from text[i] until a keyword or a word worth a look ends, and returns
// the place behind.
func (a *automaton) both(text string, i int, state uint16, r uint8) (int, uint16, uint8) {
	next, accept := a.next, a.accept
	for i < len(text) {
		b := text[i]
		i++
		state = next[uint(state)<<classBits|uint(a.class[b])]
		r = wordStates[uint(r&15)<<8|uint(b)]
		if state >= accept || r >= marked {
			break
		}
	}
	return i, state, r
}

// States of the automaton of words: outside of one; in one of so many bytes without
// a digit; in one of ten and more, or with a digit; behind one worth a look.
const (
	outside  = 0
	longWord = 10
	digited  = 11
	marked   = 12
)

// wordStates marks the ends of words that have a digit or ten bytes, or before what
// makes even a short one worth a look: an address, or a token whose prefix goes on.
// It also marks an @ or : that no word stands before.
var wordStates = func() (t [16 << 8]uint8) {
	for i := range t {
		t[i] = wordState(uint8(i>>8), byte(i))
	}
	return t
}()

func wordState(state uint8, b byte) uint8 {
	in := state > outside && state < marked
	switch {
	case is(b, digit) || state == digited && is(b, word):
		return digited
	case is(b, word) && in:
		return min(state+1, longWord)
	case is(b, word):
		return 1
	case in && (state >= longWord || contains("@:.~/+=$!", b)), !in && (b == '@' || b == ':'):
		return marked
	}
	return outside
}
