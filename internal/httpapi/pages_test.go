package httpapi

import (
	"bytes"
	"html/template"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	pages "hodl/docs"
)

type docsOperation struct {
	Method, Path, Summary, Needs, ID string
	Params                           []docsField
	Body, Answer                     []docsField
	Statuses                         []string
}

type docsField struct {
	Name, Type, Doc string
	Required        bool
}

// DocsPage renders the reference from the OpenAPI document: no script, nothing
// fetched, so that it works offline.
func DocsPage() ([]byte, error) {
	spec := prepared().OpenAPI()
	return page("testdata/docs.html.tmpl", map[string]any{"Title": spec.Info.Title, "Version": spec.Info.Version, "About": spec.Info.Description, "Operations": describe(spec)})
}

// page fills a template. A server has the pages as they were committed, and no
// templates: they would keep every method of every type in the binary.
func page(file string, data any) ([]byte, error) {
	t, err := template.ParseFiles(file)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, data)
	return out.Bytes(), err
}

func describe(spec *huma.OpenAPI) []docsOperation {
	var out []docsOperation
	for path, item := range spec.Paths {
		for method, o := range operationsOf(item) {
			out = append(out, describeOperation(spec, method, path, o))
		}
	}
	slices.SortFunc(out, func(a, b docsOperation) int {
		return strings.Compare(a.Path+" "+a.Method, b.Path+" "+b.Method)
	})
	return out
}

func describeOperation(spec *huma.OpenAPI, method, path string, o *huma.Operation) docsOperation {
	d := docsOperation{Method: method, Path: path, Summary: o.Summary, ID: o.OperationID}
	d.Needs, _ = o.Metadata["needs"].(string)
	for _, p := range o.Parameters {
		d.Params = append(d.Params, docsField{p.Name + " (" + p.In + ")", typeOf(p.Schema), p.Description, p.Required})
	}
	if o.RequestBody != nil {
		d.Body = fieldsOf(spec, o.RequestBody.Content)
	}
	for status, r := range o.Responses {
		d.Statuses = append(d.Statuses, status)
		if strings.HasPrefix(status, "2") {
			d.Answer = fieldsOf(spec, r.Content)
		}
	}
	slices.Sort(d.Statuses)
	return d
}

func fieldsOf(spec *huma.OpenAPI, content map[string]*huma.MediaType) []docsField {
	media := content["application/json"]
	if media == nil || media.Schema == nil {
		return nil
	}
	schema := media.Schema
	if schema.Ref != "" {
		schema = spec.Components.Schemas.SchemaFromRef(schema.Ref)
	}
	var out []docsField
	for name, p := range schema.Properties {
		out = append(out, docsField{name, typeOf(p), p.Description, slices.Contains(schema.Required, name)})
	}
	slices.SortFunc(out, func(a, b docsField) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func typeOf(s *huma.Schema) string {
	switch {
	case s == nil:
		return ""
	case s.Ref != "":
		return s.Ref[strings.LastIndex(s.Ref, "/")+1:]
	case s.Type == "array":
		return "list of " + typeOf(s.Items)
	}
	return s.Type
}

type errorsSection struct {
	Code       string
	Paragraphs [][]span
}

// A span is a piece of a line: code, or not.
type span struct {
	Text string
	Code bool
}

// ErrorsPage shows docs/errors.md, with an anchor a code: hints lead here.
func ErrorsPage() ([]byte, error) {
	head, rest, _ := strings.Cut(pages.Errors, "\n## ")
	_, about, _ := strings.Cut(head, "\n")
	var sections []errorsSection
	for text := range strings.SplitSeq(rest, "\n## ") {
		code, body, _ := strings.Cut(text, "\n")
		sections = append(sections, errorsSection{code, paragraphs(body)})
	}
	return page("testdata/errors.html.tmpl", map[string]any{"About": paragraphs(about), "Sections": sections})
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
