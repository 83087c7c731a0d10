// Package count tells how many tokens a text is to a model. It counts as o200k_base
// does (OpenAI, tiktoken), with a table that is in the program: no network, and
// equal texts have equal counts for ever.
//
// The table is of merges. The first 256 tokens are bytes; every further one is made
// of two before it, and a text's tokens come of merging, wherever it may be, the
// pair that makes the earliest token first.
package count

import (
	"bytes"
	"compress/flate"
	_ "embed"
	"io"
	"sync"
)

// merges is, deflated: the 256 bytes that are tokens, then six columns of a byte
// for each further token, of its left half and of its right half, low bytes first.
//
//go:embed o200k_base.deflate
var merges []byte

const (
	single = 256    // tokens of one byte
	all    = 199998 // tokens
	slots  = 1 << 19
)

// A table finds what a pair of tokens merges to. An entry is pair<<18 | token, and
// an empty one 0: the token 0 is no merge.
type table struct {
	bytes [256]uint32
	pairs []uint64
}

// load makes the table, which takes 4 MiB, when it is first wanted.
var load = sync.OnceValue(func() *table {
	raw, err := io.ReadAll(flate.NewReader(bytes.NewReader(merges)))
	if err != nil || len(raw) != single+6*(all-single) {
		panic("count: the table in the program is damaged") // a test loads it
	}
	t := &table{pairs: make([]uint64, slots)}
	for rank, b := range raw[:single] {
		t.bytes[b] = uint32(rank)
	}
	columns := raw[single:]
	at := func(column, i int) uint32 { return uint32(columns[column*(all-single)+i]) }
	for i := range all - single {
		left := at(0, i) | at(1, i)<<8 | at(2, i)<<16
		right := at(3, i) | at(4, i)<<8 | at(5, i)<<16
		t.put(left, right, uint32(single+i))
	}
	return t
})

func pairOf(left, right uint32) uint64 { return uint64(left)<<18 | uint64(right) }

func slotOf(pair uint64) uint64 { return pair * 0x9e3779b97f4a7c15 >> (64 - 19) }

func (t *table) put(left, right, token uint32) {
	pair := pairOf(left, right)
	i := slotOf(pair)
	for t.pairs[i] != 0 {
		i = (i + 1) % slots
	}
	t.pairs[i] = pair<<18 | uint64(token)
}

const none = ^uint32(0)

// merged returns the token of a pair, or none.
func (t *table) merged(left, right uint32) uint32 {
	pair := pairOf(left, right)
	for i := slotOf(pair); t.pairs[i] != 0; i = (i + 1) % slots {
		if t.pairs[i]>>18 == pair {
			return uint32(t.pairs[i] & (1<<18 - 1))
		}
	}
	return none
}

// longest is how many bytes are merged at once. A longer word, which is no word of
// a language, is cut: it may count for a token more in every so many bytes, and
// costs no more than its length.
const longest = 128

// Tokens returns how many tokens text is.
func Tokens(text string) int {
	n, _ := Within(text, len(text))
	return n
}

// Within counts until most is passed, and reports whether it was not. A text of no
// more bytes than most is within it whatever it says, and is not counted but by
// [Tokens].
func Within(text string, most int) (n int, ok bool) {
	t := load()
	var buffer [longest]uint32
	for len(text) > 0 && n <= most {
		word := text[:next(text)]
		text = text[len(word):]
		for len(word) > 0 {
			end := min(len(word), longest)
			n += t.count(buffer[:0], word[:end])
			word = word[end:]
		}
	}
	return n, n <= most
}

// count merges the bytes of a word for as long as there is a pair to merge.
func (t *table) count(parts []uint32, word string) int {
	for i := range len(word) {
		parts = append(parts, t.bytes[word[i]])
	}
	var made [longest]uint32 // of each part with the next
	for i := range len(parts) - 1 {
		made[i] = t.merged(parts[i], parts[i+1])
	}
	for len(parts) > 1 {
		best, at := none, 0
		for i, token := range made[:len(parts)-1] {
			if token < best {
				best, at = token, i
			}
		}
		if best == none {
			break
		}
		parts[at] = best
		copy(parts[at+1:], parts[at+2:])
		copy(made[at:], made[at+1:len(parts)-1])
		parts = parts[:len(parts)-1]
		if at > 0 {
			made[at-1] = t.merged(parts[at-1], best)
		}
		if at+1 < len(parts) {
			made[at] = t.merged(best, parts[at+1])
		}
	}
	return len(parts)
}
