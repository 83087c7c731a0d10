package httpapi

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"

	"hodl"
)

// plainRoutes are those that are no operations: they take no credentials and are
// read by machines of other kinds.
func (s *server) plainRoutes(mux *http.ServeMux, api huma.API) {
	// Made when they are first asked for: most of the time a start takes would go
	// into them.
	spec := sync.OnceValues(func() ([]byte, error) { return document(api) })
	page := sync.OnceValues(func() ([]byte, error) { return docs(api.OpenAPI()) })
	mux.HandleFunc("GET /openapi.json", serveMade("application/json", spec))
	mux.HandleFunc("GET /docs", serveMade("text/html; charset=utf-8", page))
	mux.HandleFunc("GET /docs/errors", serveMade("text/html; charset=utf-8", sync.OnceValues(errorsPage)))
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
	// A published client reports its start. It is thanked and forgotten.
	mux.HandleFunc("POST /api/telemetry", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, 64<<10))
		writeJSON(w, struct{}{})
	})
}

func serveMade(contentType string, made func() ([]byte, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := made()
		if err != nil { // never: it is built from our own types, and a test builds it
			fault(r.Context(), err)
			writeError(w, err)
			return
		}
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
