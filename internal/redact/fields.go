package redact

import (
	"strconv"
	"strings"
	"sync"

	"hodl"
	"hodl/internal/detect"
)

// A field is one text of the content, with what it means.
type field struct {
	group string // tabs
	i, j  int    // places in lists; -1 where there is none
	name  string // url
	text  *string
	kind  detect.Kind

	page string // the address of the page it was captured from
	file string // the path of the file it was captured from
	// agent says that an agent wrote it: what looks like a placeholder in it is
	// one that the agent was shown.
	agent    bool
	document bool  // it may be one JSON document, read by its strings
	marks    marks // of its text, when it was looked through last
	spans    []detect.Span
	windows  []window // what of it to look through; nil for all
}

// path is where the field stands, as a JSON path.
func (f *field) path() string {
	b := append(make([]byte, 0, 64), f.group...)
	if f.i >= 0 && f.group != "text" {
		b = append(strconv.AppendInt(append(b, '['), int64(f.i), 10), ']')
	}
	if f.name != "" {
		b = append(append(b, '.'), f.name...)
	}
	if f.j >= 0 && f.group != "text" {
		b = append(strconv.AppendInt(append(b, '['), int64(f.j), 10), ']')
	}
	return string(b)
}

// general is the path with * for places in lists.
func (f *field) general() string {
	p := f.path()
	for i := strings.IndexByte(p, '['); i >= 0; {
		end := i + strings.IndexByte(p[i:], ']')
		p = p[:i+1] + "*" + p[end:]
		next := strings.IndexByte(p[i+2:], '[')
		if next < 0 {
			break
		}
		i += 2 + next
	}
	return p
}

// contentFields lists every text of the content that a client can have written, in
// the order that placeholders are numbered in.
func contentFields(c *hodl.Content) []field {
	w := walker{fields: fieldPool.Get().(*fieldList).list}
	w.add("title", -1, "", &c.Title, detect.Text)
	w.add("summary", -1, "", &c.Summary, detect.Text)
	for i := range c.Tabs {
		w.tab(i, &c.Tabs[i])
	}
	for i := range c.Media {
		m := &c.Media[i]
		w.page = m.URL
		w.add("media", i, "url", &m.URL, detect.URL)
		w.add("media", i, "transcript_anchor", &m.Transcript, detect.Text)
	}
	w.page = ""
	for i := range c.Thread {
		w.node(i, &c.Thread[i], c.Provenance[c.Thread[i].ID].Trust == hodl.TrustAgent)
	}
	w.list("ai_tags", -1, "", c.Tags)
	for i := range c.Hodls {
		w.hodl(i, &c.Hodls[i])
	}
	for i := range c.Notes {
		w.agent = c.Notes[i].Trust == hodl.TrustAgent
		w.add("notes", i, "body", &c.Notes[i].Body, detect.Text)
	}
	return w.fields
}

type fieldList struct{ list []field }

var fieldPool = sync.Pool{New: func() any { return new(fieldList) }}

// freeFields forgets fields and keeps their memory for others.
func freeFields(list []field) {
	clear(list)
	fieldPool.Put(&fieldList{list[:0]})
}

type walker struct {
	fields []field
	page   string
	file   string
	agent  bool
}

func (w *walker) add(group string, i int, name string, text *string, kind detect.Kind) {
	if *text != "" {
		w.fields = append(w.fields, field{group: group, i: i, j: -1, name: name, text: text, kind: kind, page: w.page, file: w.file, agent: w.agent})
	}
}

func (w *walker) list(group string, i int, name string, texts []string) {
	for j := range texts {
		w.add(group, i, name, &texts[j], detect.Word)
		if n := len(w.fields); texts[j] != "" {
			w.fields[n-1].j = j
		}
	}
}

func (w *walker) tab(i int, t *hodl.Tab) {
	w.page = t.URL
	w.add("tabs", i, "url", &t.URL, detect.URL)
	w.add("tabs", i, "title", &t.Title, detect.Text)
	w.add("tabs", i, "selected_text", &t.SelectedText, detect.Text)
	w.add("tabs", i, "tab_role", &t.Role, detect.Word)
	w.page = ""
}

func (w *walker) node(i int, n *hodl.Node, agent bool) {
	w.agent = agent
	w.add("reasoning_thread", i, "id", &n.ID, detect.Word)
	w.add("reasoning_thread", i, "text", &n.Text, detect.Text)
	w.list("reasoning_thread", i, "evidence", n.Evidence)
	w.list("reasoning_thread", i, "supports", n.Supports)
	w.list("reasoning_thread", i, "depends_on", n.DependsOn)
	w.agent = false
}

func (w *walker) hodl(i int, h *hodl.Hodl) {
	w.page = h.URL
	if h.Location != nil {
		w.file = h.Location.File
	}
	w.add("hodls", i, "url", &h.URL, detect.URL)
	w.add("hodls", i, "title", &h.Title, detect.Text)
	w.add("hodls", i, "note", &h.Note, detect.Text)
	w.list("hodls", i, "tags", h.Tags)
	if l := h.Location; l != nil {
		w.add("hodls", i, "location.repository", &l.Repository, detect.URL)
		w.add("hodls", i, "location.file", &l.File, detect.Word)
		w.add("hodls", i, "location.branch", &l.Branch, detect.Word)
		w.add("hodls", i, "location.commit", &l.Commit, detect.Word)
		if l.Selection != nil {
			w.add("hodls", i, "location.selection.text", &l.Selection.Text, detect.Text)
		}
	}
	w.add("hodls", i, "deep_link", &h.DeepLink, detect.URL)
	w.page, w.file = "", ""
}

// renameNodes keeps what is known of a node under its name as it is now.
func renameNodes(c *hodl.Content, before []hodl.Node) {
	for i := range before {
		was, now := before[i].ID, c.Thread[i].ID
		if p, ok := c.Provenance[was]; ok && was != now {
			delete(c.Provenance, was)
			c.Provenance[now] = p
		}
	}
}
