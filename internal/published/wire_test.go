// Package published_test plays the clients that were published for this service
// before there was this server: the npm packages agent-sdk 0.2.1 and 0.2.3 and
// mcp-server 0.2.3, and the Python package unihodl-agent 0.2.0. Each player writes
// the bytes its client writes, and reads what comes back as strictly.
package published_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"hodl/hodltest"
)

type object = map[string]any

// A field is a header as it is written, in its own spelling and place.
type field struct{ name, value string }

// An answer is what came back, redirects not followed.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// exchange writes one request on a connection of its own, byte for byte, and reads
// the answer. How a client says that there is no body is in head.
func exchange(t *testing.T, base, method, path string, head []field, body string) *answer {
	t.Helper()
	u, err := url.Parse(base + path)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var raw strings.Builder
	fmt.Fprintf(&raw, "%s %s HTTP/1.1\r\n", method, u.RequestURI())
	for _, f := range head {
		fmt.Fprintf(&raw, "%s: %s\r\n", f.name, strings.ReplaceAll(f.value, "{host}", u.Host))
	}
	raw.WriteString("\r\n" + body)
	if _, err := io.WriteString(conn, raw.String()); err != nil {
		t.Fatal(err)
	}
	r, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	got, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return &answer{r.StatusCode, r.Header, got}
}

// A refusal is the error both libraries raise: they read a code out of the
// envelope, and fail over an envelope that is none.
type refusal struct {
	code, message, hint string
	status              int
}

func (e *refusal) Error() string { return fmt.Sprintf("%d %s: %s", e.status, e.code, e.message) }

// refusalOf reads the envelope. broken tells that a client would have failed with
// an error of its own language.
func refusalOf(a *answer) (e *refusal, broken error) {
	var body object
	if err := json.Unmarshal(a.body, &body); err != nil {
		return nil, fmt.Errorf("the body of a %d is not a JSON object: %.200s", a.status, a.body)
	}
	envelope, ok := body["error"].(object)
	if !ok {
		return nil, fmt.Errorf("error is %v, not an object", body["error"])
	}
	e = &refusal{status: a.status}
	for name, to := range map[string]*string{"code": &e.code, "message": &e.message, "hint": &e.hint} {
		if *to, ok = envelope[name].(string); !ok || *to == "" {
			return nil, fmt.Errorf("error.%s is %v", name, envelope[name])
		}
	}
	return e, nil
}

// serving starts a server with the demo in it and returns the base URL the clients
// are given.
func serving(t *testing.T) (server *hodltest.Server, base string) {
	t.Helper()
	t.Parallel()
	server = hodltest.Start(t, hodltest.Demo())
	return server, server.URL + "/api"
}

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
