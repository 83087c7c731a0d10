package render

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"hodl"
	"hodl/internal/redact"
)

// A View is what a set of scopes grants of one redacted session. It is made by
// [Context] alone and so always went through a redaction policy; the zero View
// is refused by [Render].
type View struct {
	context hodl.ResumeContext
	tabs    int          // how many of context.Tabs were captured as tabs; the others stand for hodls
	start   [classes]int // where its items begin in the view it is a part of
	lead    lead
}

// Resume returns the context as data. It must not be changed.
func (v View) Resume() hodl.ResumeContext { return v.context }

// Context returns what scopes grant of r: read:context the tabs, media, notes,
// ai_tags and hodls, read:reasoning the thread with its provenance,
// read:transcript the words of media. What is not granted is empty and named in
// withheld, whether or not the session holds any. Lists are never nil.
func Context(r redact.Redacted, scopes []hodl.Scope) View {
	if r.Session() == "" {
		return View{}
	}
	content := r.Content()
	v := View{context: hodl.ResumeContext{
		Session:     r.Session(),
		Version:     hodl.ContextVersion,
		CapturedAt:  r.CapturedAt().UTC(),
		Title:       content.Title,
		Summary:     content.Summary,
		Tabs:        []hodl.Tab{},
		Media:       []hodl.Medium{},
		Thread:      []hodl.Node{},
		Tags:        []string{},
		Notes:       []hodl.Note{},
		Hodls:       []hodl.Hodl{},
		Provenance:  map[string]hodl.Provenance{},
		Withheld:    withheld(scopes),
		Omitted:     []hodl.Omission{},
		Scopes:      append([]hodl.Scope{}, hodl.SortScopes(scopes)...),
		Fingerprint: r.Fingerprint(),
	}}
	if slices.Contains(scopes, hodl.ReadContext) {
		v.grantContext(content, slices.Contains(scopes, hodl.ReadTranscript))
	}
	if slices.Contains(scopes, hodl.ReadReasoning) {
		v.grantReasoning(content)
	}
	v.context.Redactions = granted(r.Redactions(), v.context.Withheld)
	return v
}

func (v *View) grantContext(content hodl.Content, transcripts bool) {
	c := &v.context
	v.tabs = len(content.Tabs)
	c.Tabs = withPlaces(content.Tabs, content.Hodls)
	c.Media, c.Tags, c.Notes, c.Hodls = content.Media, content.Tags, content.Notes, content.Hodls
	if transcripts {
		return
	}
	c.Media = append([]hodl.Medium{}, content.Media...)
	for i := range c.Media {
		c.Media[i].Transcript = ""
	}
}

func (v *View) grantReasoning(content hodl.Content) {
	c := &v.context
	c.Thread = content.Thread
	for _, n := range content.Thread {
		if p, known := content.Provenance[n.ID]; known {
			c.Provenance[n.ID] = p
		}
	}
}

// withPlaces appends to tabs a tab for every hodl that is a place in a file, so
// that clients that know only tabs see code positions too. Captured tabs keep
// their index, which redactions name.
func withPlaces(tabs []hodl.Tab, hodls []hodl.Hodl) []hodl.Tab {
	out := append(make([]hodl.Tab, 0, len(tabs)+len(hodls)), tabs...)
	for i := range hodls {
		if l := hodls[i].Location; l == nil || l.File == "" && l.Repository == "" {
			continue // a text or a second in a page
		}
		if t := placeTab(&hodls[i]); t.URL != "" {
			out = append(out, t)
		}
	}
	return out
}

func placeTab(h *hodl.Hodl) hodl.Tab {
	t := hodl.Tab{URL: h.DeepLink, Role: "editor"}
	if t.URL == "" || len(t.URL) > hodl.MaxURL {
		t.URL = h.URL
	}
	t.Title = clip(cmp.Or(h.Title, place(h.Location, false), t.URL), hodl.MaxTitle)
	if h.Location.Selection != nil {
		t.SelectedText = h.Location.Selection.Text
	}
	return t
}

// clip cuts s to at most n bytes, between characters. A tab made here keeps within
// what a captured one may be.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// place returns file:line, with the column too when it is asked for and known,
// and the repository where there is no file.
func place(l *hodl.Location, column bool) string {
	if l.File == "" {
		return l.Repository
	}
	s := l.File
	if l.Line > 0 {
		s += ":" + strconv.Itoa(l.Line)
		if column && l.Column > 0 {
			s += ":" + strconv.Itoa(l.Column)
		}
	}
	return s
}

// grants lists the fields a scope opens, in the order of the resume context.
var grants = []struct {
	field string
	scope hodl.Scope
}{
	{"tabs", hodl.ReadContext},
	{"media", hodl.ReadContext},
	{"media[].transcript_anchor", hodl.ReadTranscript},
	{"reasoning_thread", hodl.ReadReasoning},
	{"ai_tags", hodl.ReadContext},
	{"notes", hodl.ReadContext},
	{"hodls", hodl.ReadContext},
	{"provenance", hodl.ReadReasoning},
}

func withheld(scopes []hodl.Scope) []string {
	out := []string{}
	for _, g := range grants {
		if !slices.Contains(scopes, g.scope) {
			out = append(out, g.field)
		}
	}
	return out
}

// granted leaves out redactions in withheld fields: where something was removed
// tells what is there.
func granted(redactions []hodl.Redaction, withheld []string) []hodl.Redaction {
	out := make([]hodl.Redaction, 0, len(redactions))
	for _, r := range redactions {
		if !within(r.Field, withheld) {
			out = append(out, r)
		}
	}
	return out
}

func within(path string, fields []string) bool {
	path = withoutIndexes(path)
	for _, f := range fields {
		rest, found := strings.CutPrefix(path, f)
		if found && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}

// withoutIndexes turns media[3].url into media[].url.
func withoutIndexes(path string) string {
	var b strings.Builder
	inside := false
	for _, r := range path {
		inside = (inside || r == '[') && r != ']'
		if !inside || r == '[' {
			b.WriteRune(r)
		}
	}
	return b.String()
}
