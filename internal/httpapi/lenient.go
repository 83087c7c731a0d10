package httpapi

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"

	"hodl/internal/decode"
)

// lenient is the body of a call whose published clients cannot react to a refusal:
// fields it does not know are dropped and named.
type lenient[T any] struct {
	Value   T
	Unknown []string
	err     error // told by get: huma would bury it in one of its own
}

func (*lenient[T]) isLenient() {}

// UnmarshalJSON is asked by the format. Most bodies have no unknown field, and are
// read once.
func (l *lenient[T]) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &l.Value, json.RejectUnknownMembers(true)) == nil {
		return nil
	}
	l.Value = *new(T)
	if l.err = json.Unmarshal(data, &l.Value); l.err != nil {
		return nil
	}
	var raw any
	if l.err = json.Unmarshal(data, &raw); l.err == nil {
		l.Unknown = unknown("", raw, reflect.TypeFor[T](), nil)
	}
	return nil
}

// get returns the value, or what is wrong with the body.
func (l *lenient[T]) get() (*T, error) {
	if l.err != nil {
		return nil, decode.Fault(l.err)
	}
	return &l.Value, nil
}

// Schema is asked by huma for the OpenAPI document: T's, open for more at every
// depth.
func (l *lenient[T]) Schema(r huma.Registry) *huma.Schema {
	if several, ok := any(l.Value).(interface{ shapes() []reflect.Type }); ok {
		s := &huma.Schema{}
		for _, t := range several.shapes() {
			s.AnyOf = append(s.AnyOf, opened(r, r.Schema(t, true, "").Ref))
		}
		return s
	}
	return opened(r, r.Schema(reflect.TypeFor[T](), true, "").Ref)
}

// opened registers a copy of a schema that allows fields it does not name, in
// itself and in what it refers to, and returns a reference to it.
func opened(r huma.Registry, ref string) *huma.Schema {
	at := strings.LastIndex(ref, "/") + 1
	name := "Lenient" + ref[at:]
	if _, done := r.Map()[name]; !done {
		s := *r.SchemaFromRef(ref)
		r.Map()[name] = &s
		s.AdditionalProperties = true
		properties := make(map[string]*huma.Schema, len(s.Properties))
		for field, p := range s.Properties {
			properties[field] = openedProperty(r, p)
			if !slices.Contains(s.Required, field) {
				properties[field] = nullable(properties[field])
			}
		}
		s.Properties = properties
	}
	return &huma.Schema{Ref: ref[:at] + name}
}

func openedProperty(r huma.Registry, p *huma.Schema) *huma.Schema {
	out := *p
	switch {
	case p.Ref != "":
		out.Ref = opened(r, p.Ref).Ref
	case p.Items != nil:
		out.Items = openedProperty(r, p.Items)
	}
	return &out
}

// nullable lets null stand for a field that may be absent: published clients send it.
func nullable(p *huma.Schema) *huma.Schema {
	if p.Ref != "" {
		return &huma.Schema{AnyOf: []*huma.Schema{{Ref: p.Ref}, {Type: "null"}}, Description: p.Description}
	}
	out := *p
	out.Nullable = true
	if len(out.Enum) > 0 {
		out.Enum = append(slices.Clone(out.Enum), nil)
	}
	return &out
}

// unknown lists the members of v that t has no field for.
func unknown(at string, v any, t reflect.Type, out []string) []string {
	const enough = 50
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch v := v.(type) {
	case []any:
		if t.Kind() == reflect.Slice {
			for i, x := range v {
				out = unknown(fmt.Sprintf("%s[%d]", at, i), x, t.Elem(), out)
			}
		}
	case map[string]any:
		if t.Kind() != reflect.Struct {
			return out
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			f, known := fieldNamed(t, name)
			switch {
			case known:
				out = unknown(join(at, name), v[name], f.Type, out)
			case len(out) < enough:
				out = append(out, join(at, clip(name, longestName))+": unknown field; dropped")
			}
		}
	}
	return out
}

// longestName is how much of a name we do not know is repeated to its sender.
const longestName = 128

func fieldNamed(t reflect.Type, name string) (reflect.StructField, bool) {
	for f := range t.Fields() {
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag == name {
			return f, true
		}
		if f.Anonymous && tag == "" {
			if inner, known := fieldNamed(f.Type, name); known {
				return inner, true
			}
		}
	}
	return reflect.StructField{}, false
}

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}
