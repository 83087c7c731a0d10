package capture

import (
	"math"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"hodl"
)

// pageLink returns the address of a hodl, at the selected text of the page or the
// second of the medium.
func pageLink(h *hodl.Hodl) string {
	l := h.Location
	u, err := url.Parse(h.URL)
	if err != nil || l == nil || u.Scheme != "http" && u.Scheme != "https" {
		return h.URL
	}
	link := h.URL
	if l.TimestampS != nil {
		link = atSecond(u, link, *l.TimestampS)
	}
	if l.Selection != nil {
		link = atText(link, l.Selection.Text)
	}
	return link
}

// atText adds a text fragment (the text directive of WICG Scroll To Text Fragment)
// behind the fragment that is there. An address that has one keeps it.
func atText(link, text string) string {
	words := strings.Fields(text)
	if len(words) == 0 || strings.Contains(link, ":~:") {
		return link
	}
	if !strings.Contains(link, "#") {
		link += "#"
	}
	return link + ":~:text=" + directive(words, strings.Contains(text, "\n"))
}

// Bounds of a text directive: a longer text is named by its first and last words.
const (
	longestDirective = 200 // bytes
	edgeWords        = 6
)

// directive writes the words of a text. What goes over several blocks of a page is
// found only as a range.
func directive(words []string, blocks bool) string {
	whole := strings.Join(words, " ")
	if len(words) == 1 || !blocks && len(whole) <= longestDirective {
		return escapeText(clipText(whole))
	}
	edge := min(edgeWords, len(words)/2)
	first, last := strings.Join(words[:edge], " "), strings.Join(words[len(words)-edge:], " ")
	return escapeText(clipText(first)) + "," + escapeText(clipText(last))
}

// clipText cuts text without spaces, which no browser would need in full.
func clipText(s string) string {
	if len(s) > longestDirective {
		return strings.ToValidUTF8(s[:longestDirective], "")
	}
	return s
}

// escapeText percent-encodes all but letters and digits: the dash, the comma and the
// ampersand mean something in a directive.
func escapeText(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("._~", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	}
	return b.String()
}

// playable are files that a browser plays by itself (Media Fragments URI §4.2.1).
var playable = []string{".mp4", ".m4v", ".webm", ".ogv", ".ogg", ".oga", ".opus", ".mp3", ".m4a", ".aac", ".wav", ".flac", ".mov", ".mkv"}

// atSecond adds a position to the address of a medium, in the way of its site. One
// of a site we do not know stays as it is.
func atSecond(u *url.URL, link string, second float64) string {
	host := strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
	whole := strconv.FormatInt(int64(math.Floor(second)), 10)
	switch {
	case isSite(host, "youtube.com") && strings.HasPrefix(u.Path, "/embed/"):
		return withParameter(u, "start", whole)
	case isSite(host, "youtube.com") || isSite(host, "youtube-nocookie.com") || host == "youtu.be":
		return withParameter(u, "t", whole+"s")
	case isSite(host, "vimeo.com"):
		return withFragment(link, "t="+whole+"s")
	case slices.Contains(playable, strings.ToLower(path.Ext(u.Path))):
		return withFragment(link, "t="+strconv.FormatFloat(second, 'f', -1, 64))
	}
	return link
}

func isSite(host, site string) bool { return host == site || strings.HasSuffix(host, "."+site) }

// withParameter sets a parameter in its place, or behind the others.
func withParameter(u *url.URL, name, value string) string {
	out := *u
	var parts []string
	for part := range strings.SplitSeq(u.RawQuery, "&") {
		if n, _, _ := strings.Cut(part, "="); part != "" && n != name {
			parts = append(parts, part)
		}
	}
	out.RawQuery = strings.Join(append(parts, name+"="+value), "&")
	return out.String()
}

// withFragment sets t= in the fragment and keeps what else is in it.
func withFragment(link, position string) string {
	base, fragment, _ := strings.Cut(link, "#")
	fragment, text, directive := strings.Cut(fragment, ":~:")
	parts := []string{}
	for part := range strings.SplitSeq(fragment, "&") {
		if part != "" && !strings.HasPrefix(part, "t=") {
			parts = append(parts, part)
		}
	}
	base += "#" + strings.Join(append(parts, position), "&")
	if directive {
		base += ":~:" + text
	}
	return base
}
