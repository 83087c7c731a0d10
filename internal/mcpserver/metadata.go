package mcpserver

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"

	"hodl"
)

const wellKnown = "/.well-known/oauth-protected-resource"

var scopesSupported = []string{"hodls:read", "hodls:write", "sessions:read", "sessions:write", "tokens:write"}

// metadataURL is where the metadata of the door is (RFC 9728 §3.1): the well-known
// part stands between the host and the path.
func (s *Server) metadataURL() string {
	u, err := url.Parse(s.resource())
	if err != nil {
		return s.PublicURL + wellKnown // the configuration was checked
	}
	return u.Scheme + "://" + u.Host + wellKnown + u.EscapedPath()
}

// Metadata serves what clients read to find out how to sign in (RFC 9728).
func (s *Server) Metadata() http.Handler {
	body, err := json.Marshal(struct {
		Resource      string   `json:"resource"`
		Servers       []string `json:"authorization_servers,omitempty"`
		Scopes        []string `json:"scopes_supported"`
		Methods       []string `json:"bearer_methods_supported"`
		Name          string   `json:"resource_name"`
		Documentation string   `json:"resource_documentation"`
	}{s.resource(), s.AuthorizationServers, scopesSupported, []string{"header"}, "hodl", s.PublicURL + "/docs"})
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if err != nil { // never: it is made of text
			writeEnvelope(w, http.StatusInternalServerError, hodl.Errorf(hodl.Internal, "no metadata"))
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "public, max-age=300")
		w.Header().Set("Access-Control-Allow-Origin", "*")
		_, _ = w.Write(body) // the client may be gone
	})
}

// MetadataPaths are the paths of the metadata on this server: where a client looks
// that knows the door's address, and where one looks that knows only the server's.
func (s *Server) MetadataPaths() []string {
	u, err := url.Parse(s.metadataURL())
	if err != nil || u.Path == wellKnown+"/mcp" {
		return []string{wellKnown, wellKnown + "/mcp"}
	}
	return []string{wellKnown, wellKnown + "/mcp", u.Path}
}

// challenge tells what is wrong with the credentials and how to get others (RFC 6750
// §3, RFC 9728 §5.1). All scopes that are needed are named at once.
func (s *Server) challenge(who *who, err error) string {
	parts := []string{`realm="hodl"`}
	switch hodl.CodeOf(err) {
	case hodl.MissingCredentials:
		parts = append(parts, `scope="sessions:read hodls:write"`)
	case hodl.InsufficientScope:
		parts = append(parts, `error="insufficient_scope"`)
		if who != nil && who.wants != "" {
			parts = append(parts, fmt.Sprintf("scope=%q", who.wants))
		}
	default:
		parts = append(parts, `error="invalid_token"`)
	}
	return "Bearer " + strings.Join(append(parts, fmt.Sprintf("resource_metadata=%q", s.metadataURL())), ", ")
}
