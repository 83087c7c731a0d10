package httpapi

import (
	"context"
	_ "embed" // the documents
	"io"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"

	"hodl"
)

// plainRoutes are those that are no operations: they take no credentials and are
// read by machines of other kinds.
func (s *server) plainRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /openapi.json", serveMade("application/json", openapi))
	mux.HandleFunc("GET /docs", serveMade("text/html; charset=utf-8", docsPage))
	mux.HandleFunc("GET /docs/errors", serveMade("text/html; charset=utf-8", errorsPage))
	mux.Handle("GET /metrics", s.metrics.handler())
	mux.HandleFunc("GET /.well-known/jwks.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/jwk-set+json")
		w.Header().Set("Cache-Control", "public, max-age=300")
		_, _ = w.Write(s.JWKS())
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, map[string]string{"status": "ok", "release": s.Release})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
		defer cancel()
		if err := s.Ready(ctx); err != nil {
			fault(r.Context(), err)
			writeError(w, hodl.Errorf(hodl.Unavailable, "the server is not ready").WithHint("its database does not answer, or it is stopping"))
			return
		}
		writeJSON(w, map[string]string{"status": "ready"})
	})
	mux.HandleFunc("GET /h/{id}", handOffLink)
	if s.MCP != nil {
		mux.Handle("/mcp", s.MCP)
		for path, about := range s.MCP.About {
			mux.Handle("GET "+path, about)
		}
	}
	s.logFiles(mux)
	// A published client reports its start. It is thanked and forgotten.
	mux.HandleFunc("POST /api/telemetry", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, 64<<10))
		writeJSON(w, struct{}{})
	})
}

// What describes the API is made from the code by make golden, and committed: a start
// needs not make it.
var (
	//go:embed openapi.json
	openapi []byte
	//go:embed docs.html
	docsPage []byte
	//go:embed errors.html
	errorsPage []byte
)

// Document returns the OpenAPI 3.1 document in JSON, as /openapi.json serves it.
func Document() []byte { return openapi }

func serveMade(contentType string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		// No document of ours runs a script or fetches anything.
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		_, _ = w.Write(body) // the client may be gone
	}
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.MarshalWrite(w, v, json.Deterministic(true)) // the client may be gone
}
