package httpapi

import (
	"github.com/go-json-experiment/json"

	"hodl"
)

// longestPath is how much of a path is repeated to who sent it.
const longestPath = 256

// flat carries a refusal through huma, which keeps of a decoder's error only the
// text: the text is the refusal, encoded.
type flat struct{ refusal *hodl.Error }

func (f flat) Error() string {
	text, _ := json.Marshal(errorDetail{f.refusal.Code, f.refusal.Message, f.refusal.Hint, f.refusal.Fields}) // strings cannot fail to encode
	return string(text)
}

// unflatten returns the refusal that a flat error's text holds.
func unflatten(text string) (*hodl.Error, bool) {
	var d errorDetail
	if err := json.Unmarshal([]byte(text), &d); err != nil || d.Code == "" {
		return nil, false
	}
	return &hodl.Error{Code: d.Code, Message: d.Message, Hint: d.Hint, Fields: d.Fields}, true
}
