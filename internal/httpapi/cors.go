package httpapi

import (
	"net/http"
	"strings"
)

// Web pages call from other origins. No cookie is ever read or set here: what a
// request may do hangs on the key it carries alone, and the browser asks before it
// sends one. At that moment the key is not known, so that a preflight allows every
// origin to ask; the request itself is refused unless its key lists the origin, and
// only then may the page read the answer.

// What a page may send and read, beyond what browsers allow by themselves.
const (
	allowedMethods = "GET, POST, PUT, PATCH, DELETE"
	allowedHeaders = "Authorization, Content-Type, DPoP, Hodl-Audience, Idempotency-Key, If-Match, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, X-Unihodl-Format, X-Unihodl-Stepup"
	exposedHeaders = "DPoP-Nonce, Deprecation, ETag, Hodl-Hydration, Hodl-Receipt, Idempotency-Replayed, Location, RateLimit, RateLimit-Policy, Retry-After, Sunset, WWW-Authenticate, X-Request-Id"
)

// preflight answers a browser that asks whether a page may send a request (Fetch
// §4.8), and reports whether r was such a question.
func preflight(w http.ResponseWriter, r *http.Request) bool {
	h := r.Header
	if r.Method != http.MethodOptions || h.Get("Origin") == "" || h.Get("Access-Control-Request-Method") == "" || !strings.HasPrefix(r.URL.Path, "/v1/") && r.URL.Path != "/mcp" {
		return false
	}
	out := w.Header()
	out.Set("Access-Control-Allow-Origin", "*")
	out.Set("Access-Control-Allow-Methods", allowedMethods)
	out.Set("Access-Control-Allow-Headers", allowedHeaders)
	out.Set("Access-Control-Max-Age", "600")
	writeJSON(w, struct{}{})
	return true
}

// readable lets pages of an origin, which a key has vouched for, read the answer.
func readable(set func(name, value string), origin string) {
	if origin == "" {
		return
	}
	set("Access-Control-Allow-Origin", origin)
	set("Access-Control-Expose-Headers", exposedHeaders)
}
