// Package bookmark reads the bookmark files that browsers and bookmark services
// export: the Netscape bookmark file format.
//
//	<DL><DT><H3>Folder</H3>
//	    <DL><DT><A HREF="https://example.com" ADD_DATE="1700000000" TAGS="a,b">Title</A>
//	        <DD>Note</DL>
//	</DL>
package bookmark

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/html"
)

// A Bookmark is one entry.
type Bookmark struct {
	URL   string
	Title string
	Note  string
	Tags  []string  // its folders from the outside in, then its own
	Added time.Time // zero when the file does not say
	Line  int       // where it begins, counted from 1
}

// Bounds of a file.
const (
	maxToken = 1 << 20 // bytes of one tag or text
	maxText  = 256 << 10
	maxTags  = 64
	maxTag   = 128 // bytes
	maxDepth = 32  // folders within each other that become tags
)

// Read calls each for every bookmark of a file, in order. It holds no more of the
// file than one bookmark and the names of its folders. It fails with what reading r
// or each failed with, or when one piece of the file is larger than a megabyte.
func Read(r io.Reader, each func(Bookmark) error) error {
	p := &parser{tokens: html.NewTokenizer(r), each: each, line: 1}
	p.tokens.SetMaxBuf(maxToken)
	for {
		kind := p.tokens.Next()
		at := p.line
		for _, c := range p.tokens.Raw() {
			if c == '\n' {
				p.line++
			}
		}
		if kind == html.ErrorToken {
			return p.end()
		}
		if err := p.token(kind, at); err != nil {
			return err
		}
	}
}

type parser struct {
	tokens  *html.Tokenizer
	each    func(Bookmark) error
	line    int
	folders []string // the name of each that is open; "" for one without
	depth   int      // of the folders, those without a place in the list as well
	name    string   // of the folder that the next list opens
	last    *Bookmark
	into    *string // what the text is of, if anything
	text    []byte
}

// collect begins the text of something, and ends that of what was before.
func (p *parser) collect(into *string) {
	if p.into != nil {
		*p.into = string(p.text)
	}
	p.into, p.text = into, p.text[:0]
}

func (p *parser) end() error {
	err := p.tokens.Err()
	if errors.Is(err, html.ErrBufferExceeded) {
		return fmt.Errorf("a piece of the file at line %d is larger than a megabyte", p.line)
	}
	if !errors.Is(err, io.EOF) {
		return err
	}
	return p.flush()
}

func (p *parser) token(kind html.TokenType, at int) error {
	switch kind {
	case html.TextToken:
		if p.into != nil && len(p.text) < maxText {
			p.text = append(p.text, p.tokens.Text()...)
		}
	case html.StartTagToken, html.SelfClosingTagToken:
		return p.open(at)
	case html.EndTagToken:
		name, _ := p.tokens.TagName()
		return p.close(string(name))
	}
	return nil
}

func (p *parser) open(at int) error {
	raw, more := p.tokens.TagName()
	name := string(raw)
	switch name {
	case "a", "h3", "dl", "dt":
		if err := p.flush(); err != nil {
			return err
		}
	}
	switch name {
	case "a":
		p.last = &Bookmark{Line: at, Tags: p.path()}
		p.attributes(more, p.last)
		p.collect(&p.last.Title)
	case "h3":
		if p.name = ""; !p.isTop(more) {
			p.collect(&p.name)
		}
	case "dd":
		if p.collect(nil); p.last != nil {
			p.collect(&p.last.Note)
		}
	case "dl":
		p.collect(nil)
		if p.depth++; p.depth <= maxDepth {
			p.folders = append(p.folders, clip(p.name))
		}
		p.name = ""
	}
	return nil
}

func (p *parser) close(name string) error {
	switch name {
	case "a", "h3":
		p.collect(nil)
	case "dl":
		if p.depth <= maxDepth {
			p.folders = p.folders[:max(0, len(p.folders)-1)]
		}
		p.depth = max(0, p.depth-1)
		return p.flush()
	}
	return nil
}

// clip brings a name within the bounds of a tag.
func clip(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > maxTag {
		s = strings.ToValidUTF8(s[:maxTag], "")
	}
	return s
}

// path lists the folders that are open.
func (p *parser) path() []string {
	var out []string
	for _, f := range p.folders {
		out = appendTag(out, f)
	}
	return out
}

func appendTag(tags []string, tag string) []string {
	if tag == "" || len(tags) == maxTags || slices.Contains(tags, tag) {
		return tags
	}
	return append(tags, tag)
}

// isTop reports whether a folder is one that every browser has, and so no label.
func (p *parser) isTop(more bool) bool {
	top := false
	for more {
		var key []byte
		key, _, more = p.tokens.TagAttr()
		name := string(key)
		top = top || name == "personal_toolbar_folder" || name == "unfiled_bookmarks_folder"
	}
	return top
}

func (p *parser) attributes(more bool, b *Bookmark) {
	for more {
		var key, value []byte
		key, value, more = p.tokens.TagAttr()
		switch string(key) {
		case "href":
			b.URL = strings.TrimSpace(string(value))
		case "add_date":
			b.Added = added(string(value))
		case "tags":
			for tag := range strings.SplitSeq(string(value), ",") {
				b.Tags = appendTag(b.Tags, clip(tag))
			}
		}
	}
}

// added reads a time in seconds, which some write in milliseconds or microseconds.
func added(s string) time.Time {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	switch {
	case err != nil || n <= 0:
		return time.Time{}
	case n > 1e14:
		return time.UnixMicro(n).UTC()
	case n > 1e11:
		return time.UnixMilli(n).UTC()
	}
	return time.Unix(n, 0).UTC()
}

// flush hands over the bookmark that is complete.
func (p *parser) flush() error {
	p.collect(nil)
	b := p.last
	p.last = nil
	if b == nil || b.URL == "" {
		return nil
	}
	b.Title = strings.Join(strings.Fields(b.Title), " ")
	b.Note = strings.TrimSpace(b.Note)
	return p.each(*b)
}
