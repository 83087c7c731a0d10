package httpapi

import (
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Statuses is where a code becomes a status.
var Statuses = statuses

// Spec returns the OpenAPI document as the server holds it, for tests that hold
// answers against their schemas.
func Spec() *huma.OpenAPI { return described().OpenAPI() }

// Observed is what the metrics show after requests that took so long.
func Observed(took ...time.Duration) string {
	m := newMetrics(nil)
	for _, t := range took {
		m.observe("GET /x", http.StatusOK, t)
	}
	var out strings.Builder
	m.set.WritePrometheus(&out)
	return out.String()
}

// MakeDocument makes the OpenAPI document from the code.
func MakeDocument() ([]byte, error) { return document(prepared()) }

// Served returns what of it a server makes to hold requests against.
func Served() *huma.OpenAPI { return new(server).build(http.NewServeMux(), 0) }

func described() huma.API {
	s := &server{metrics: newMetrics(nil)}
	api := newHuma(http.NewServeMux())
	s.routes(router{API: api})
	return api
}

func prepared() huma.API {
	api := described()
	pathsOfFiles(api.OpenAPI())
	share(api.OpenAPI())
	return api
}

// OperationsOf lists the operations of a path, by method.
var OperationsOf = operationsOf

var AddressOf = addressOf
