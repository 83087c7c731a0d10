package httpapi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hodl/internal/httpapi"
)

var update = flag.Bool("update", false, "rewrite the golden files")

type object = map[string]any

// Clients are built against the committed document, so it changes only together
// with the version it states.
func TestGoldenDocument(t *testing.T) {
	changed := golden(t, "openapi.json", httpapi.MakeDocument)
	if changed != nil && versionOf(t, changed) == httpapi.Version {
		t.Errorf("the document changed and httpapi.Version is still %s: raise it", httpapi.Version)
	}
}

// A server leaves the descriptions of answers out, and holds requests against the very
// schemas of the document.
func TestServedSchemas(t *testing.T) {
	documented, served := httpapi.Spec(), httpapi.Served()
	for path, item := range documented.Paths {
		for method, want := range httpapi.OperationsOf(item) {
			got := httpapi.OperationsOf(served.Paths[strings.ReplaceAll(path, "...}", "}")])[method]
			if diff := cmp.Diff(asJSON(t, want.Parameters)+asJSON(t, want.RequestBody), asJSON(t, got.Parameters)+asJSON(t, got.RequestBody)); diff != "" {
				t.Errorf("%s %s: %s", method, path, diff)
			}
		}
	}
	all := documented.Components.Schemas.Map()
	for name, got := range served.Components.Schemas.Map() {
		if diff := cmp.Diff(asJSON(t, all[name]), asJSON(t, got)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for _, ref := range regexp.MustCompile(`"#/components/schemas/[^"]+"`).FindAllString(asJSON(t, served.Paths), -1) {
		if served.Components.Schemas.SchemaFromRef(strings.Trim(ref, `"`)) == nil {
			t.Errorf("%s is not there", ref)
		}
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The pages are made from the document and from docs/errors.md.
func TestGoldenPages(t *testing.T) {
	golden(t, "docs.html", httpapi.DocsPage)
	golden(t, "errors.html", httpapi.ErrorsPage)
}

// golden holds what is made against what is committed, or writes it. What was
// committed comes back when it differs.
func golden(t *testing.T, file string, make func() ([]byte, error)) []byte {
	t.Helper()
	got, err := make()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return nil
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(got, want) {
		return nil
	}
	t.Errorf("what is made is not %s; run: go test ./internal/httpapi -run Golden -update\n%s", file, cmp.Diff(string(want), string(got)))
	return want
}

func versionOf(t *testing.T, document []byte) string {
	t.Helper()
	info, _ := decode(t, document)["info"].(object)
	version, _ := info["version"].(string)
	return version
}

func decode(t *testing.T, body []byte) object {
	t.Helper()
	var o object
	if err := json.Unmarshal(body, &o); err != nil {
		t.Fatalf("%v in %.300s", err, body)
	}
	return o
}

func document(t *testing.T) object {
	t.Helper()
	return decode(t, httpapi.Document())
}

// eachObject visits every object within v, with its path.
func eachObject(at string, v any, visit func(at string, o object)) {
	switch v := v.(type) {
	case object:
		visit(at, v)
		for name, x := range v {
			eachObject(at+"/"+strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1"), x, visit)
		}
	case []any:
		for _, x := range v {
			eachObject(at+"/*", x, visit)
		}
	}
}

// What a reader of OpenAPI 3.1 may count on: references lead somewhere, path
// parameters are declared, operations have ids, responses have descriptions, and
// types are JSON Schema's.
func TestDocumentIsValidOpenAPI(t *testing.T) {
	spec := document(t)
	if v, _ := spec["openapi"].(string); !strings.HasPrefix(v, "3.1.") {
		t.Errorf("openapi is %v", spec["openapi"])
	}
	types := []string{"string", "number", "integer", "boolean", "array", "object", "null"}
	eachObject("#", spec, func(at string, o object) {
		if ref, ok := o["$ref"].(string); ok && !resolves(spec, ref) {
			t.Errorf("%s refers to %s, which is not there", at, ref)
		}
		if !strings.Contains(at, "/schemas/") || strings.HasSuffix(at, "/properties") {
			return
		}
		for _, name := range typesOf(o["type"]) {
			if !slices.Contains(types, name) {
				t.Errorf("%s has the type %q", at, name)
			}
		}
		if o["type"] == "array" && o["items"] == nil {
			t.Errorf("%s is an array of nothing", at)
		}
		required, _ := o["required"].([]any)
		properties, _ := o["properties"].(object)
		for _, name := range required {
			if properties[name.(string)] == nil {
				t.Errorf("%s requires %v and has no such property", at, name)
			}
		}
	})
}

func typesOf(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, x := range v {
			out = append(out, x.(string))
		}
		return out
	}
	return nil
}

func resolves(spec object, ref string) bool {
	var at any = spec
	for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		o, _ := at.(object)
		if at = o[part]; at == nil {
			return false
		}
	}
	return true
}

var braces = regexp.MustCompile(`\{(\w+)\}`)

func TestOperationsAreComplete(t *testing.T) {
	ids := map[string]bool{}
	for path, item := range document(t)["paths"].(object) {
		for method, x := range item.(object) {
			o := x.(object)
			at := method + " " + path
			id, _ := o["operationId"].(string)
			if id == "" || ids[id] {
				t.Errorf("%s has the operationId %q", at, id)
			}
			ids[id] = true
			var declared []string
			parameters, _ := o["parameters"].([]any)
			for _, p := range parameters {
				if p := p.(object); p["in"] == "path" {
					declared = append(declared, p["name"].(string))
				}
			}
			for _, name := range braces.FindAllStringSubmatch(path, -1) {
				if !slices.Contains(declared, name[1]) {
					t.Errorf("%s does not declare %s", at, name[1])
				}
			}
			if o["summary"] == "" || o["security"] == nil {
				t.Errorf("%s has no summary or security", at)
			}
			responses := o["responses"].(object)
			for status, r := range responses {
				if r := r.(object); r["$ref"] == nil && r["description"] == nil {
					t.Errorf("%s: %s is not described", at, status)
				}
			}
			for _, status := range []string{"400", "401", "403", "429", "500", "503"} {
				if responses[status] == nil {
					t.Errorf("%s does not tell of %s", at, status)
				}
			}
		}
	}
}

// What is sent to the lenient calls may hold more than is named, at every depth;
// what is sent to the others may not; what is answered may.
func TestWhereUnknownFieldsAreAllowed(t *testing.T) {
	schemas := document(t)["components"].(object)["schemas"].(object)
	for name, want := range map[string]any{
		"LenientSessionDraft": true, "LenientHodlDraft": true, "LenientTab": true, "LenientNode": true, "LenientLocation": true, "LenientSelection": true,
		"SessionDraft": false, "Tab": false, "Node": false, "TokenDraft": false, "HodlChange": false,
		"SessionBody": nil, "HodlBody": nil, "Record": nil, "ContextBody": nil, "ErrorBody": nil,
	} {
		schema, ok := schemas[name].(object)
		if !ok {
			t.Errorf("there is no schema %s", name)
			continue
		}
		if got := schema["additionalProperties"]; got != want {
			t.Errorf("%s: additionalProperties is %v, want %v", name, got, want)
		}
	}
}

// The document states each limit that the core enforces.
func TestDocumentTellsLimits(t *testing.T) {
	schemas := document(t)["components"].(object)["schemas"].(object)
	for _, tt := range []struct {
		schema, field, limit string
		want                 float64
	}{
		{"SessionDraft", "tabs", "maxItems", 1000},
		{"SessionDraft", "title", "maxLength", 1024},
		{"LenientHodlDraft", "note", "maxLength", 64 << 10},
		{"LenientHodlDraft", "tags", "maxItems", 64},
		{"Tab", "url", "maxLength", 8 << 10},
		{"LenientTab", "selected_text", "maxLength", 64 << 10},
		{"Location", "file", "maxLength", 4 << 10},
		{"TokenDraft", "audience", "maxLength", 512},
		{"TokenDraft", "ttl_seconds", "maximum", 86400},
		{"TokenDraft", "max_hydrations", "minimum", 1},
		{"Node", "confidence", "maximum", 1},
	} {
		properties := schemas[tt.schema].(object)["properties"].(object)
		field, _ := properties[tt.field].(object)
		if field[tt.limit] != tt.want {
			t.Errorf("%s.%s: %s is %v, want %v", tt.schema, tt.field, tt.limit, field[tt.limit], tt.want)
		}
	}
}

func TestCaptureAnswersEitherShape(t *testing.T) {
	spec := document(t)
	raw, _ := json.Marshal(spec["paths"].(object)["/v1/hodl"])
	for _, shape := range []string{`"oneOf"`, "/CapturedBody", "/HodlBody"} {
		if !bytes.Contains(raw, []byte(shape)) {
			t.Errorf("POST /v1/hodl does not tell of %s: %.400s", shape, raw)
		}
	}
}
