package render

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// asObject makes equal contexts equal bytes: members in the order of
// hodl.ResumeContext, map members sorted, no HTML escapes, numbers in their
// shortest form. An optional number that is 0 is left out, as clients expect.
var asObject = json.JoinOptions(
	json.Deterministic(true),
	jsontext.AllowInvalidUTF8(true), // one bad byte becomes U+FFFD and costs nobody the session
	jsonv1.OmitEmptyWithLegacySemantics(true),
)

func writeJSON(v *View) ([]byte, error) {
	b := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(b)
	b.Reset()
	if err := json.MarshalWrite(b, &v.context, asObject); err != nil {
		return nil, fmt.Errorf("render as %s: %w", JSON, err)
	}
	return onLines(b.Bytes()), nil
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// onLines puts each member of an object, and each item of a list that is a member, on
// a line of its own: there are readers that take a text by its lines, and lines cost
// next to nothing. The body, which it copies, is compact and well formed.
func onLines(body []byte) []byte {
	out := make([]byte, 0, len(body)+len(body)/32)
	depth, list, copied := 0, false, 0
	for i := 0; i < len(body); i++ {
		switch c := body[i]; c {
		case '"':
			i += 1 + stringEnd(body[i+1:])
		case '{', '[':
			depth++
			list = depth == 2 && c == '[' || depth > 2 && list
		case '}', ']':
			depth--
		case ',':
			if depth == 1 || depth == 2 && list {
				out = append(append(out, body[copied:i+1]...), '\n')
				copied = i + 1
			}
		}
	}
	return append(out, body[copied:]...)
}

// stringEnd returns where the quote is that ends a string; text begins within it.
func stringEnd(text []byte) int {
	for i := 0; ; i++ {
		i += bytes.IndexByte(text[i:], '"')
		slashes := 0
		for i > slashes && text[i-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
	}
}

func marshal(f Format, body any) ([]byte, error) {
	out, err := json.Marshal(body, asObject)
	if err != nil {
		return nil, fmt.Errorf("render as %s: %w", f, err)
	}
	return out, nil
}
