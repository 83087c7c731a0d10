package httpapi

import (
	"bytes"
	_ "embed"
	"html/template"
	"strings"

	pages "hodl/docs"
)

//go:embed errors.html
var errorsHTML string

var errorsTemplate = template.Must(template.New("errors").Parse(errorsHTML))

type errorsSection struct {
	Code       string
	Paragraphs [][]span
}

// A span is a piece of a line: code, or not.
type span struct {
	Text string
	Code bool
}

// errorsPage shows docs/errors.md, with an anchor a code: hints lead here.
func errorsPage() ([]byte, error) {
	head, rest, _ := strings.Cut(pages.Errors, "\n## ")
	_, about, _ := strings.Cut(head, "\n")
	var sections []errorsSection
	for text := range strings.SplitSeq(rest, "\n## ") {
		code, body, _ := strings.Cut(text, "\n")
		sections = append(sections, errorsSection{code, paragraphs(body)})
	}
	var page bytes.Buffer
	err := errorsTemplate.Execute(&page, map[string]any{"About": paragraphs(about), "Sections": sections})
	return page.Bytes(), err
}

// paragraphs reads as much Markdown as that page has.
func paragraphs(text string) [][]span {
	var out [][]span
	for p := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		var spans []span
		for i, piece := range strings.Split(p, "`") {
			spans = append(spans, span{piece, i%2 == 1})
		}
		out = append(out, spans)
	}
	return out
}
