package count

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A class is what the pattern of o200k_base tells apart:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
type class uint8

const (
	sign    class = 1 << iota // none of the others
	newline                   // \r and \n
	blank                     // other white space
	digit                     // any number
	upper                     // stands in front of a word
	lower                     // stands behind
	mark                      // also both
)

const (
	space  = newline | blank
	letter = upper | lower
)

var ascii = func() (of [128]class) {
	for r := range rune(128) {
		of[r] = look(r)
	}
	return of
}()

func classOf(r rune) class {
	if r < 128 {
		return ascii[r]
	}
	return look(r)
}

func look(r rune) class {
	switch {
	case r == '\r' || r == '\n':
		return newline
	case unicode.IsSpace(r):
		return blank
	case unicode.In(r, unicode.M):
		return upper | lower | mark
	case unicode.In(r, unicode.Lu, unicode.Lt):
		return upper
	case unicode.In(r, unicode.Ll):
		return lower
	case unicode.In(r, unicode.L):
		return upper | lower
	case unicode.In(r, unicode.N):
		return digit
	}
	return sign
}

// first returns the class of the first character of s and its length, 0 at the end.
func first(s string) (class, int) {
	if s == "" {
		return 0, 0
	}
	if s[0] < utf8.RuneSelf {
		return ascii[s[0]], 1
	}
	r, size := utf8.DecodeRuneInString(s)
	return look(r), size
}

// run returns how long s is of characters of these classes.
func run(s string, of class) int {
	n := 0
	for {
		c, size := first(s[n:])
		if c&of == 0 {
			return n
		}
		n += size
	}
}

// next returns the length of the first word of text, which is not empty.
func next(text string) int {
	c, size := first(text)
	if c&(sign|blank|mark) != 0 {
		if n := word(text[size:]); n > 0 {
			return size + n
		}
	}
	if n := word(text); n > 0 {
		return n
	}
	if c == digit {
		return digits(text)
	}
	if n := signs(text); n > 0 {
		return n
	}
	return spaces(text)
}

// word returns the length of the word that s begins with: capitals, then small
// letters; 0 for none. A letter that is neither passes for both.
func word(s string) int {
	front := run(s, upper)
	if n := run(s[front:], lower); n > 0 {
		return contracted(s, front+n)
	}
	if front == 0 {
		return 0
	}
	// As many as leave one behind that may pass for a small letter.
	for end := front; end > 0; {
		r, size := utf8.DecodeLastRuneInString(s[:end])
		if classOf(r)&lower != 0 {
			return contracted(s, end)
		}
		end -= size
	}
	return contracted(s, front)
}

// contracted adds an English contraction behind a word of n bytes.
func contracted(s string, n int) int {
	rest := s[n:]
	if rest == "" || rest[0] != '\'' {
		return n
	}
	for _, c := range []string{"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"} {
		if len(rest) >= len(c) && strings.EqualFold(rest[:len(c)], c) {
			return n + len(c)
		}
	}
	return n
}

func digits(s string) int {
	n := 0
	for range 3 {
		c, size := first(s[n:])
		if c != digit {
			break
		}
		n += size
	}
	return n
}

// signs returns the length of the run of signs that s begins with, one blank before
// it and line ends behind it.
func signs(s string) int {
	from := 0
	if s[0] == ' ' {
		from = 1
	}
	n := run(s[from:], sign|mark)
	if n == 0 {
		return 0
	}
	n += from
	for n < len(s) && (s[n] == '\r' || s[n] == '\n' || s[n] == '/') {
		n++
	}
	return n
}

// spaces returns the length of the white space that s begins with: to its last line
// end; else all but the last, which belongs to the word behind it.
func spaces(s string) int {
	n := run(s, space)
	if last := strings.LastIndexAny(s[:n], "\r\n"); last >= 0 {
		return last + 1
	}
	if n == len(s) {
		return n
	}
	_, size := utf8.DecodeLastRuneInString(s[:n])
	if n > size {
		return n - size
	}
	return n
}
