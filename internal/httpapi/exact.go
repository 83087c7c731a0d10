package httpapi

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// exact is a body that the core checks, every fault at once and by its path. huma
// would name the first, and loses its way behind a name with a dot in it.
type exact[T any] struct{ Value T }

func (exact[T]) isLenient() {}

// UnmarshalJSONFrom is asked by the format. A field that is not known is refused.
func (e *exact[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	return json.UnmarshalDecode(d, &e.Value, json.RejectUnknownMembers(true))
}

// Schema is asked by huma for the OpenAPI document.
func (exact[T]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[T](), true, "")
}
