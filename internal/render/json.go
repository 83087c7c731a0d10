package render

import (
	"fmt"

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
	body, err := marshal(JSON, &v.context)
	return onLines(body), err
}

// onLines puts each member of an object, and each item of a list that is a member, on
// a line of its own: there are readers that take a text by its lines, and lines cost
// next to nothing. The body is compact and well formed.
func onLines(body []byte) []byte {
	out := make([]byte, 0, len(body)+len(body)/32)
	depth, list, quoted := 0, false, false
	for i := 0; i < len(body); i++ {
		c := body[i]
		out = append(out, c)
		switch {
		case quoted && c == '\\':
			i++
			out = append(out, body[i])
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			list = depth == 2 && c == '[' || depth > 2 && list
		case c == '}' || c == ']':
			depth--
		case c == ',' && (depth == 1 || depth == 2 && list):
			out = append(out, '\n')
		}
	}
	return out
}

func marshal(f Format, body any) ([]byte, error) {
	out, err := json.Marshal(body, asObject)
	if err != nil {
		return nil, fmt.Errorf("render as %s: %w", f, err)
	}
	return out, nil
}
