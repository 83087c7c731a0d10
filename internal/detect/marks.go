package detect

import "slices"

// pass goes over the text once, in two automata side by side: the keywords leave
// hits, and the words worth a look, which few are, leave marks where they end. Each
// step of an automaton waits for the one before, so that two stretches of a text at
// once take little longer than one.
func (s *scanner) pass() {
	m, mid := machine(), s.middle()
	a, b := &s.lanes[0], &s.lanes[1]
	a.start(s.text[:mid], 0)
	b.start(s.text[mid:], mid)
	for i := 0; i < len(a.text) && i < len(b.text); {
		i, a.stand, b.stand = m.abreast(a.text, b.text, i, a.stand, b.stand)
		a.note(m, i)
		b.note(m, i)
	}
	both := min(len(a.text), len(b.text))
	a.finish(m, both)
	b.finish(m, both)
	s.hits = append(s.hits, a.hits...)
	n := len(s.hits)
	s.astride(m, mid)
	if s.hits = append(s.hits, b.hits...); n+len(b.hits) < len(s.hits) {
		slices.SortStableFunc(s.hits[n:], func(x, y hit) int { return int(x.end - y.end) })
	}
	s.marks = append(append(s.marks, a.marks...), b.marks...)
	a.text, b.text = "", ""
	if b.inWord >= longWord && b.inWord < marked {
		s.marks = append(s.marks, int32(len(s.text)))
	}
}

// middle returns a place about halfway where no word goes on, 0 when there is none
// or one lane will do.
func (s *scanner) middle() int {
	const worth, slack = 128, 64
	if len(s.text) < worth {
		return 0
	}
	for i := len(s.text) / 2; i > len(s.text)/2-slack; i-- {
		if s.text[i-1] <= ' ' {
			return i
		}
	}
	return 0
}

// A lane is a stretch of a text, and what the pass has found in it.
type lane struct {
	text  string
	from  int // where it starts in the text
	hits  []hit
	marks []int32
	stand
}

// A stand is where the automata stand after a byte.
type stand struct {
	state  uint16
	inWord uint8
}

func (l *lane) start(text string, from int) {
	*l = lane{text: text, from: from, hits: l.hits[:0], marks: l.marks[:0]}
}

// finish goes over text[i:].
func (l *lane) finish(m *automaton, i int) {
	for i < len(l.text) {
		i, l.stand = m.alone(l.text, i, l.stand)
		l.note(m, i)
	}
}

// note keeps what ends before text[i].
func (l *lane) note(m *automaton, i int) {
	if l.state >= m.accept {
		for _, id := range m.ends[l.state-m.accept] {
			l.hits = append(l.hits, hit{end: int32(l.from + i), word: id})
		}
	}
	if l.inWord >= marked {
		l.marks = append(l.marks, int32(l.from+i-1))
	}
}

// astride appends the keywords that start in the first lane and end in the second.
func (s *scanner) astride(m *automaton, mid int) {
	state := s.lanes[0].state
	for i := mid; i < len(s.text) && int(m.depth[state]) > i-mid; i++ {
		if state = m.next[uint(state)<<classBits|uint(m.class[s.text[i]])]; state < m.accept {
			continue
		}
		for _, id := range m.ends[state-m.accept] {
			if len(keywords[id].text) > i+1-mid {
				s.hits = append(s.hits, hit{end: int32(i + 1), word: id})
			}
		}
	}
}

// alone goes on from text[i] until a keyword or a word worth a look ends, and returns
// the place behind.
func (a *automaton) alone(text string, i int, at stand) (int, stand) {
	next, accept := a.next, a.accept
	state, r := at.state, at.inWord
	for i < len(text) {
		b := text[i]
		i++
		state = next[uint(state)<<classBits|uint(a.class[b])]
		r = wordStates[uint(r&15)<<8|uint(b)]
		if state >= accept || r >= marked {
			break
		}
	}
	return i, stand{state, r}
}

// abreast is [automaton.alone] for two texts at once, until something ends in either.
func (a *automaton) abreast(text, other string, i int, at, beside stand) (int, stand, stand) {
	next, accept := a.next, a.accept
	state, r, state2, r2 := at.state, at.inWord, beside.state, beside.inWord
	for i < len(text) && i < len(other) {
		b, c := text[i], other[i]
		i++
		state = next[uint(state)<<classBits|uint(a.class[b])]
		state2 = next[uint(state2)<<classBits|uint(a.class[c])]
		r = wordStates[uint(r&15)<<8|uint(b)]
		r2 = wordStates[uint(r2&15)<<8|uint(c)]
		if state >= accept || state2 >= accept || r >= marked || r2 >= marked {
			break
		}
	}
	return i, stand{state, r}, stand{state2, r2}
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
