package checkout

import (
	"fmt"
	"os"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"hodl"
)

// Select reads the text of a selection from file and fills it in. Lines and columns
// count from 1, columns in UTF-16 units, as editors count them; an EndColumn of 0
// is the end of the last line. A range that is not in the file is refused.
func Select(file string, s hodl.Selection) (hodl.Selection, error) {
	const most = 64 << 20
	info, err := os.Stat(file)
	if err != nil {
		return s, err
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return s, fmt.Errorf("%s is not a file of at most %d bytes", file, most)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return s, err
	}
	if !utf8.Valid(text) {
		return s, fmt.Errorf("%s is not text in UTF-8", file)
	}
	lines := strings.SplitAfter(string(text), "\n")
	if s.EndColumn == 0 && s.EndLine >= 1 && s.EndLine <= len(lines) {
		s.EndColumn = units(bare(lines[s.EndLine-1])) + 1
	}
	s.Text, err = cut(lines, s)
	return s, err
}

func cut(lines []string, s hodl.Selection) (string, error) {
	start, err := offset(lines, s.StartLine, s.StartColumn)
	if err != nil {
		return "", err
	}
	end, err := offset(lines, s.EndLine, s.EndColumn)
	if err != nil {
		return "", err
	}
	if s.EndLine < s.StartLine || s.EndLine == s.StartLine && end < start {
		return "", fmt.Errorf("the selection ends before it starts")
	}
	if s.StartLine == s.EndLine {
		return lines[s.StartLine-1][start:end], nil
	}
	return lines[s.StartLine-1][start:] + strings.Join(lines[s.StartLine:s.EndLine-1], "") + lines[s.EndLine-1][:end], nil
}

// offset is where in its line a column begins, in bytes.
func offset(lines []string, line, column int) (int, error) {
	if line < 1 || line > len(lines) {
		return 0, fmt.Errorf("there is no line %d: the file has %d", line, len(lines))
	}
	text, at := bare(lines[line-1]), 1
	for i, r := range text {
		if at == column {
			return i, nil
		}
		at += utf16.RuneLen(r)
	}
	if at != column {
		return 0, fmt.Errorf("there is no column %d in line %d, which has %d, or it is within a character", column, line, at)
	}
	return len(text), nil
}

// bare is a line without its end.
func bare(line string) string { return strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r") }

// units is how long s is to an editor.
func units(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}
