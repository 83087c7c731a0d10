package httpapi

import (
	"bytes"
	_ "embed"
	"html/template"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

//go:embed docs.html
var docsPage string

var docsTemplate = template.Must(template.New("docs").Parse(docsPage))

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

// docs renders the reference from the OpenAPI document: no script, nothing fetched,
// so that it works offline.
func docs(spec *huma.OpenAPI) ([]byte, error) {
	var page bytes.Buffer
	err := docsTemplate.Execute(&page, map[string]any{"Title": spec.Info.Title, "Version": spec.Info.Version, "About": spec.Info.Description, "Operations": describe(spec)})
	return page.Bytes(), err
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
