package httpapi

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"hodl"
)

// jsonFormat is JSON as this API speaks it: case-sensitive, no repeated names, valid
// UTF-8 only, and lists that are never null.
var jsonFormat = huma.Format{
	Marshal:   func(w io.Writer, v any) error { return json.MarshalWrite(w, v, json.Deterministic(true)) },
	Unmarshal: func(data []byte, v any) error { return json.Unmarshal(data, v) },
}

// lenient is the body of a call whose published clients cannot react to a refusal:
// fields it does not know are dropped and named.
type lenient[T any] struct {
	Value   T
	Unknown []string
	err     error // told by get: huma would bury it in one of its own
}

func (*lenient[T]) isLenient() {}

// UnmarshalJSON is asked by the format.
func (l *lenient[T]) UnmarshalJSON(data []byte) error {
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
		return nil, decodeError(l.err)
	}
	return &l.Value, nil
}

// Schema is asked by huma for the OpenAPI document: T's, open for more.
func (l *lenient[T]) Schema(r huma.Registry) *huma.Schema {
	s := *r.SchemaFromRef(r.Schema(reflect.TypeFor[T](), true, "").Ref)
	s.AdditionalProperties = true
	return &s
}

// decodeError names the field that has the wrong type.
func decodeError(err error) error {
	if wrong, ok := errors.AsType[*json.SemanticError](err); ok && wrong.JSONPointer != "" {
		return hodl.Invalid(pathOf(wrong.JSONPointer), "has the wrong type: a JSON "+wrong.JSONKind.String()+" does not fit")
	}
	return hodl.Errorf(hodl.MalformedJSON, "the body is not JSON: %s", err).WithHint("%s", hints[hodl.MalformedJSON])
}

// pathOf writes a JSON pointer (RFC 6901) as tabs[3].url.
func pathOf(p jsontext.Pointer) string {
	var b strings.Builder
	for token := range p.Tokens() {
		if _, err := strconv.Atoi(token); err == nil {
			b.WriteString("[" + token + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(token)
	}
	return b.String()
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
		for name, x := range v {
			f, known := fieldNamed(t, name)
			switch {
			case known:
				out = unknown(join(at, name), x, f.Type, out)
			case len(out) < enough:
				out = append(out, join(at, name)+": unknown field; dropped")
			}
		}
	}
	return out
}

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

// A cursor is where a page ended: opaque to clients, and nothing but a place in
// their own list.
func encodeCursor(parts ...string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strings.Join(parts, "\x00")))
}

func decodeCursor(s string, n int) ([]string, error) {
	raw, err := base64.RawURLEncoding.DecodeString(s)
	parts := strings.Split(string(raw), "\x00")
	if err != nil || len(parts) != n {
		return nil, hodl.Invalid("cursor", "is not a next_cursor of this list")
	}
	return parts, nil
}

func encodeTime(t time.Time) string { return strconv.FormatInt(t.UnixMicro(), 36) }

func decodeTime(s string) (time.Time, error) {
	us, err := strconv.ParseInt(s, 36, 64)
	if err != nil {
		return time.Time{}, hodl.Invalid("cursor", "is not a next_cursor of this list")
	}
	return time.UnixMicro(us), nil
}

// Paging are the parameters every list takes.
type Paging struct {
	Limit  int    `query:"limit" doc:"How many, 1 to 100; 20 when absent. More or less is brought within"`
	Cursor string `query:"cursor" doc:"next_cursor of the page before"`
	Since  string `query:"since" doc:"Only what came at or after this time (RFC 3339)"`
}

func (p *Paging) limit() int {
	if p.Limit == 0 {
		return hodl.DefaultOnPage
	}
	return min(max(p.Limit, 1), hodl.MaxPerPage)
}

func (p *Paging) since() (time.Time, error) { return parseTime("since", p.Since) }

func parseTime(field, s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return t, hodl.Invalid(field, "is not a time such as 2026-05-05T22:14:08Z (RFC 3339)")
	}
	return t, nil
}

// more returns the cursor behind the last of a full page, nil when the list ends.
func more[T any](page []T, limit int, cursor func(T) string) *string {
	if len(page) < limit {
		return nil
	}
	c := cursor(page[len(page)-1])
	return &c
}

// etag quotes a fingerprint as an entity tag (RFC 9110 §8.8.3).
func etag(fingerprint string) string { return strconv.Quote(fingerprint) }

// ifMatch reads If-Match: one entity tag, or * for any.
func ifMatch(header string) string {
	if header == "*" {
		return ""
	}
	return strings.Trim(strings.TrimPrefix(header, "W/"), `"`)
}
