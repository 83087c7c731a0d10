package bookmark_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hodl/internal/bookmark"
)

const firefox = `<!DOCTYPE NETSCAPE-Bookmark-file-1>
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<TITLE>Bookmarks</TITLE>
<H1>Bookmarks Menu</H1>

<DL><p>
    <DT><H3 ADD_DATE="1700000000" PERSONAL_TOOLBAR_FOLDER="true">Bookmarks Toolbar</H3>
    <DL><p>
        <DT><A HREF="https://go.dev/?a=1&amp;b=2" ADD_DATE="1700000001" TAGS="go, lang">Go &amp; more</A>
        <DD>the language
with two lines
        <DT><H3>Deep  &lt;work&gt;</H3>
        <DL><p>
            <DT><A HREF="https://example.com/x" ADD_DATE="1700000002000">X</A>
        </DL><p>
        <DT><A HREF="https://example.com/y">Y</A>
    </DL><p>
    <HR>
    <DT><A ADD_DATE="1">no address</A>
    <DT><A HREF="https://example.com/z" ADD_DATE="-5">Z <b>bold</b></A>
</DL>
`

func read(t *testing.T, text string) []bookmark.Bookmark {
	t.Helper()
	var out []bookmark.Bookmark
	if err := bookmark.Read(strings.NewReader(text), func(b bookmark.Bookmark) error { out = append(out, b); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRead(t *testing.T) {
	want := []bookmark.Bookmark{
		{URL: "https://go.dev/?a=1&b=2", Title: "Go & more", Note: "the language\nwith two lines", Tags: []string{"go", "lang"}, Added: time.Unix(1700000001, 0).UTC(), Line: 9},
		{URL: "https://example.com/x", Title: "X", Tags: []string{"Deep <work>"}, Added: time.Unix(1700000002, 0).UTC(), Line: 14},
		{URL: "https://example.com/y", Title: "Y", Line: 16},
		{URL: "https://example.com/z", Title: "Z bold", Line: 20},
	}
	if diff := cmp.Diff(want, read(t, firefox)); diff != "" {
		t.Error(diff)
	}
}

// What is no bookmark file holds none, and what is half of one holds what is whole.
func TestReadAnything(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "plain text": 0, `{"json":true}`: 0, "<a>": 0, "</dl></dl></h3>": 0,
		`<a href="https://a.b">x`:                                         1,
		`<A HREF=https://a.b>x<A HREF=https://c.d>y`:                      2,
		strings.Repeat("<dl><h3>f</h3>", 5000) + `<a href="https://a.b">`: 1,
		`<!-- <a href="https://a.b">x</a> -->`:                            0,
	} {
		if got := read(t, text); len(got) != want {
			t.Errorf("%.40q: %d bookmarks, want %d", text, len(got), want)
		}
	}
}

func TestReadFails(t *testing.T) {
	planted := errors.New("planted")
	if err := bookmark.Read(strings.NewReader(firefox), func(bookmark.Bookmark) error { return planted }); !errors.Is(err, planted) {
		t.Errorf("the error of each: %v", err)
	}
	broken := io.MultiReader(strings.NewReader("<DL>"), &failing{planted})
	if err := bookmark.Read(broken, nil); !errors.Is(err, planted) {
		t.Errorf("the error of the reader: %v", err)
	}
	huge := `<a href="` + strings.Repeat("x", 2<<20)
	if err := bookmark.Read(strings.NewReader(huge), nil); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("a huge tag: %v", err)
	}
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

// However a file is made, what is read of it is bounded.
func FuzzRead(f *testing.F) {
	f.Add(firefox)
	f.Add(`<dl><dt><a href="x" tags="a,b,,a">t</a><dd>n</dl>`)
	f.Fuzz(func(t *testing.T, text string) {
		_ = bookmark.Read(strings.NewReader(text), func(b bookmark.Bookmark) error {
			if b.URL == "" || b.Line < 1 || len(b.Title) > len(text) || len(b.Note) > len(text) {
				t.Fatalf("%+v", b)
			}
			return nil
		})
	})
}
