package checkout_test

import (
	"path/filepath"
	"testing"

	"hodl"
	"hodl/internal/checkout"
)

func TestSelect(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.go")
	write(t, file, "one\r\n\tta\U0001f469b\nthree")
	for _, c := range []struct {
		name           string
		l1, c1, l2, c2 int
		want           string
	}{
		{"within a line", 1, 2, 1, 4, "ne"},
		{"nothing", 1, 2, 1, 2, ""},
		{"after two units", 2, 3, 2, 7, "a\U0001f469b"},
		{"only the last", 2, 6, 2, 7, "b"},
		{"two lines", 1, 3, 2, 3, "e\r\n\tt"},
		{"three lines", 1, 1, 3, 6, "one\r\n\tta\U0001f469b\nthree"},
		{"to the end of a line", 1, 1, 1, 0, "one"},
		{"whole lines", 2, 1, 3, 0, "\tta\U0001f469b\nthree"},
	} {
		got, err := checkout.Select(file, hodl.Selection{StartLine: c.l1, StartColumn: c.c1, EndLine: c.l2, EndColumn: c.c2})
		if err != nil || got.Text != c.want {
			t.Errorf("%s: %q, %v, want %q", c.name, got.Text, err, c.want)
		}
	}
	for name, s := range map[string]hodl.Selection{
		"within a character": {StartLine: 2, StartColumn: 5, EndLine: 2, EndColumn: 6},
		"past the line":      {StartLine: 1, StartColumn: 1, EndLine: 1, EndColumn: 5},
		"past the file":      {StartLine: 1, StartColumn: 1, EndLine: 4, EndColumn: 0},
		"backwards":          {StartLine: 1, StartColumn: 3, EndLine: 1, EndColumn: 2},
		"lines backwards":    {StartLine: 2, StartColumn: 1, EndLine: 1, EndColumn: 2},
		"no line":            {StartLine: 0, StartColumn: 1, EndLine: 1, EndColumn: 2},
	} {
		if got, err := checkout.Select(file, s); err == nil {
			t.Errorf("%s: %q", name, got.Text)
		}
	}
	write(t, file+".bin", "a\xff")
	if _, err := checkout.Select(file+".bin", hodl.Selection{StartLine: 1, StartColumn: 1, EndLine: 1}); err == nil {
		t.Error("what is no text was taken")
	}
}
