package mcpserver

import (
	"bytes"
	"crypto/rand"
	"strconv"
)

// A splice is a text that the SDK does not see. It encodes a result three times over,
// and what a session holds is nearly all of one: so it gets a word in the place of
// the text, which is put back, encoded once, where the answer is written. The word is
// made anew each time, so nothing captured can pass for it.
type splice struct {
	word []byte // as a JSON string
	text []byte // the same
}

// splice returns the word that stands, until the answer is written, for a text, given
// as a JSON string.
func (a *answer) splice(quoted []byte) string {
	word := rand.Text()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.splices = append(a.splices, splice{strconv.AppendQuote(nil, word), quoted})
	return word
}

// sendSpliced writes what the SDK wrote, each word as the text it stands for. The SDK
// writes a message in one piece.
func (a *answer) sendSpliced(b []byte) (int, error) {
	rest := b
	for _, s := range a.splices {
		before, after, found := bytes.Cut(rest, s.word)
		if !found {
			continue // another message of the stream
		}
		for _, piece := range [][]byte{before, s.text} {
			if _, err := a.send(piece); err != nil {
				return 0, err
			}
		}
		rest = after
	}
	if _, err := a.send(rest); err != nil {
		return 0, err
	}
	return len(b), nil
}
