package query

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// longestWord is where a word is cut, in bytes: what is longer is no word but data,
// and found by its beginning.
const longestWord = 64

// Words cuts text into words as the index knows them: runs of letters and digits in
// lower case, without accents. Scripts that leave no space between words are cut
// into their characters.
func Words(text string) []string { return appendWords(nil, text) }

func appendWords(out []string, text string) []string {
	if ascii(text) {
		return appendASCII(out, strings.ToLower(text))
	}
	text = fold(text)
	start := -1
	for i, r := range text {
		switch {
		case alone(r):
			out = appendWord(out, text, start, i)
			out = append(out, text[i:i+utf8.RuneLen(r)])
			start = -1
		case isWord(r):
			if start < 0 {
				start = i
			}
		default:
			out = appendWord(out, text, start, i)
			start = -1
		}
	}
	return appendWord(out, text, start, len(text))
}

// appendASCII cuts a text of ASCII in lower case, as most are.
func appendASCII(out []string, text string) []string {
	out = slices.Grow(out, len(text)/averageWord)
	start := -1
	for i := range len(text) {
		if c := text[i]; 'a' <= c && c <= 'z' || '0' <= c && c <= '9' {
			if start < 0 {
				start = i
			}
		} else if start >= 0 {
			out = append(out, text[start:min(i, start+longestWord)])
			start = -1
		}
	}
	if start >= 0 {
		out = append(out, text[start:min(len(text), start+longestWord)])
	}
	return out
}

// averageWord is how long a word of prose is, with the space behind it.
const averageWord = 6

func appendWord(out []string, text string, start, end int) []string {
	if start < 0 {
		return out
	}
	word := text[start:min(end, start+longestWord)]
	for !utf8.ValidString(word) { // cut within a character
		word = word[:len(word)-1]
	}
	return append(out, strings.ToLower(word))
}

// fold takes accents off, and joins again what was taken apart beside them.
func fold(text string) string {
	text = strings.ToValidUTF8(text, " ")
	return strings.ToLower(norm.NFC.String(strings.Map(func(r rune) rune {
		if r >= 0x300 && r <= 0x36f { // combining diacritical marks
			return -1
		}
		return r
	}, norm.NFKD.String(text))))
}

func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

// alone reports whether a character is a word by itself.
func alone(r rune) bool {
	return r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
