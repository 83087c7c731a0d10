package published_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// A node plays @unihodl/agent-sdk as it runs on Node's fetch.
type node struct {
	t       *testing.T
	base    string // without a slash at its end
	key     string
	version string // 0.2.1 or 0.2.3
}

// fetch writes what undici writes: its own headers in lower case around the
// library's, and a content-length of 0 for a POST without a body.
func (n *node) fetch(method, path string, own []field, body string) (any, error) {
	n.t.Helper()
	bearer := field{"authorization", "Bearer " + n.key}
	rest := make([]field, 0, len(own))
	for _, f := range own {
		if f.name == bearer.name {
			bearer = f
			continue
		}
		rest = append(rest, f)
	}
	head := append([]field{{"host", "{host}"}, {"connection", "keep-alive"}, bearer}, rest...)
	head = append(head, field{"accept", "*/*"}, field{"accept-language", "*"}, field{"sec-fetch-mode", "cors"},
		field{"user-agent", "node"}, field{"accept-encoding", "gzip, deflate"})
	if method != "GET" {
		head = append(head, field{"content-length", strconv.Itoa(len(body))})
	}
	return n.read(exchange(n.t, n.base, method, path, head, body))
}

// read does as the library: anything but 2xx is an error, a content type with json
// in it is parsed, anything else is text.
func (n *node) read(a *answer) (any, error) {
	if a.status < 200 || a.status > 299 {
		e, broken := refusalOf(a)
		if broken != nil {
			return nil, broken
		}
		return nil, e
	}
	if !strings.Contains(a.header.Get("Content-Type"), "json") {
		return string(a.body), nil
	}
	var v any
	if err := json.Unmarshal(a.body, &v); err != nil {
		return nil, fmt.Errorf("a %d holds no JSON: %q", a.status, a.body)
	}
	return v, nil
}

var jsonType = field{"content-type", "application/json"}

func (n *node) post(path, body string, own ...field) (object, error) {
	n.t.Helper()
	v, err := n.fetch("POST", path, append([]field{jsonType}, own...), body)
	o, _ := v.(object)
	return o, err
}

func (n *node) get(path string) (object, error) {
	n.t.Helper()
	v, err := n.fetch("GET", path, nil, "")
	o, _ := v.(object)
	return o, err
}

func (n *node) capture(body string) (object, error) {
	n.t.Helper()
	return n.post("/v1/hodl", body)
}

// mint writes the input as JSON.stringify does, without what is undefined.
func (n *node) mint(session, audience, scopes string) (object, error) {
	n.t.Helper()
	return n.post("/v1/resume_tokens", `{"session_id":"`+session+`","audience":"`+audience+`","scopes":`+scopes+`,"ttl_seconds":600,"max_hydrations":1}`)
}

func (n *node) revoke(jti, body string) (object, error) {
	n.t.Helper()
	return n.post("/v1/resume_tokens/"+jti+"/revoke", body)
}

const readScopes = `["read:context","read:reasoning"]`

// hydrate mints for itself when it is given no token, then asks for the session
// with no body and no content type.
func (n *node) hydrate(session, token, format string) (*hydrated, error) {
	n.t.Helper()
	return n.hydrateAs("sdk.unihodl.app", session, token, format)
}

func (n *node) hydrateAs(audience, session, token, format string) (*hydrated, error) {
	n.t.Helper()
	if token == "" {
		minted, err := n.mint(session, audience, readScopes)
		if err != nil {
			return nil, err
		}
		token = minted["token"].(string)
	}
	own := []field{{"authorization", "Bearer " + token}}
	if format == "prompt-ready" {
		own = append(own, field{"x-unihodl-format", format})
	}
	v, err := n.fetch("POST", "/v1/sessions/"+session+"/hydrate", own, "")
	return &hydrated{v, n.version}, err
}

func (n *node) appendNote(session, token, text string) (object, error) {
	n.t.Helper()
	body, _ := json.Marshal(text) // a string cannot fail to encode
	return n.post("/v1/sessions/"+session+"/notes", `{"body":`+string(body)+`}`, field{"authorization", "Bearer " + token})
}

// A hydrated is what hydrate returned: a context, or the text of a prompt.
type hydrated struct {
	raw     any
	version string
}

func (h *hydrated) context() object { o, _ := h.raw.(object); return o }

// prompt walks a context the way the library renders it, and fails where the
// library throws: 0.2.1 calls methods on every list and on captured_at, and both
// call toFixed on a confidence that is there.
func (h *hydrated) prompt() error {
	if _, isText := h.raw.(string); isText {
		if h.version == "0.2.1" {
			return fmt.Errorf("0.2.1 looks for captured_at in a string")
		}
		return nil
	}
	c := h.context()
	if _, ok := c["captured_at"].(string); !ok {
		return fmt.Errorf("captured_at is %v: no method slice", c["captured_at"])
	}
	for _, name := range []string{"reasoning_thread", "tabs", "media"} {
		list, ok := c[name].([]any)
		if !ok && (h.version == "0.2.1" || c[name] != nil) {
			return fmt.Errorf("%s is %v: no method filter", name, c[name])
		}
		for _, x := range list {
			item, ok := x.(object)
			if !ok {
				return fmt.Errorf("%s holds %v", name, x)
			}
			if sure, there := item["confidence"]; there && !isNumber(sure) {
				return fmt.Errorf("confidence is %v: no method toFixed", sure)
			}
		}
	}
	return nil
}

func isNumber(v any) bool { _, ok := v.(float64); return ok }

// wants reports the first field of an answer that is not of the type the library
// declares: s for a string, n for a number, a for a list of strings, a ? before it
// where it may be null.
func wants(o object, shape map[string]string) error {
	for name, kind := range shape {
		v, there := o[name]
		if !there {
			return fmt.Errorf("%s is missing in %v", name, o)
		}
		if kind[0] == '?' {
			if v == nil {
				continue
			}
			kind = kind[1:]
		}
		if !is(v, kind) {
			return fmt.Errorf("%s is %v, not %s", name, v, kind)
		}
	}
	return nil
}

func is(v any, kind string) bool {
	switch kind {
	case "s":
		s, ok := v.(string)
		return ok && s != ""
	case "n":
		return isNumber(v)
	}
	list, ok := v.([]any)
	for _, x := range list {
		if _, text := x.(string); !text {
			return false
		}
	}
	return ok
}
