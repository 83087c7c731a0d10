package hodl

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// Sizes, in bytes unless they count things. A field one over is refused by name.
const (
	MaxURL        = 8 << 10
	MaxTitle      = 1 << 10
	MaxSummary    = 8 << 10
	MaxNote       = 64 << 10
	MaxTags       = 64
	MaxTag        = 128
	MaxSelection  = 64 << 10
	MaxPath       = 4 << 10
	MaxAudience   = 512
	MaxItems      = 1000 // each of tabs, media, notes, hodl_ids and nodes
	MaxNode       = 8 << 10
	MaxName       = 256 // of a key, a workspace, a tab's role
	MaxPlaces     = 32  // addresses, and origins, that a key or an audience is bound to
	MaxRequest    = 2 << 20
	MaxBatch      = 1000     // hodls in one request
	MaxImport     = 64 << 20 // a file of hodls or bookmarks
	MaxPerPage    = 100
	DefaultOnPage = 20
)

// faults gathers every fault of a request, so that a client mends them in one go.
type faults struct{ list []FieldError }

func (f *faults) add(path, format string, args ...any) {
	const enough = 50 // a reader learns nothing from the fifty-first
	if len(f.list) < enough {
		f.list = append(f.list, FieldError{path, fmt.Sprintf(format, args...)})
	}
}

func (f *faults) err() error {
	if len(f.list) == 0 {
		return nil
	}
	return InvalidFields(f.list...)
}

func (f *faults) text(path, s string, most int) {
	switch {
	case len(s) > most:
		f.add(path, "is %d bytes; at most %d are allowed", len(s), most)
	case !utf8.ValidString(s):
		f.add(path, "is not valid UTF-8")
	case strings.ContainsRune(s, 0):
		f.add(path, "holds a NUL character; remove it")
	}
}

// texts checks the strings of a list that is bounded as a whole, and returns their
// size.
func (f *faults) texts(path string, list []string) (size int) {
	for i, s := range list {
		f.text(fmt.Sprintf("%s[%d]", path, i), s, MaxNode)
		size += len(s)
	}
	return size
}

func (f *faults) required(path, s string, most int) {
	if s == "" {
		f.add(path, "is required")
		return
	}
	f.text(path, s, most)
}

// address checks an absolute address. Every scheme is allowed (file:, chrome:,
// about: are what browsers show); whether it may be opened is the reader's call.
func (f *faults) address(path, s string) {
	f.required(path, s, MaxURL)
	if s == "" || len(s) > MaxURL {
		return
	}
	if u, err := url.Parse(s); err != nil || u.Scheme == "" {
		f.add(path, "is not an absolute address such as https://example.com/page")
	}
}

func (f *faults) count(path string, n, most int) {
	if n > most {
		f.add(path, "has %d entries; at most %d are allowed", n, most)
	}
}

func (f *faults) tags(path string, tags []string) {
	f.count(path, len(tags), MaxTags)
	for i, t := range tags {
		f.required(fmt.Sprintf("%s[%d]", path, i), t, MaxTag)
	}
}

func (f *faults) within(path string, v *float64, low, high float64) {
	if v != nil && (*v < low || *v > high) {
		f.add(path, "is %g; it must be from %g to %g", *v, low, high)
	}
}

func (f *faults) oneOf(path, v string, allowed ...string) {
	if !slices.Contains(allowed, v) {
		f.add(path, "is %.80q; use one of %s", v, strings.Join(allowed, ", "))
	}
}

// Check reports every fault of the draft, or nil.
func (d *HodlDraft) Check() error {
	var f faults
	if d.URL == "" && d.Title == "" && d.Note == "" && d.Location == nil {
		f.add("url", "is missing; send at least one of url, title, note, location")
	}
	if d.URL != "" {
		f.address("url", d.URL)
	}
	f.text("title", d.Title, MaxTitle)
	f.text("note", d.Note, MaxNote)
	f.tags("tags", d.Tags)
	if d.Source != "" {
		f.oneOf("source", string(d.Source), strs(Sources)...)
	}
	if d.SessionID != "" && !sessionID(string(d.SessionID)) {
		f.add("session_id", `must be "ses_" followed by 1 to 64 letters and digits`)
	}
	if d.Location != nil {
		d.Location.check(&f)
	}
	return f.err()
}

func (l *Location) check(f *faults) {
	f.text("location.repository", l.Repository, MaxPath)
	f.text("location.file", l.File, MaxPath)
	f.text("location.branch", l.Branch, MaxPath)
	f.text("location.commit", l.Commit, MaxPath)
	if l.Line < 0 || l.Column < 0 {
		f.add("location.line", "and column count from 1; leave out what is not known")
	}
	f.within("location.timestamp_s", l.TimestampS, 0, 1e9)
	if l.File == "" && l.Repository == "" && l.TimestampS == nil && (l.Selection == nil || l.Selection.Text == "") {
		f.add("location.file", "is required in a location without a repository, a selected text or a timestamp_s")
	}
	if strings.HasPrefix(l.File, "/") || slices.Contains(strings.Split(l.File, "/"), "..") {
		f.add("location.file", "must be relative to the repository's root, without ..")
	}
	if s := l.Selection; s != nil {
		f.text("location.selection.text", s.Text, MaxSelection)
		if s.StartLine < 0 || s.StartColumn < 0 || s.EndLine < s.StartLine || s.EndColumn < 0 {
			f.add("location.selection", "must start at line 1 or later and end after it starts")
		}
	}
}

// Check reports every fault of the draft, or nil.
func (d *SessionDraft) Check() error {
	var f faults
	if d.ID != "" && !sessionID(d.ID) {
		f.add("session_id", `must be "ses_" followed by 1 to 64 letters and digits`)
	}
	f.text("title", d.Title, MaxTitle)
	f.text("summary", d.Summary, MaxSummary)
	f.tags("ai_tags", d.Tags)
	if d.State != "" {
		f.oneOf("state", string(d.State), string(Open), string(Held))
	}
	f.count("tabs", len(d.Tabs), MaxItems)
	for i, t := range d.Tabs {
		t.check(fmt.Sprintf("tabs[%d].", i), &f)
	}
	f.count("media", len(d.Media), MaxItems)
	for i, m := range d.Media {
		m.check(fmt.Sprintf("media[%d].", i), &f)
	}
	f.count("reasoning_thread", len(d.Thread), MaxItems)
	for i, n := range d.Thread {
		n.check(fmt.Sprintf("reasoning_thread[%d].", i), &f)
	}
	checkGraph(d.Thread, &f)
	f.count("notes", len(d.Notes), MaxItems)
	for i, n := range d.Notes {
		f.required(fmt.Sprintf("notes[%d].body", i), n.Body, MaxNote)
	}
	f.count("hodl_ids", len(d.HodlIDs), MaxItems)
	for i, id := range d.HodlIDs {
		f.required(fmt.Sprintf("hodl_ids[%d]", i), string(id), MaxTag)
	}
	return f.err()
}

// Check reports every fault of the draft, or nil.
func (d *ForkDraft) Check() error {
	var f faults
	f.text("title", d.Title, MaxTitle)
	f.text("from", d.From, MaxTag)
	return f.err()
}

func (t *Tab) check(at string, f *faults) {
	f.required(at+"url", t.URL, MaxURL)
	f.text(at+"title", t.Title, MaxTitle)
	f.within(at+"scroll_y_pct", t.ScrollYPct, 0, 100)
	f.text(at+"selected_text", t.SelectedText, MaxSelection)
	f.text(at+"tab_role", t.Role, MaxName)
}

func (m *Medium) check(at string, f *faults) {
	f.oneOf(at+"kind", m.Kind, "video", "audio", "image")
	f.required(at+"url", m.URL, MaxURL)
	f.within(at+"timestamp_s", m.TimestampS, 0, 1e9)
	f.text(at+"transcript_anchor", m.Transcript, MaxSelection)
}

func (n *Node) check(at string, f *faults) {
	f.required(at+"id", n.ID, MaxTag)
	f.oneOf(at+"kind", string(n.Kind), strs(NodeKinds)...)
	f.required(at+"text", n.Text, MaxNode)
	f.within(at+"confidence", n.Confidence, 0, 1)
	size := len(n.ID) + len(n.Text)
	size += f.texts(at+"evidence", n.Evidence) + f.texts(at+"supports", n.Supports) + f.texts(at+"depends_on", n.DependsOn)
	if size > MaxNode {
		f.add(at+"text", "makes the node %d bytes; at most %d are allowed", size, MaxNode)
	}
}

// CheckNode reports every fault of a node that is to join thread, or nil.
func CheckNode(n *Node, thread []Node) error {
	var f faults
	n.check("", &f)
	if err := f.err(); err != nil {
		return err
	}
	checkGraph(append(slices.Clone(thread), *n), &f)
	for i := range f.list {
		// The thread was sound before: whatever is wrong is the new node's.
		_, field, _ := strings.Cut(f.list[i].Path, "].")
		f.list[i].Path = field
	}
	return f.err()
}

// CheckNote reports every fault of a note's body, or nil.
func CheckNote(body string) error {
	var f faults
	f.required("body", body, MaxNote)
	return f.err()
}

// CheckReason reports what is wrong with the reason of a revocation, or nil.
func CheckReason(reason string) error {
	var f faults
	f.text("reason", reason, MaxTitle)
	return f.err()
}

// CheckBatch reports what is wrong with the number of hodls in one request, or nil.
func CheckBatch(path string, n int) error {
	var f faults
	if n == 0 {
		f.add(path, "is empty; send at least one")
	}
	f.count(path, n, MaxBatch)
	return f.err()
}

// CheckAddress reports what is wrong with an address, or nil.
func CheckAddress(path, s string) error {
	var f faults
	f.address(path, s)
	return f.err()
}

// CheckPath reports what is wrong with a path on somebody's machine, or nil.
func CheckPath(path, s string) error {
	var f faults
	f.text(path, s, MaxPath)
	return f.err()
}

// CheckName reports what is wrong with the name of a key or workspace, or nil.
func CheckName(path, name string) error {
	var f faults
	f.required(path, name, MaxName)
	return f.err()
}

func strs[S ~string](list []S) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}
