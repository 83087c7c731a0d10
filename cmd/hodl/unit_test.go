package main

import (
	"encoding/json"
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
		in, file     string
		line, column int
	}{
		{"main.go", "main.go", 0, 0},
		{"./a/main.go:12", "./a/main.go", 12, 0},
		{"main.go:12:3", "main.go", 12, 3},
		{"notes: today.md:7", "notes: today.md", 7, 0},
		{"1:2:3:4", "1:2", 3, 4},
		{"12", "12", 0, 0},
	} {
		file, numbers, err := parsePlace(tt.in)
		if err != nil || file != tt.file || numbers != [2]int{tt.line, tt.column} {
			t.Errorf("%q: %q %v, %v", tt.in, file, numbers, err)
		}
	}
	for _, in := range []string{"main.go:0", "main.go:-1", ":3", ":3:4", "main.go:3:0"} {
		if file, numbers, err := parsePlace(in); err == nil {
			t.Errorf("%q is taken as %q %v", in, file, numbers)
		}
	}
}

func TestParseSelection(t *testing.T) {
	for in, want := range map[string]hodl.Selection{
		"10:1-12:5": {StartLine: 10, StartColumn: 1, EndLine: 12, EndColumn: 5},
		"10-12":     {StartLine: 10, StartColumn: 1, EndLine: 12},
		"7:3-7":     {StartLine: 7, StartColumn: 3, EndLine: 7},
	} {
		if got, err := parseSelection(in); err != nil || got != want {
			t.Errorf("%q: %+v, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "10", "0-3", "1:0-2", "1-2:x", "a-b", "1--2", "1:2:3-4"} {
		if got, err := parseSelection(in); err == nil {
			t.Errorf("%q is taken as %+v", in, got)
		}
	}
}

func TestSplitTags(t *testing.T) {
	if diff := cmp.Diff([]string{"cache", "bug", "it's"}, splitTags([]string{"cache, bug", "it's", ",cache,"})); diff != "" {
		t.Error(diff)
	}
}

// TestSafeLink wants nothing opened that starts another program than a browser or an
// editor.
func TestSafeLink(t *testing.T) {
	for link, want := range map[string]string{
		"https://example.com/a?b=c#d":                                      "https://example.com/a?b=c#d",
		"HTTP://example.com/$(touch x)":                                    "http://example.com/$%28touch%20x%29",
		"https://example.com/#:~:text=a%20b":                               "https://example.com/#:~:text=a%20b",
		"cursor://hodl.hodl/open?file=a&line=2":                            "cursor://hodl.hodl/open?file=a&line=2",
		"jetbrains://goland/navigate/reference?path=a.go%3A2&project=hodl": "jetbrains://goland/navigate/reference?path=a.go%3A2&project=hodl",
	} {
		if got, err := safeLink(link); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", link, got, err, want)
		}
	}
	for _, link := range []string{
		"", "file:///etc/passwd", "javascript:alert(1)", "vscode://other.extension/run?x=y", "vscode://file/etc/passwd", "ssh://-oProxyCommand=x/",
		"https://", "-version", "https:example.com", "ms-msdt:/id", "https://user:pw@example.com/", "https://exa\nmple.com/", "smb://host/share", "tel:1",
		"jetbrains://idea/run", "git://example.com/",
	} {
		if got, err := safeLink(link); err == nil {
			t.Errorf("%q would be opened as %s", link, got)
		}
	}
}

func TestCleanJSON(t *testing.T) {
	in := "{\n \"a\": \"x\u009b31m\u202e\U000e0041 \\u001b é世\"}"
	want := "{\n \"a\": \"x\\u009b31m\\u202e\\udb40\\udc41 \\u001b é世\"}"
	got := cleanJSON(in)
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
	var a, b any
	if json.Unmarshal([]byte(in), &a) != nil || json.Unmarshal([]byte(got), &b) != nil || !cmp.Equal(a, b) {
		t.Errorf("the value is another: %q and %q", a, b)
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
