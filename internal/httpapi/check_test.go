package httpapi_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"hodl/internal/httpapi"
)

func unmarshal(data []byte, v any) error { return json.Unmarshal(data, v) }

// leaks are signs of our own parts, which no answer shows.
var leaks = regexp.MustCompile(`httpapi|\bhodl\.[A-Z]|huma|jsontext|unmarshal|json:|Go type|goroutine|\.go:|sqlite|pgx|SQL|select .* from|panic`)

// check holds an answer against what every answer must be.
func check(t *testing.T, method, path string, a *answer) {
	t.Helper()
	at := method + " " + path
	if a.header.Get("X-Request-Id") == "" || a.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%s: headers are %v", at, a.header)
	}
	if a.status >= 300 && a.status < 400 || a.status == 204 {
		t.Errorf("%s: answered %d", at, a.status)
	}
	if a.status >= 500 && a.status != 503 {
		t.Errorf("%s: %s", at, a)
	}
	if (a.status == 429 || a.status == 503) && a.header.Get("Retry-After") == "" {
		t.Errorf("%s: a %d without Retry-After", at, a.status)
	}
	if a.status == 429 && (!policyForm.MatchString(a.header.Get("RateLimit-Policy")) || !limitForm.MatchString(a.header.Get("RateLimit"))) {
		t.Errorf("%s: a 429 with RateLimit-Policy %s and RateLimit %s", at, a.header.Get("RateLimit-Policy"), a.header.Get("RateLimit"))
	}
	if a.status == 401 && !strings.HasPrefix(a.header.Get("WWW-Authenticate"), schemeOf(a.code())) {
		t.Errorf("%s: a 401 without WWW-Authenticate", at)
	}
	if method != "HEAD" && a.status >= 400 {
		checkEnvelope(t, at, a)
	}
	if method != "HEAD" {
		checkSchema(t, method, path, a)
	}
}

var (
	policyForm = regexp.MustCompile(`^"[a-z]+";q=[1-9]\d*;w=[1-9]\d*$`)
	limitForm  = regexp.MustCompile(`^"[a-z]+";r=\d+;t=[1-9]\d*$`)
)

// schemeOf is the scheme a refusal asks for.
func schemeOf(code string) string {
	if strings.Contains(code, "proof") {
		return "DPoP "
	}
	return "Bearer "
}

func checkEnvelope(t *testing.T, at string, a *answer) {
	t.Helper()
	if kind := a.header.Get("Content-Type"); kind != "application/json" {
		t.Errorf("%s: a %d is %s", at, a.status, kind)
	}
	envelope, ok := a.object()["error"].(object)
	if !ok {
		t.Errorf("%s: no envelope: %s", at, a)
		return
	}
	for _, name := range []string{"code", "message", "hint"} {
		if s, _ := envelope[name].(string); s == "" {
			t.Errorf("%s: error.%s is empty: %.400s", at, name, a)
		}
	}
	if found := leaks.FindString(string(a.body)); found != "" {
		t.Errorf("%s: %q leaks in %.400s", at, found, a)
	}
}

var spec = sync.OnceValue(httpapi.Spec)

// checkSchema holds an answer against the document: the status is one it tells of
// and the body fits the schema, without a field it does not name.
func checkSchema(t *testing.T, method, path string, a *answer) {
	t.Helper()
	o := operationAt(method, path)
	if o == nil {
		return
	}
	response := o.Responses[status(a.status)]
	if response == nil {
		t.Errorf("%s %s: the document does not tell of %d (%.200s)", method, path, a.status, a.body)
		return
	}
	kind, _, _ := strings.Cut(a.header.Get("Content-Type"), ";")
	media := response.Content[kind]
	if media == nil {
		t.Errorf("%s %s: the document does not tell of %s", method, path, kind)
		return
	}
	if kind != "application/json" {
		return
	}
	var body any
	if err := json.Unmarshal(a.body, &body); err != nil {
		t.Errorf("%s %s: %v in %.200s", method, path, err, a.body)
		return
	}
	result := &huma.ValidateResult{}
	huma.Validate(spec().Components.Schemas, media.Schema, huma.NewPathBuffer(nil, 0), huma.ModeReadFromServer, body, result)
	for _, err := range result.Errors {
		t.Errorf("%s %s: %d does not fit its schema: %v", method, path, a.status, err)
	}
}

func status(n int) string {
	return string(rune('0'+n/100)) + string(rune('0'+n/10%10)) + string(rune('0'+n%10))
}

func operationAt(method, path string) *huma.Operation {
	path = strings.TrimPrefix(path, "/api")
	paths := spec().Paths
	if item := paths[path]; item != nil {
		paths = map[string]*huma.PathItem{path: item}
	}
	for template, item := range paths {
		pattern := "^" + braces.ReplaceAllString(template, `[^/]+`) + "$"
		if template != path && !regexp.MustCompile(pattern).MatchString(path) {
			continue
		}
		switch method {
		case "GET":
			return item.Get
		case "POST":
			return item.Post
		case "PUT":
			return item.Put
		case "PATCH":
			return item.Patch
		case "DELETE":
			return item.Delete
		}
	}
	return nil
}

// A scenario is one request and what must come of it.
type scenario struct {
	name         string
	as           string
	method, path string
	headers      []string // in pairs
	body         string
	status       int
	code         string   // of a refusal
	has, hasNot  []string // of the body
}

func (w *world) run(list []scenario) {
	w.t.Helper()
	for _, s := range list {
		a := w.call(s.as, s.method, s.path, s.body, s.headers...)
		if a.status != s.status || a.code() != s.code {
			w.t.Errorf("%s: %.600s; want %d %s", s.name, a, s.status, s.code)
		}
		for _, text := range s.has {
			if !strings.Contains(string(a.body), text) {
				w.t.Errorf("%s: no %q in %.600s", s.name, text, a)
			}
		}
		for _, text := range s.hasNot {
			if strings.Contains(string(a.body), text) {
				w.t.Errorf("%s: %q in %.600s", s.name, text, a)
			}
		}
	}
}
