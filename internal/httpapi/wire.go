package httpapi

import (
	"encoding/base64"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"

	"hodl"
	"hodl/internal/decode"
)

// jsonFormat is JSON as this API speaks it: case-sensitive, no repeated names, valid
// UTF-8 only, and lists that are never null.
var jsonFormat = huma.Format{
	Marshal: func(w io.Writer, v any) error { return json.MarshalWrite(w, v, json.Deterministic(true)) },
	Unmarshal: func(data []byte, v any) error {
		if err := json.Unmarshal(data, v); err != nil {
			return flat{decode.Fault(err)}
		}
		if checked, ok := v.(*any); ok { // huma asks for this to hold it against the schema
			*checked = showNulls(*checked)
		}
		return nil
	},
}

// A null stands where the document wants a value. huma passes over those of optional
// fields, so that a PATCH which means to clear something would change nothing and
// say it was done; a type of our own it refuses.
type null struct{}

func showNulls(v any) any {
	switch v := v.(type) {
	case nil:
		return null{}
	case map[string]any:
		for name, member := range v {
			v[name] = showNulls(member)
		}
	case []any:
		for i, item := range v {
			v[i] = showNulls(item)
		}
	}
	return v
}

// A cursor is where a page ended: opaque to clients, and nothing but a place in
// their own list.
func encodeCursor(parts ...string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strings.Join(parts, "\x00")))
}

func decodeCursor(s string, n int) ([]string, error) {
	raw, err := base64.RawURLEncoding.DecodeString(s)
	parts := strings.Split(string(raw), "\x00")
	if err != nil || len(parts) != n || !utf8.Valid(raw) {
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

// entityTag reads If-Match: one entity tag, or [hodl.AnyVersion].
func entityTag(header string) string {
	return strings.Trim(strings.TrimPrefix(header, "W/"), `"`)
}

// ifMatch reads it where nothing is made: what is not there is refused anyway.
func ifMatch(header string) string {
	if tag := entityTag(header); tag != hodl.AnyVersion {
		return tag
	}
	return ""
}
