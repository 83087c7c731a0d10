package capture_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"hodl"
	"hodl/internal/capture"
)

func at(second float64) *hodl.Location { return &hodl.Location{TimestampS: &second} }

func selected(text string) *hodl.Location {
	return &hodl.Location{Selection: &hodl.Selection{Text: text}}
}

func TestPageLink(t *testing.T) {
	both := at(30)
	both.Selection = &hodl.Selection{Text: "x"}
	for _, tt := range []struct {
		url      string
		location *hodl.Location
		want     string
	}{
		{"https://a.b/c?d=e", nil, "https://a.b/c?d=e"},
		{"https://a.b/c", selected("plain words"), "https://a.b/c#:~:text=plain%20words"},
		{"https://a.b/c#part", selected("plain"), "https://a.b/c#part:~:text=plain"},
		{"https://a.b/c#:~:text=old", selected("new"), "https://a.b/c#:~:text=old"},
		{"https://a.b/c", selected(" a-b,  c&d=\u00fc \t"), "https://a.b/c#:~:text=a%2Db%2C%20c%26d%3D%C3%BC"},
		{"https://a.b/c", selected("first line\nsecond line"), "https://a.b/c#:~:text=first%20line,second%20line"},
		{"https://a.b/c", selected(strings.Repeat("word ", 100)), "https://a.b/c#:~:text=" + strings.Repeat("word%20", 5) + "word," + strings.Repeat("word%20", 5) + "word"},
		{"https://a.b/c", selected(" \n "), "https://a.b/c"},
		{"file:///a/b", selected("x"), "file:///a/b"},
		{"javascript:alert(1)", selected("x"), "javascript:alert(1)"},
		{"https://www.youtube.com/watch?v=x&t=5s&list=y", at(61.9), "https://www.youtube.com/watch?v=x&list=y&t=61s"},
		{"https://youtu.be/x", at(3), "https://youtu.be/x?t=3s"},
		{"https://www.youtube.com/embed/x", at(3), "https://www.youtube.com/embed/x?start=3"},
		{"https://notyoutube.com/watch?v=x", at(3), "https://notyoutube.com/watch?v=x"},
		{"https://vimeo.com/123#c", at(62), "https://vimeo.com/123#c&t=62s"},
		{"https://a.b/talk.MP4#t=5", at(62.5), "https://a.b/talk.MP4#t=62.5"},
		{"https://a.b/page", at(62), "https://a.b/page"},
		{"https://a.b/talk.mp4", both, "https://a.b/talk.mp4#t=30:~:text=x"},
	} {
		got := capture.Link(&hodl.Hodl{URL: tt.url, Location: tt.location})
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.url, got, tt.want)
		}
		if _, err := url.Parse(got); err != nil {
			t.Errorf("%s: %v", got, err)
		}
	}
}

func TestLinkFor(t *testing.T) {
	h := &hodl.Hodl{ID: "hdl_1", Location: &hodl.Location{Repository: "git@github.com:acme/app.git", File: "dir/a b.go", Line: 3, Column: 9}}
	for _, tt := range []struct {
		opening capture.Opening
		want    string
	}{
		{capture.Opening{}, "vscode://hodl.hodl/open?"},
		{capture.Opening{Editor: "windsurf"}, "windsurf://hodl.hodl/open?"},
		{capture.Opening{Editor: "vscodium", Root: "/src/app"}, "vscodium://file/src/app/dir/a%20b.go:3:9"},
		{capture.Opening{Editor: "cursor", Root: `C:\src\app`}, "cursor://file/C:/src/app/dir/a%20b.go:3:9"},
		{capture.Opening{Editor: "zed", Root: "/src/app/"}, "zed://file/src/app/dir/a%20b.go:3:9"},
		{capture.Opening{Editor: "jetbrains"}, "jetbrains://idea/navigate/reference?path=dir%2Fa+b.go%3A3%3A9&project=app"},
		{capture.Opening{Editor: "webstorm", Root: "/x"}, "jetbrains://web-storm/navigate/reference?"},
	} {
		got, err := capture.LinkFor(h, tt.opening)
		if err != nil || !strings.HasPrefix(got, tt.want) {
			t.Errorf("%+v: %s, %v; want %s", tt.opening, got, err, tt.want)
		}
	}
	for field, o := range map[string]capture.Opening{"editor": {Editor: "ed"}, "root": {Editor: "zed"}} {
		_, err := capture.LinkFor(h, o)
		if e, ok := errors.AsType[*hodl.Error](err); !ok || e.Fields[0].Path != field {
			t.Errorf("%+v: %v, want a refusal of %s", o, err, field)
		}
	}
	for _, name := range capture.Editors() {
		if _, err := capture.LinkFor(h, capture.Opening{Editor: name, Root: "/x"}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzPageLink(f *testing.F) {
	f.Add("https://a.b/c#d", "text - of, a & page")
	f.Add("https://youtu.be/?t", "\xff\n")
	f.Fuzz(func(t *testing.T, address, text string) {
		if (&hodl.HodlDraft{URL: address}).Check() != nil {
			return
		}
		l := at(7)
		l.Selection = &hodl.Selection{Text: text}
		link := capture.Link(&hodl.Hodl{URL: address, Location: l})
		if _, err := url.Parse(link); err != nil {
			t.Fatalf("%q and %q: %v", address, text, err)
		}
	})
}
