package redact

import (
	"strings"

	"hodl/internal/detect"
)

// A dictionary finds words of a list, whole and in either case of ASCII letters.
type dictionary struct {
	heads map[uint32][]string
}

const dictionaryHead = 3

func newDictionary(words []string) *dictionary {
	d := &dictionary{heads: map[uint32][]string{}}
	for _, w := range words {
		w = strings.ToLower(w)
		h := smallHead(w)
		d.heads[h] = append(d.heads[h], w)
	}
	return d
}

func smallHead(w string) uint32 {
	return uint32(low(w[0])) | uint32(low(w[1]))<<8 | uint32(low(w[2]))<<16
}

func low(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c | 0x20
	}
	return c
}

func (d *dictionary) find(spans []detect.Span, text string, r *detect.Rule) []detect.Span {
	for i := 0; i+dictionaryHead <= len(text); i++ {
		if i > 0 && isWord(text[i-1]) && isWord(text[i]) {
			continue
		}
		for _, w := range d.heads[smallHead(text[i:])] {
			if len(text)-i >= len(w) && strings.EqualFold(text[i:i+len(w)], w) && wholeWord(text, i, i+len(w)) && !detect.IsPlaceholder(text[i:i+len(w)]) {
				spans = append(spans, detect.Span{Start: i, End: i + len(w), Rule: r})
				break
			}
		}
	}
	return spans
}
