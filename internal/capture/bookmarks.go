package capture

import (
	"io"
	"strings"

	"hodl"
	"hodl/internal/bookmark"
)

// Bookmarks reads the lines of a Netscape bookmark file, for [Service.Import]. Its
// folders become tags, and what is longer than a hodl may be is cut.
func Bookmarks(r io.Reader) func(take func(Line) error) error {
	return func(take func(Line) error) error {
		return bookmark.Read(r, func(b bookmark.Bookmark) error {
			return take(Line{Number: b.Line, Hodl: hodl.Hodl{
				URL: strings.ToValidUTF8(b.URL, ""), Title: clip(b.Title, hodl.MaxTitle), Note: clip(b.Note, hodl.MaxNote),
				Tags: tagsOf(b.Tags), Source: "browser", CreatedAt: b.Added,
			}})
		})
	}
}

func tagsOf(list []string) []string {
	out := make([]string, 0, len(list))
	for _, t := range list {
		if t = clip(t, hodl.MaxTag); t != "" {
			out = append(out, t)
		}
	}
	return out
}

// clip brings text from a file within a bound, without what a hodl may not hold.
func clip(s string, most int) string {
	s = strings.ReplaceAll(s, "\x00", "")
	if len(s) > most {
		s = s[:most]
	}
	return strings.ToValidUTF8(s, "")
}
