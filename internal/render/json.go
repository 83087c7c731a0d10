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

func writeJSON(v *View) ([]byte, error) { return marshal(JSON, &v.context) }

func marshal(f Format, body any) ([]byte, error) {
	out, err := json.Marshal(body, asObject)
	if err != nil {
		return nil, fmt.Errorf("render as %s: %w", f, err)
	}
	return out, nil
}
