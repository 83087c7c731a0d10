package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"
)

const (
	reset = "\x1b[0m"
	bold  = "\x1b[1m"
	dim   = "\x1b[2m"
	red   = "\x1b[31m"
	green = "\x1b[32m"
	amber = "\x1b[33m"
)

// paint colours text for standard error.
func (e *env) paint(colour, text string) string {
	if !e.colourful(e.err) {
		return text
	}
	return colour + text + reset
}

func (e *env) colourful(f *os.File) bool {
	_, terminal := width(f)
	no, _ := e.lookup("NO_COLOR")
	force, _ := e.lookup("FORCE_COLOR")
	term, _ := e.lookup("TERM")
	if force != "" && force != "0" {
		return no == ""
	}
	return terminal && no == "" && term != "dumb"
}

// printJSON prints one JSON value.
func (e *env) printJSON(v any) error { return encode(e.out, v) }

func encode(w io.Writer, v any) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return err
	}
	return writeBody(w, b.Bytes())
}

// printLine prints one value on a line of its own.
func (e *env) printLine(s string) error {
	_, err := fmt.Fprintln(e.out, clean(s))
	return err
}

// printText prints lines that others wrote.
func (e *env) printText(s string) error {
	_, err := fmt.Fprintln(e.out, cleanText(s))
	return err
}

// printTable prints rows below their headings. On a terminal what does not fit its
// width is cut; elsewhere everything is printed.
func (e *env) printTable(headings []string, rows [][]string) error {
	limit, terminal := width(e.out)
	if !terminal {
		limit = 0
	}
	for _, row := range rows {
		for i, cell := range row {
			row[i] = clean(cell)
		}
	}
	widths := fit(append([][]string{headings}, rows...), limit)
	var b bytes.Buffer
	heading := line(headings, widths)
	if e.colourful(e.out) {
		heading = dim + heading + reset
	}
	b.WriteString(heading + "\n")
	for _, row := range rows {
		b.WriteString(line(row, widths) + "\n")
	}
	_, err := e.out.Write(b.Bytes())
	return err
}

const gap = 2

// fit returns how wide each column may be, so that all of them and the gaps fit
// limit: the widest gives way first, none below a dozen. 0 is no limit.
func fit(rows [][]string, limit int) []int {
	const least = 12
	widths := make([]int, len(rows[0]))
	total := gap * (len(widths) - 1)
	for i := range widths {
		for _, row := range rows {
			widths[i] = max(widths[i], columns(row[i]))
		}
		total += widths[i]
	}
	for limit > 0 && total > limit {
		widest := 0
		for i := range widths {
			if widths[i] > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= least {
			return widths
		}
		widths[widest]--
		total--
	}
	return widths
}

func line(row []string, widths []int) string {
	var b strings.Builder
	for i, cell := range row {
		cell = cut(cell, widths[i])
		b.WriteString(cell + strings.Repeat(" ", widths[i]-columns(cell)+gap))
	}
	return strings.TrimRight(b.String(), " ")
}

// cut shortens s to width columns.
func cut(s string, width int) string {
	if columns(s) <= width {
		return s
	}
	taken := 0
	for i, r := range s {
		if taken += runeColumns(r); taken > width-1 {
			return s[:i] + "…"
		}
	}
	return s
}

// columns is how much of a line s takes on most terminals.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana), r >= 0x1f300 && r < 0x1fb00, r >= 0xff01 && r <= 0xff60:
		return 2
	}
	return 1
}

// printFacts prints names and values in two columns; empty values are left out.
func (e *env) printFacts(facts [][2]string) error {
	widest := 0
	for i, f := range facts {
		facts[i] = [2]string{clean(f[0]), clean(f[1])}
		widest = max(widest, columns(facts[i][0]))
	}
	for _, f := range facts {
		if f[1] == "" {
			continue
		}
		if _, err := fmt.Fprintf(e.out, "%s  %s\n", f[0]+strings.Repeat(" ", widest-columns(f[0])), f[1]); err != nil {
			return err
		}
	}
	return nil
}

// note tells something beside the result. Programs that asked for JSON get none.
func (e *env) note(format string, args ...any) {
	if e.json {
		return
	}
	e.say("hodl: %s\n", clean(fmt.Sprintf(format, args...)))
}

// say writes to standard error. When that fails, there is nowhere left to tell.
func (e *env) say(format string, args ...any) { _, _ = fmt.Fprintf(e.err, format, args...) }

// more tells how to get the next page, if there is one.
func (e *env) more(cursor string) {
	if cursor != "" && !e.json {
		e.note("there is more: add --cursor %s", cursor)
	}
}

// relative is a time as people tell it: "in 59m", "3d ago".
func relative(t, now time.Time) string {
	d := t.Sub(now).Round(time.Second)
	switch {
	case d > 0:
		return "in " + about(d)
	case d > -time.Second:
		return "now"
	}
	return about(-d) + " ago"
}

func about(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 2*day:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/day)
}

// writeBody prints a body of the API with a line end after it: the same value, in
// which what a terminal would obey is escaped.
func writeBody(w io.Writer, body []byte) error {
	if !json.Valid(body) {
		return errors.New("the answer is not JSON")
	}
	_, err := io.WriteString(w, cleanJSON(strings.TrimSpace(string(body)))+"\n")
	return err
}
