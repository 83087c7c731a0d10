package httpapi

import (
	"errors"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"hodl"
)

// decodeError says what is wrong with a body in words of JSON: the names of our Go
// types are nobody's business.
func decodeError(err error) *hodl.Error {
	if wrong, ok := errors.AsType[*json.SemanticError](err); ok {
		path := clip(pathOf(wrong.JSONPointer), longestPath)
		if path == "" {
			path = "body"
		}
		if errors.Is(err, json.ErrUnknownName) {
			return hodl.Invalid(path, "is no field of this request; leave it out")
		}
		return hodl.Invalid(path, misfit(wrong))
	}
	why := "it ends too early"
	if bad, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		why = strings.TrimPrefix(bad.Err.Error(), "jsontext: ") + " at byte " + strconv.FormatInt(bad.ByteOffset, 10)
		if path := clip(pathOf(bad.JSONPointer), longestPath); path != "" {
			why += ", in " + path
		}
	}
	return hodl.Errorf(hodl.MalformedJSON, "the body is not JSON: %s", why).WithHint("%s", hints[hodl.MalformedJSON])
}

// longestPath is how much of a path is repeated to who sent it.
const longestPath = 256

// misfit tells what a value is and what it must be.
func misfit(wrong *json.SemanticError) string {
	is, known := kinds[wrong.JSONKind]
	if !known {
		is = "of the wrong type"
	}
	must := "of another type"
	if wrong.GoType != nil {
		must = shapeOf(wrong.GoType)
	}
	if is == must || wrong.JSONKind == '0' && must == "a whole number" {
		return "is out of range; it must be " + must + " that fits"
	}
	return "is " + is + "; it must be " + must
}

var kinds = map[jsontext.Kind]string{
	'n': "null", 't': "a boolean", 'f': "a boolean", '"': "a string", '0': "a number", '{': "an object", '[': "an array",
}

// shapeOf names the JSON that fits a Go type.
func shapeOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return shapeOf(t.Elem())
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "a boolean"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "an array"
	}
	return "an object"
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
