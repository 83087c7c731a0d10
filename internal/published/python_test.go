package published_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A python plays unihodl-agent 0.2.0 as it runs on httpx 0.27, whose JSON has a
// space after each comma and colon.
type python struct {
	t    *testing.T
	base string
	key  string
}

// send writes what httpx writes: its own headers first, then the library's, then
// those of the body. A POST without a body says Content-Length: 0. A redirect is
// not followed and, being below 400, is taken for a success.
func (p *python) send(method, path, body string, own ...field) (*answer, error) {
	p.t.Helper()
	bearer := field{"authorization", "Bearer " + p.key}
	var rest []field
	for _, f := range own {
		if f.name == bearer.name {
			bearer = f
			continue
		}
		rest = append(rest, f)
	}
	head := []field{
		{"Host", "{host}"},
		{"Accept", "*/*"},
		{"Accept-Encoding", "gzip, deflate"},
		{"Connection", "keep-alive"},
		{"User-Agent", "python-httpx/0.27.2"},
		bearer,
	}
	head = append(head, rest...)
	if method != "GET" {
		head = append(head, field{"Content-Length", strconv.Itoa(len(body))})
	}
	if body != "" {
		head = append(head, field{"Content-Type", "application/json"})
	}
	a := exchange(p.t, p.base, method, path, head, body)
	if a.status < 400 {
		return a, nil
	}
	e, broken := refusalOf(a)
	if broken != nil {
		return nil, broken
	}
	return nil, e
}

// object asks for JSON, whatever the content type says.
func (p *python) object(method, path, body string, own ...field) (object, error) {
	p.t.Helper()
	a, err := p.send(method, path, body, own...)
	if err != nil {
		return nil, err
	}
	var o object
	if err := json.Unmarshal(a.body, &o); err != nil {
		return nil, fmt.Errorf("a %d holds no JSON: %q", a.status, a.body)
	}
	return o, nil
}

// capture always sends every field: an empty summary, empty lists.
func (p *python) capture(session, title, tabs, media, thread, tags string) (object, error) {
	p.t.Helper()
	return p.object("POST", "/v1/hodl", fmt.Sprintf(
		`{"session_id": "%s", "title": "%s", "summary": "", "tabs": %s, "media": %s, "reasoning_thread": %s, "ai_tags": %s}`,
		session, title, tabs, media, thread, tags))
}

func (p *python) mint(session, audience, scopes string) (object, error) {
	p.t.Helper()
	return p.object("POST", "/v1/resume_tokens", fmt.Sprintf(
		`{"session_id": "%s", "audience": "%s", "scopes": %s, "ttl_seconds": 600, "max_hydrations": 1}`, session, audience, scopes))
}

func (p *python) revoke(jti, body string) (object, error) {
	p.t.Helper()
	return p.object("POST", "/v1/resume_tokens/"+jti+"/revoke", body)
}

func (p *python) token(session string) (string, error) {
	p.t.Helper()
	minted, err := p.mint(session, "sdk.unihodl.app", `["read:context", "read:reasoning"]`)
	if err != nil {
		return "", err
	}
	return minted["token"].(string), nil
}

// hydrate builds a typed context; an item it cannot build one from is an error.
func (p *python) hydrate(session, token string) (object, error) {
	p.t.Helper()
	if token == "" {
		var err error
		if token, err = p.token(session); err != nil {
			return nil, err
		}
	}
	o, err := p.object("POST", "/v1/sessions/"+session+"/hydrate", "", field{"authorization", "Bearer " + token})
	if err != nil {
		return nil, err
	}
	return o, fromDict(o)
}

// prompt takes the second line of the text for a title. Text of one line is an
// IndexError.
func (p *python) prompt(session string) (title, text string, err error) {
	p.t.Helper()
	token, err := p.token(session)
	if err != nil {
		return "", "", err
	}
	a, err := p.send("POST", "/v1/sessions/"+session+"/hydrate", "", field{"authorization", "Bearer " + token}, field{"x-unihodl-format", "prompt-ready"})
	if err != nil {
		return "", "", err
	}
	lines := strings.Split(string(a.body), "\n")
	if len(lines) < 2 {
		return "", "", fmt.Errorf("IndexError: the text has one line: %q", a.body)
	}
	return lines[1], string(a.body), nil
}

// The classes that are built from the items of a context with Class(**item): a
// required key that is missing, or one that is not known, is a TypeError.
var classes = map[string]struct{ required, optional []string }{
	"tabs":             {[]string{"url", "title"}, []string{"scroll_y_pct", "selected_text", "tab_role"}},
	"media":            {[]string{"kind", "url"}, []string{"timestamp_s", "transcript_anchor"}},
	"reasoning_thread": {[]string{"id", "kind", "text"}, []string{"evidence", "supports", "depends_on", "confidence"}},
}

func fromDict(o object) error {
	for _, key := range []string{"session_id", "captured_at", "title", "summary", "version"} {
		if _, ok := o[key].(string); !ok {
			return fmt.Errorf("KeyError or TypeError: %s is %v", key, o[key])
		}
	}
	for _, key := range []string{"tabs", "media", "reasoning_thread", "ai_tags", "redactions"} {
		if _, ok := o[key].([]any); !ok {
			return fmt.Errorf("TypeError: %s is %v and cannot be iterated", key, o[key])
		}
	}
	for name, class := range classes {
		for i, x := range o[name].([]any) {
			item := x.(object)
			for _, key := range class.required {
				if _, ok := item[key].(string); !ok {
					return fmt.Errorf("TypeError: %s[%d] lacks %s", name, i, key)
				}
			}
			for key, v := range item {
				if !slices.Contains(class.required, key) && !slices.Contains(class.optional, key) {
					return fmt.Errorf("TypeError: %s[%d] has an unexpected key %s", name, i, key)
				}
				if v == nil {
					return fmt.Errorf("%s[%d].%s is null", name, i, key)
				}
			}
		}
	}
	return nil
}
