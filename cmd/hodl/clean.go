package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// What is printed to a terminal was written by pages, agents and other people. A
// control character there moves the cursor, retitles the window or answers for the
// user, and a direction mark makes a line read as another: neither gets through.

// clean makes text harmless and keeps it on one line.
func clean(s string) string { return escape(s, false) }

// cleanText makes text harmless and keeps its lines and tabs.
func cleanText(s string) string { return escape(s, true) }

func escape(s string, lines bool) string {
	if harmless(s, lines) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case shown(r, lines):
			b.WriteRune(r)
		case unicode.Is(unicode.Zs, r):
			b.WriteByte(' ')
		default:
			b.WriteString(named(r))
		}
		s = s[size:]
	}
	return b.String()
}

func harmless(s string, lines bool) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !shown(r, lines) })
}

// shown reports whether r is printed as it is. Joiners are: Persian and families of
// emoji need them.
func shown(r rune, lines bool) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	return unicode.IsPrint(r) || r == nonJoiner || r == joiner || lines && (r == '\n' || r == '\t')
}

// cleanJSON makes JSON harmless and keeps its value: outside of its strings, JSON has
// no character that is not.
func cleanJSON(s string) string {
	if harmless(s, true) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch high, low := utf16.EncodeRune(r); {
		case shown(r, true) || r == '\r':
			b.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		}
	}
	return b.String()
}

func named(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\t':
		return `\t`
	case r == '\r':
		return `\r`
	case r < 0x80:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}
