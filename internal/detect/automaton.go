package detect

import "slices"

// An automaton finds every keyword of a set in one pass over a text, in either
// case of ASCII letters (Aho and Corasick 1975, with the failure links worked into
// the table). States that end a keyword have the highest numbers, so that the loop
// makes one comparison a byte.
type automaton struct {
	class  [256]uint8
	next   []uint16 // state << classBits | class
	accept uint16   // the first state that ends a keyword
	ends   [][]uint16
	depth  []uint8 // how much of a keyword a state has seen
}

const classBits = 6

type trieNode struct {
	next map[uint8]int
	fail int
	ends []uint16
}

func newAutomaton(words []string) *automaton {
	a := &automaton{}
	a.classify(words)
	nodes := a.trie(words)
	order := link(nodes)
	a.number(nodes, order)
	return a
}

// classify gives each byte that a keyword holds a class of its own, both cases of a
// letter the same one. Digits share one and bytes beyond ASCII share sixteen: who
// has such in a keyword compares it when it is hit. All other bytes share class 0.
func (a *automaton) classify(words []string) {
	n := uint8(17)
	for _, w := range words {
		for i := range len(w) {
			b := fold(w[i])
			if a.class[b] == 0 && b < 0x80 && !is(b, digit) {
				n++
				a.class[b] = n
			}
		}
	}
	if n >= 1<<classBits {
		panic("detect: keywords of too many different bytes")
	}
	for b := byte('0'); b <= '9'; b++ {
		a.class[b] = 17
	}
	for b := 0x80; b <= 0xff; b++ {
		a.class[b] = uint8(1 + b&15)
	}
	for b := byte('a'); b <= 'z'; b++ {
		a.class[b-'a'+'A'] = a.class[b]
	}
}

func fold(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

func (a *automaton) trie(words []string) []trieNode {
	nodes := []trieNode{{next: map[uint8]int{}}}
	for id, w := range words {
		at := 0
		for i := range len(w) {
			c := a.class[fold(w[i])]
			to, ok := nodes[at].next[c]
			if !ok {
				to = len(nodes)
				nodes = append(nodes, trieNode{next: map[uint8]int{}})
				nodes[at].next[c] = to
			}
			at = to
		}
		nodes[at].ends = append(nodes[at].ends, uint16(id))
	}
	return nodes
}

// link sets each node's failure link and returns the nodes breadth first.
func link(nodes []trieNode) []int {
	order := []int{0}
	for i := 0; i < len(order); i++ {
		at := order[i]
		for c, to := range nodes[at].next {
			order = append(order, to)
			f := nodes[at].fail
			for at != 0 {
				if n, ok := nodes[f].next[c]; ok {
					nodes[to].fail = n
					break
				}
				if f == 0 {
					break
				}
				f = nodes[f].fail
			}
			nodes[to].ends = append(nodes[to].ends, nodes[nodes[to].fail].ends...)
		}
	}
	return order
}

func (a *automaton) number(nodes []trieNode, order []int) {
	quiet := slices.Clone(order)
	slices.SortStableFunc(quiet, func(x, y int) int { return min(len(nodes[x].ends), 1) - min(len(nodes[y].ends), 1) })
	state := make([]uint16, len(nodes))
	a.accept = uint16(len(nodes))
	for i, n := range quiet {
		state[n] = uint16(i)
		if len(nodes[n].ends) > 0 {
			a.accept = min(a.accept, uint16(i))
			a.ends = append(a.ends, nodes[n].ends)
		}
	}
	a.next = make([]uint16, len(nodes)<<classBits)
	a.depth = make([]uint8, len(nodes))
	for _, n := range order { // a failure link leads to a node nearer the root, which is done
		row := a.next[int(state[n])<<classBits:][:1<<classBits]
		if n != 0 {
			copy(row, a.next[int(state[nodes[n].fail])<<classBits:][:1<<classBits])
		}
		for c, to := range nodes[n].next {
			row[c] = state[to]
			a.depth[state[to]] = a.depth[state[n]] + 1
		}
	}
}

// find appends a hit for every keyword that ends in text.
func (a *automaton) find(hits []hit, text string) []hit {
	next, accept, state := a.next, a.accept, uint16(0)
	for i := range len(text) {
		state = next[uint(state)<<classBits|uint(a.class[text[i]])]
		if state >= accept {
			for _, id := range a.ends[state-accept] {
				hits = append(hits, hit{end: int32(i + 1), word: id})
			}
		}
	}
	return hits
}

// matches reports whether a keyword ends in text.
func (a *automaton) matches(text string) bool {
	state := uint16(0)
	for i := range len(text) {
		state = a.next[uint(state)<<classBits|uint(a.class[text[i]])]
		if state >= a.accept {
			return true
		}
	}
	return false
}

// A hit is a keyword at a place.
type hit struct {
	end  int32
	word uint16
}
