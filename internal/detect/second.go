package detect

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

// A view is a text read another way: what an encoding hides stands in it in the
// open. at maps its bytes to those of the text outside, nil when they are the same.
type view struct {
	text string
	at   []int32 // where each byte comes from; one more for the end
}

// outer returns where [start, end) of the view stands outside.
func (v *view) outer(start, end int) (int, int) {
	if v.at == nil {
		return start, end
	}
	return int(v.at[start]), int(v.at[end])
}

type viewBuilder struct {
	b  strings.Builder
	at []int32
}

func (v *viewBuilder) put(s string, from int) {
	for range len(s) {
		v.at = append(v.at, int32(from))
	}
	v.b.WriteString(s)
}

// same puts what stands for itself.
func (v *viewBuilder) same(s string, from int) {
	for i := range len(s) {
		v.at = append(v.at, int32(from+i))
	}
	v.b.WriteString(s)
}

func (v *viewBuilder) done(end int) view {
	v.at = append(v.at, int32(end))
	return view{v.b.String(), v.at}
}

// second reads the text again through what disguises it: escapes of JSON,
// look-alikes and invisible characters of Unicode. Only texts that have such are
// read again.
func (s *scanner) second() {
	if s.depth > 1 {
		return
	}
	if escapes(s.text) {
		s.through(viewEscapes(s.text))
	}
	if disguised(s.text) {
		s.through(viewPlain(s.text))
	}
	if s.kind == URL && strings.IndexByte(s.text, '%') >= 0 {
		s.through(viewPercent(s.text))
	}
}

func (s *scanner) through(v view) {
	for _, f := range s.inner(v.text, s.kind) {
		a, b := v.outer(f.Start, f.End)
		s.add(a, b, f.Rule)
	}
}

// inner scans a text within the text.
func (s *scanner) inner(text string, kind Kind) []Span {
	if len(text) == 0 {
		return nil
	}
	in := scanners.Get().(*scanner)
	in.depth = s.depth + 1
	spans := in.into(nil, text, kind, "")
	scanners.Put(in)
	return spans
}

// escapes reports whether the text holds escapes that hide something: of a quote, a
// line's end, a character.
func escapes(t string) bool {
	for i := strings.IndexByte(t, '\\'); i >= 0 && i+1 < len(t); {
		if strings.IndexByte("\"nrtu/x", t[i+1]) >= 0 {
			return true
		}
		n := strings.IndexByte(t[i+2:], '\\')
		if n < 0 {
			return false
		}
		i += 2 + n
	}
	return false
}

func viewEscapes(t string) view {
	v := viewBuilder{at: make([]int32, 0, len(t)+1)}
	v.b.Grow(len(t))
	for i := 0; i < len(t); {
		n := strings.IndexByte(t[i:], '\\')
		if n < 0 {
			n = len(t) - i
		}
		v.same(t[i:i+n], i)
		if i += n; i+1 >= len(t) {
			v.same(t[i:], i)
			break
		}
		r, n := unescaped(t[i:])
		if n == 1 {
			r = `\`
		}
		v.put(r, i)
		i += n
	}
	return v.done(len(t))
}

// unescaped returns what the escape at the start of t stands for and how long it
// is, 1 when it is none.
func unescaped(t string) (string, int) {
	switch t[1] {
	case 'n', 'r':
		return "\n", 2
	case 't':
		return "\t", 2
	case '"', '\'', '/', '\\':
		return t[1:2], 2
	case 'u':
		if r, ok := hexRune(t, 2, 4); ok {
			if r >= 0xd800 && r < 0xdc00 && len(t) >= 12 && t[6] == '\\' && t[7] == 'u' {
				if low, ok := hexRune(t, 8, 4); ok && low >= 0xdc00 && low < 0xe000 {
					return string(0x10000 + (r-0xd800)<<10 + (low - 0xdc00)), 12
				}
			}
			return string(r), 6
		}
	case 'x':
		if r, ok := hexRune(t, 2, 2); ok {
			return string(r), 4
		}
	}
	return "", 1
}

func hexRune(t string, i, n int) (rune, bool) {
	if len(t) < i+n {
		return 0, false
	}
	r := rune(0)
	for _, c := range []byte(t[i : i+n]) {
		if !is(c, hexed) {
			return 0, false
		}
		r = r<<4 | rune(nibble(c))
	}
	return r, true
}

func nibble(c byte) byte {
	if is(c, digit) {
		return c - '0'
	}
	return fold(c) - 'a' + 10
}

// viewPercent reads what is percent-encoded, up to twice.
func viewPercent(t string) view {
	v := viewBuilder{at: make([]int32, 0, len(t)+1)}
	for i := 0; i < len(t); {
		c, n := percent(t[i:])
		v.put(string([]byte{c}), i)
		i += n
	}
	return v.done(len(t))
}

func percent(t string) (byte, int) {
	if t[0] != '%' || len(t) < 3 || !is(t[1], hexed) || !is(t[2], hexed) {
		return t[0], 1
	}
	c := nibble(t[1])<<4 | nibble(t[2])
	if c == '%' && len(t) >= 5 && is(t[3], hexed) && is(t[4], hexed) {
		return nibble(t[3])<<4 | nibble(t[4]), 5
	}
	return c, 3
}

// disguised reports whether the text holds characters that look like others or like
// nothing, or bytes that are no UTF-8.
func disguised(t string) bool {
	for i := ascii(t); i < len(t); i++ {
		c := t[i]
		if c < 0x80 {
			continue
		}
		switch {
		case c == 0xc2 && i+1 < len(t) && t[i+1] == 0xad,
			c == 0xe2 && i+2 < len(t) && (t[i+1] == 0x80 && t[i+2] >= 0x8b && t[i+2] <= 0x95 || t[i+1] == 0x81 && t[i+2] >= 0xa0 && t[i+2] <= 0xaf),
			c == 0xef && i+1 < len(t) && (t[i+1] == 0xbc || t[i+1] == 0xbd || t[i+1] == 0xbb),
			c == 0xf0 && i+1 < len(t) && t[i+1] == 0x9d:
			return true
		}
		r, n := utf8.DecodeRuneInString(t[i:])
		if r == utf8.RuneError && n == 1 {
			return true
		}
		i += n - 1
	}
	return false
}

// ascii returns how many bytes at the start of t are ASCII, in steps of eight.
func ascii(t string) int {
	i := 0
	for ; i+32 <= len(t); i += 32 {
		if b := t[i : i+32]; (eight(b)|eight(b[8:])|eight(b[16:])|eight(b[24:]))&0x8080808080808080 != 0 {
			break
		}
	}
	for ; i+8 <= len(t) && eight(t[i:])&0x8080808080808080 == 0; i += 8 {
	}
	return i
}

// eight is the first eight bytes of t, in one load.
func eight(t string) uint64 {
	b := t[:8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 | uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

func viewPlain(t string) view {
	v := viewBuilder{at: make([]int32, 0, len(t)+1)}
	for i := 0; i < len(t); {
		r, n := utf8.DecodeRuneInString(t[i:])
		switch p := plainRune(r); {
		case p < 0 || r == utf8.RuneError && n == 1:
		case p != r:
			v.put(string(p), i)
		default:
			v.put(t[i:i+n], i)
		}
		i += n
	}
	return v.done(len(t))
}

// plainRune returns what r looks like, -1 for nothing.
func plainRune(r rune) rune {
	switch {
	case r < 0x80:
		return r
	case r == 0xad, r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r == 0xfeff:
		return -1
	case r >= 0x2010 && r <= 0x2015:
		return '-'
	case r >= 0xff01 && r <= 0xff5e:
		return r - 0xff01 + '!'
	case r >= 0x1d400 && r <= 0x1d6a3:
		n := (r - 0x1d400) % 52
		if n < 26 {
			return 'A' + n
		}
		return 'a' + n - 26
	case r >= 0x1d7ce && r <= 0x1d7ff:
		return '0' + (r-0x1d7ce)%10
	}
	return r
}

// encoded looks into base64 for text that holds something.
func (s *scanner) encoded(start, end int) {
	const most = 8 << 10
	v := strings.TrimRight(s.text[start:min(end, start+most)], "=")
	if len(v) < 24 || s.at(end) == '.' {
		return
	}
	codec := base64.RawStdEncoding
	if strings.ContainsAny(v, "-_") {
		codec = base64.RawURLEncoding
	}
	var buf [64]byte
	if n, err := codec.Decode(buf[:48], []byte(v[:24])); err != nil || !printable(buf[:n]) {
		return
	}
	raw, err := codec.DecodeString(v[:len(v)-len(v)%4+map[int]int{2: 2, 3: 3}[len(v)%4]])
	if err != nil || !printable(raw) {
		return
	}
	for _, f := range s.inner(string(raw), Text) {
		if f.Rule.Class() == Secret || f.Rule == ruleEmail {
			s.add(start, end, ruleEncoded)
			return
		}
	}
}
