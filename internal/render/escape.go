package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// appendText appends a captured text to dst as it stands inside a data block:
// further lines indented, characters that hide or reorder text made visible as
// ⟨U+202E⟩, and the first character of anything that looks like a delimiter made
// visible too, so that it does so no more. Equal texts give equal bytes, and the
// work is linear in the length of s.
func appendText(dst []byte, s string) []byte {
	from := 0 // of the run of plain text not yet copied
	for i := 0; i < len(s); {
		if plain[s[i]] {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if keeps(s, i, r, size) {
			i += size
			continue
		}
		dst = append(dst, s[from:i]...)
		dst = appendSpecial(dst, s[i:], r)
		i += size
		from = i
	}
	return append(dst, s[from:]...)
}

// plain marks the bytes that stand for themselves whatever is around them.
var plain = func() (is [256]bool) {
	for b := ' '; b < 0x7f; b++ {
		is[b] = b != '<' && b != ':'
	}
	is['\t'] = true
	return is
}()

// keeps reports whether the rune at s[i:] goes out as it is.
func keeps(s string, i int, r rune, size int) bool {
	switch {
	case r < utf8.RuneSelf: // not plain: a control, or one that a delimiter may begin with
		return r > ' ' && r < 0x7f && !imitates(s, i, r, size)
	case r == utf8.RuneError && size == 1: // an invalid byte
		return false
	case isHan(r):
		return true
	case isSelector(r):
		return selects(s[:i])
	case isHidden(r):
		return false
	}
	return !imitates(s, i, r, size)
}

// appendSpecial appends what stands for the rune r at the beginning of s.
func appendSpecial(dst []byte, s string, r rune) []byte {
	switch {
	case r == '\r' && strings.HasPrefix(s, "\r\n"):
		return dst // a line end of two bytes is one line end
	case r == '\n' && (len(s) == 1 || s[1] == '\n' || strings.HasPrefix(s[1:], "\r\n")):
		return append(dst, '\n', '|') // no blanks at the end of an empty line
	case r == '\n':
		return append(append(dst, '\n'), linesOn...)
	case r == utf8.RuneError:
		return utf8.AppendRune(dst, r)
	}
	return fmt.Appendf(dst, "⟨U+%04X⟩", r)
}

// isHan is a short cut for the long runs of letters that no table need be asked about.
func isHan(r rune) bool {
	return r >= 0x3400 && r <= 0x9fff || r >= 0xac00 && r <= 0xd7a3
}

// isHidden reports whether r shows nothing or changes how its neighbours show:
// controls, line and paragraph separators, format characters (bidi, zero width,
// tags), and what Unicode says may be ignored.
func isHidden(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// isSelector reports whether r chooses between text and picture of a symbol.
func isSelector(r rune) bool { return r == 0xfe0e || r == 0xfe0f }

// selects reports whether a selector after s has a symbol to choose for. A
// second one in a row, or one after ASCII, only hides something.
func selects(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r >= 0x80 && r != utf8.RuneError && !isHidden(r)
}

// imitates reports whether the rune r at s[i:] begins what a reader may take for
// a delimiter of ours ("<hodl…", "</hodl…", "hodl:data") or for a character made
// visible ("⟨U+…").
func imitates(s string, i int, r rune, size int) bool {
	after := s[i+size:]
	if r == '㎗' || r == '㍲' { // "dl" and "da" in one: too rare to follow
		return true
	}
	switch fold(r) {
	case '<':
		return beginsWith(skipSlashes(after), "hodl") || r == '⟨' && strings.HasPrefix(after, "U+")
	case ':':
		return endsWith(s[:i], "hodl") && beginsWith(after, "data")
	}
	return false
}

// skipSlashes skips what may stand between a bracket and the name in it.
func skipSlashes(s string) string {
	return strings.TrimLeftFunc(s, func(r rune) bool {
		return fold(r) == '/' || unicode.IsSpace(r) || isFaint(r)
	})
}

// beginsWith reports whether s begins with what looks like word.
func beginsWith(s, word string) bool {
	for i := 0; i < len(word); i++ {
		s = strings.TrimLeftFunc(s, isFaint)
		r, size := utf8.DecodeRuneInString(s)
		if fold(r) != word[i] {
			return false
		}
		s = s[size:]
	}
	return true
}

// endsWith reports whether s ends with what looks like word.
func endsWith(s, word string) bool {
	for i := len(word) - 1; i >= 0; i-- {
		s = strings.TrimRightFunc(s, isFaint)
		r, size := utf8.DecodeLastRuneInString(s)
		if fold(r) != word[i] {
			return false
		}
		s = s[:len(s)-size]
	}
	return true
}

// isFaint reports whether a reader would not miss r within a word.
func isFaint(r rune) bool {
	const voiced, semiVoiced = 0xff9e, 0xff9f // letters that normalise to marks
	return r >= 0x80 && (isHidden(r) || unicode.In(r, unicode.Mn, unicode.Me) || r == voiced || r == semiVoiced)
}

// fold returns the ASCII character of the delimiters that r looks like, lower
// case, or 0. Ranges of styled alphabets are folded as a whole.
func fold(r rune) byte {
	switch {
	case r < 0x80:
		return foldASCII(byte(r))
	case r >= 0xff01 && r <= 0xff5e: // fullwidth
		return foldASCII(byte(r - 0xfee0))
	case r >= 0x1d400 && r <= 0x1d6a3: // mathematical
		return foldASCII('a' + byte((r-0x1d400)%26))
	case r >= 0x24b6 && r <= 0x24e9: // circled
		return foldASCII('a' + byte((r-0x24b6)%26))
	case r >= 0x1f130 && r <= 0x1f189: // squared and negative
		return foldASCII('a' + byte((r-0x1f130)%32%26))
	case r >= 0x1f1e6 && r <= 0x1f1ff: // regional indicators
		return foldASCII('a' + byte(r-0x1f1e6))
	}
	return lookalikes[r]
}

// foldASCII reads the digits and capitals that pass for letters of the delimiters.
func foldASCII(b byte) byte {
	switch {
	case b == 'I' || b == '1' || b == '|' || b == '!':
		return 'l'
	case b == '0':
		return 'o'
	case b == '4' || b == '@':
		return 'a'
	case b == '\\':
		return '/'
	case b >= 'A' && b <= 'Z':
		return b - 'A' + 'a'
	}
	return b
}

// lookalikes lists, per character of the delimiters, the others that normalise
// to it (NFKD, marks dropped) outside the ranges of fold, and those of other
// scripts that are drawn alike.
var lookalikes = func() map[rune]byte {
	m := map[rune]byte{}
	for to, from := range map[byte]string{
		'h': "ĤĥȞȟʰᴴḢḣḤḥḦḧḨḩḪḫẖₕℋℌℍℎ" + "һҺհнНʜⱨħĦΗηℏᏂ㏗",
		'o': "ºÒÓÔÕÖòóôõöŌōŎŏŐőƠơǑǒǪǫǬǭȌȍȎȏȪȫȬȭȮȯȰȱᴼᵒṌṍṎṏṐṑṒṓỌọỎỏỐốỒồỔổỖỗỘộỚớỜờỞởỠỡỢợₒℴ" + "оОοΟօՕσøØᴏ०૦೦໐〇○◯๐",
		'd': "ĎďᴰᵈḊḋḌḍḎḏḐḑḒḓⅅⅆⅮⅾ" + "ԁԀđĐɖɗᏧᴅ",
		'l': "ĹĺĻļĽľˡᴸḶḷḸḹḺḻḼḽₗℒℓⅬⅼ" + "ӏӀłŁɭɫŀĿІіΙιǀⅠⅰ∣│ןاוǇǈǉ㋏㏐㏑㏒㏓",
		'a': "ªÀÁÂÃÄÅàáâãäåĀāĂăĄąǍǎǞǟǠǡǺǻȀȁȂȃȦȧᴬᵃḀḁẠạẢảẤấẦầẨẩẪẫẬậẮắẰằẲẳẴẵẶặₐÅ" + "аАαΑɑӑӓᴀ\u1e9a\u2100\u2101\u3373\u33c2\u33df\u212b",
		't': "ŢţŤťȚțᵀᵗṪṫṬṭṮṯṰṱẗₜ" + "тТτΤŧŦᴛ",
		'<': "≮﹤" + "‹〈⟨〈«≺˂ᐸ❮❬❰⟪《≪⋘⪡𐃿⧼⩽≤",
		':': "︓﹕" + "ː˸։׃፡∶⁚⁝ꓽ꞉︰᛬ः",
		'/': "∕⁄⧸⟋╱〳᜵⼃丿" + // and marks that stand on a blank
			"¨¯´¸˘˙˚˛˜˝ͺ΄΅᾽᾿῀῁῍῎῏῝῞῟῭΅´῾‗‾゛゜\ufc5e\ufc5f\ufc60\ufc61\ufc62\ufc63﹉﹊﹋﹌\ufe70\ufe72\ufe74\ufe76\ufe78\ufe7a\ufe7c\ufe7e￣\u1fee\u1ffd",
	} {
		for _, r := range from {
			m[r] = to
		}
	}
	return m
}()
