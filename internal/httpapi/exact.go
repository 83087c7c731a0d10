package httpapi

import (
	"errors"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// exact is a body that the core checks, every fault at once and by its path. huma
// would name the first, and loses its way behind a name with a dot in it.
type exact[T any] struct{ Value T }

func (exact[T]) isLenient() {}

// UnmarshalJSONFrom is asked by the format. A field that is not known is refused, and
// so is null, which would mean to leave out what is there.
func (e *exact[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	return json.UnmarshalDecode(d, &e.Value, json.RejectUnknownMembers(true), json.WithUnmarshalers(noNull))
}

// noNull is asked before every value, and leaves those that are not null to others.
var noNull = json.UnmarshalFromFunc(func(d *jsontext.Decoder, _ any) error {
	if d.PeekKind() == 'n' {
		return errNull
	}
	return errors.ErrUnsupported
})

var errNull = errors.New("null")

// Schema is asked by huma for the OpenAPI document.
func (exact[T]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[T](), true, "")
}
