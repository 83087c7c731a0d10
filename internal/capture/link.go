package capture

import (
	"net/url"
	"strconv"

	"hodl"
)

// editorLink opens a place in an editor that runs the hodl extension. The
// extension finds the folder by the repository, because absolute paths differ
// from machine to machine.
const editorLink = "vscode://hodl.hodl/open"

// Link returns what opens a hodl at its exact place: an editor link for a place in
// a file, else its address, "" when it has neither.
func Link(h *hodl.Hodl) string {
	l := h.Location
	if l == nil || l.File == "" {
		return h.URL
	}
	q := url.Values{"id": {string(h.ID)}, "file": {l.File}}
	for name, value := range map[string]string{"repository": l.Repository, "branch": l.Branch, "commit": l.Commit} {
		if value != "" {
			q.Set(name, value)
		}
	}
	for name, n := range map[string]int{"line": l.Line, "column": l.Column} {
		if n > 0 {
			q.Set(name, strconv.Itoa(n))
		}
	}
	return editorLink + "?" + q.Encode()
}

func withLink(h hodl.Hodl) hodl.Hodl {
	h.DeepLink = Link(&h)
	return h
}
