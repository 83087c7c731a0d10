package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hodl"
)

func TestClean(t *testing.T) {
	for _, tt := range []struct{ name, in, line, text string }{
		{"plain", "Grüße, 世界", "Grüße, 世界", "Grüße, 世界"},
		{"lines", "a\nb\tc", `a\nb\tc`, "a\nb\tc"},
		{"overwriting", "safe\rrm -rf", `safe\rrm -rf`, `safe\rrm -rf`},
		{"colours", "\x1b[31mred", `\x1b[31mred`, `\x1b[31mred`},
		{"window title", "\x1b]0;x\x07", `\x1b]0;x\x07`, `\x1b]0;x\x07`},
		{"C1 controls", "a\u009b31mb", `a\u009b31mb`, `a\u009b31mb`},
		{"direction", "a\u202eb\u2066c\u200f", `a\u202eb\u2066c\u200f`, `a\u202eb\u2066c\u200f`},
		{"tags", "a\U000e0041", `a\U000e0041`, `a\U000e0041`},
		{"line separators", "a\u2028b\u0085c", `a\u2028b\u0085c`, `a\u2028b\u0085c`},
		{"broken UTF-8", "a\xffb\xc3", `a\xffb\xc3`, `a\xffb\xc3`},
		{"wide space", "a\u00a0b", "a b", "a b"},
		{"joined emoji", "\U0001f469\u200d\U0001f4bb", "\U0001f469\u200d\U0001f4bb", "\U0001f469\u200d\U0001f4bb"},
		{"replacement character", "a\ufffdb", "a\ufffdb", "a\ufffdb"},
	} {
		if got := clean(tt.in); got != tt.line {
			t.Errorf("%s: clean(%q) = %q, want %q", tt.name, tt.in, got, tt.line)
		}
		if got := cleanText(tt.in); got != tt.text {
			t.Errorf("%s: cleanText(%q) = %q, want %q", tt.name, tt.in, got, tt.text)
		}
	}
}

func TestParsePlace(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want *hodl.Location
	}{
		{"", nil},
		{"main.go", &hodl.Location{File: "main.go"}},
		{"./a/main.go:12", &hodl.Location{File: "a/main.go", Line: 12}},
		{"main.go:12:3", &hodl.Location{File: "main.go", Line: 12, Column: 3}},
		{"notes: today.md:7", &hodl.Location{File: "notes: today.md", Line: 7}},
		{"1:2:3:4", &hodl.Location{File: "1:2", Line: 3, Column: 4}},
		{"12", &hodl.Location{File: "12"}},
	} {
		got, err := parsePlace(tt.in)
		if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got)\n%s", tt.in, err, diff)
		}
	}
	for _, in := range []string{"main.go:0", "main.go:-1", ":3", ":3:4", "main.go:3:0"} {
		if got, err := parsePlace(in); err == nil {
			t.Errorf("%q is taken as %+v", in, got)
		}
	}
}

func TestRelative(t *testing.T) {
	now := time.Date(2026, 5, 5, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		after time.Duration
		want  string
	}{
		{0, "now"},
		{45 * time.Second, "in 45s"},
		{-59*time.Minute - 40*time.Second, "59m ago"},
		{47 * time.Hour, "in 47h"},
		{-72 * time.Hour, "3d ago"},
	} {
		if got := relative(now.Add(tt.after), now); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.after, got, tt.want)
		}
	}
}

func TestFit(t *testing.T) {
	rows := [][]string{{"ID", "WHAT"}, {"hdl_0123456789", "a title that is rather long, and then some"}}
	for _, tt := range []struct {
		limit int
		want  []int
	}{
		{0, []int{14, 42}},
		{80, []int{14, 42}},
		{40, []int{14, 24}},
		{10, []int{12, 12}}, // narrower than anything can be read in
	} {
		if diff := cmp.Diff(tt.want, fit(rows, tt.limit)); diff != "" {
			t.Errorf("%d columns (-want +got)\n%s", tt.limit, diff)
		}
	}
}

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		in    string
		width int
		want  string
	}{
		{"short", 5, "short"},
		{"longer", 5, "long…"},
		{"世界世界", 8, "世界世界"},
		{"世界世界", 6, "世界…"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
	} {
		if got := cut(tt.in, tt.width); got != tt.want || columns(got) > tt.width {
			t.Errorf("cut(%q, %d) = %q", tt.in, tt.width, got)
		}
	}
}
