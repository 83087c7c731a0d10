package httpapi

import (
	"net/url"
	"reflect"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"

	"hodl"
	"hodl/internal/decode"
)

// formType is what OAuth clients send (RFC 6749, appendix B).
const formType = "application/x-www-form-urlencoded"

// FormOrJSON is the input of a route whose body is JSON, or a form as OAuth has it.
type FormOrJSON struct {
	Kind    string `header:"Content-Type" hidden:"true"`
	RawBody []byte
}

// A formRequest tells what its two bodies look like.
type formRequest interface {
	bodies() (asJSON, asForm reflect.Type)
}

// describeBodies says in an operation that its body comes in two types. huma then
// leaves the body to the handler.
func describeBodies(o *huma.Operation, in formRequest, r huma.Registry) {
	asJSON, asForm := in.bodies()
	o.SkipValidateBody = true
	o.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
		"application/json": {Schema: r.Schema(asJSON, true, "")},
		formType:           {Schema: r.Schema(asForm, true, "")},
	}}
}

func (in *FormOrJSON) isForm() bool { return in.Kind == formType }

// decode reads a JSON body, in which unknown fields are refused.
func (in *FormOrJSON) decode(v any) error {
	if err := json.Unmarshal(in.RawBody, v, json.RejectUnknownMembers(true)); err != nil {
		return decode.Fault(err)
	}
	return nil
}

// form reads a form. What it holds beside the names asked for is ignored, and a
// name that stands twice refused (RFC 6749 §3.2).
func (in *FormOrJSON) form(fields map[string]*string) error {
	values, err := url.ParseQuery(string(in.RawBody))
	if err != nil {
		return hodl.Errorf(hodl.BadRequest, "the body is not a form").WithHint("send name=value pairs, percent-encoded, joined by &")
	}
	for name, into := range fields {
		if len(values[name]) > 1 {
			return hodl.Invalid(name, "stands more than once")
		}
		if *into = values.Get(name); !utf8.ValidString(*into) {
			return hodl.Invalid(name, "is not valid UTF-8")
		}
	}
	return nil
}
