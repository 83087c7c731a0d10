// Package decode reads the JSON of callers strictly (case-sensitive, no unknown or
// repeated names, valid UTF-8) and says what is wrong with it in words of JSON.
package decode

import (
	"errors"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"hodl"
)

// Hint is what to do about text that is no JSON.
const Hint = "send one JSON value in UTF-8, without repeated names"

// Strict reads data into v, or returns a [hodl.Error] that names the field at fault.
func Strict(data []byte, v any) error {
	if err := json.Unmarshal(data, v, json.RejectUnknownMembers(true)); err != nil {
		return Fault(err)
	}
	return nil
}

// Fault says what is wrong with a body in words of JSON: the names of our Go types
// are nobody's business.
func Fault(err error) *hodl.Error {
	if wrong, ok := errors.AsType[*json.SemanticError](err); ok {
		path := pathOf(wrong.JSONPointer)
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
		if path := pathOf(bad.JSONPointer); path != "" {
			why += ", in " + path
		}
	}
	return hodl.Errorf(hodl.MalformedJSON, "the body is not JSON: %s", why).WithHint("%s", Hint)
}

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

// longest is how much of a path is repeated to who sent it.
const longest = 256

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
	if s := b.String(); len(s) <= longest {
		return s
	}
	return strings.ToValidUTF8(b.String()[:longest], "")
}
