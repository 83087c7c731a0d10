package httpapi_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	diffs "github.com/google/go-cmp/cmp"

	"hodl"
)

// A takes is an operation that takes JSON, with a body that it accepts.
type takes struct {
	as string
	route
	schema any // of the body
}

// bodies lists the operations of the document that take JSON, in a world where their
// paths name what is there.
func (w *world) bodies(doc object) (out []takes) {
	names := w.owned()
	w.keys["an agent"] = w.token("ses_owned", agentScopes, `"ttl_seconds":86400`)
	rows := routesOfAll()
	for path, item := range doc["paths"].(object) {
		for method, o := range item.(object) {
			content, _ := resolve(doc, o.(object)["requestBody"])["content"].(object)
			media, _ := content["application/json"].(object)
			if media["schema"] == nil {
				continue // nothing, or a file
			}
			r, as := rows[strings.ToUpper(method)+" "+path], live
			if byAgents(r) {
				as = "an agent"
			}
			r.path, r.body = names.Replace(r.path), names.Replace(r.body)
			out = append(out, takes{as, r, media["schema"]})
		}
	}
	slices.SortFunc(out, func(a, b takes) int { return strings.Compare(a.path+a.method, b.path+b.method) })
	return out
}

// A wrong is one place of a body with a value that does not belong there.
type wrong struct {
	field string // the place, as a refusal names it
	steps []any  // to it: names, and 0 for the first of a list
	value any
}

// wrongs makes, for every place of a schema, a value of another type and, where text
// goes, one with a NUL.
func wrongs(doc object, schema any, at []any) (out []wrong) {
	const deepest = 7
	s := resolve(doc, schema)
	for _, key := range []string{"oneOf", "anyOf", "allOf"} {
		list, _ := s[key].([]any)
		for _, x := range list {
			out = append(out, wrongs(doc, x, at)...)
		}
	}
	kind := kindOf(s)
	if len(at) > 0 && kind != "" {
		other := any("x")
		if kind == "string" {
			other = 1
			out = append(out, wrong{fieldOf(at), at, "a\x00b"})
		}
		out = append(out, wrong{fieldOf(at), at, other})
	}
	if len(at) == deepest {
		return out
	}
	if s["items"] != nil {
		out = append(out, wrongs(doc, s["items"], append(slices.Clip(at), 0))...)
	}
	if more, ok := s["additionalProperties"].(object); ok {
		out = append(out, wrongs(doc, more, append(slices.Clip(at), "any"))...)
	}
	properties, _ := s["properties"].(object)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		out = append(out, wrongs(doc, properties[name], append(slices.Clip(at), name))...)
	}
	return out
}

// kindOf is the type of a schema beside null.
func kindOf(s object) string {
	switch kind := s["type"].(type) {
	case string:
		return kind
	case []any:
		return kind[0].(string)
	}
	return ""
}

func fieldOf(steps []any) string {
	var b strings.Builder
	for _, s := range steps {
		switch s := s.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", s)
		case string:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s)
		}
	}
	return b.String()
}

// put returns a value with another one at a place within it, which is made.
func put(in any, steps []any, value any) any {
	if len(steps) == 0 {
		return value
	}
	if name, ok := steps[0].(string); ok {
		o, _ := in.(object)
		o = maps.Clone(o)
		if o == nil {
			o = object{}
		}
		o[name] = put(o[name], steps[1:], value)
		return o
	}
	list, _ := in.([]any)
	list = append(slices.Clone(list), nil)[:max(1, len(list))]
	list[0] = put(list[0], steps[1:], value)
	return list
}

// What is wrong anywhere in a body is refused by the name of its place, and nothing of
// the rest is kept. The places are the document's: a field that is added is tried.
func TestWrongAnywhere(t *testing.T) { onEachEngine(t, wrongAnywhere) }

func wrongAnywhere(w *world) {
	doc := document(w.t)
	list := w.bodies(doc)
	before, tried := w.counts(), 0
	for _, at := range list {
		for _, x := range append(wrongs(doc, at.schema, nil), wrong{"unheard_of", []any{"unheard_of"}, 1}) {
			if at.drops(x) {
				continue
			}
			body, err := json.Marshal(put(at.sound(x), x.steps, x.value))
			w.must(err)
			w.clock.advance(time.Second)
			a := w.call(at.as, at.method, at.path, string(body), "X-Unihodl-StepUp", strconv.FormatInt(w.Now().Unix(), 10))
			if tried++; !refuses(a, x.field) {
				w.t.Errorf("%s %s with %q in %s: %.400s", at.method, at.path, x.value, x.field, a)
			}
		}
	}
	w.t.Logf("%d operations, %d wrong bodies", len(list), tried)
	if diff := diffs.Diff(before, w.counts()); diff != "" {
		w.t.Errorf("something was kept:\n%s", diff)
	}
}

// drops reports whether a lenient call goes on without what is wrong, and warns.
func (at *takes) drops(x wrong) bool {
	if at.method != http.MethodPost || !strings.HasPrefix(at.path, "/v1/hodl") {
		return false
	}
	text, _ := x.value.(string)
	reference := strings.Contains(x.field, ".supports[") || strings.Contains(x.field, ".depends_on[")
	return x.field == "unheard_of" || reference && strings.Contains(text, "\x00")
}

// fuller are bodies that have what must stand beside a wrong one in a list.
var fuller = map[string]string{
	"PUT /v1/sessions/ses_owned":                 fullSession,
	"POST /v1/sessions":                          fullSession,
	"PUT /v1/redaction_policies/canary":          `{"allow":[{"value":"x"}]}`,
	"POST /v1/redaction_policies/canary/preview": `{"session_id":"ses_owned","document":{"allow":[{"value":"x"}]}}`,
}

// sound is a body for something wrong to be put in. The oldest call takes a session
// for one by its lists.
func (at *takes) sound(x wrong) any {
	var sound object
	if err := json.Unmarshal([]byte(cmp.Or(fuller[at.method+" "+at.path], at.body, "{}")), &sound); err != nil {
		panic(err) // a row of the tables is broken
	}
	if strings.HasSuffix(at.path, "/resume_tokens/revoke") && strings.HasSuffix(x.field, "_id") {
		delete(sound, "session_id") // one of them may be named
	}
	if at.path == "/v1/hodl" && !slices.Contains([]any{"url", "note", "tags", "source", "location"}, x.steps[0]) {
		sound["tabs"] = []any{}
	}
	return sound
}

// refuses reports whether an answer, or what a batch answers of its one hodl, is a
// refusal that names a place or the list it is in.
func refuses(a *answer, field string) bool {
	var batch struct {
		Results []struct {
			Status int
			Error  json.RawMessage
		}
	}
	if err := json.Unmarshal(a.body, &batch); err == nil && len(batch.Results) == 1 {
		a = &answer{status: batch.Results[0].Status, body: slices.Concat([]byte(`{"error":`), batch.Results[0].Error, []byte("}"))}
		field = strings.TrimPrefix(strings.TrimPrefix(field, "hodls[0]"), ".")
	}
	if field == "format" && a.status == 406 || field == "token" && string(a.body) == `{"active":false}` {
		return true // there is no such format; there is no such token, and nothing else is told of one
	}
	return a.status == 422 && fieldMessage(a, cmp.Or(field, "body")) != "" || fieldMessage(a, strings.TrimSuffix(field, "[0]")) != ""
}

// Bodies that are no text, too deep or too large are refused by every operation with
// what its document says; nothing is kept of them, and the memory they took is free
// again.
func TestBrokenBodiesAnywhere(t *testing.T) {
	w := newWorld(t, setting{alone: true})
	list := w.bodies(document(t))
	before, used := w.counts(), heap()
	deep := strings.Repeat("[", 20_000)
	for _, at := range list {
		open := strings.TrimSuffix(at.body, "}")
		if open != "{" {
			open += ","
		}
		for name, c := range map[string]struct {
			body   string
			status int
		}{
			"no UTF-8":             {open + "\"x\":\"\xff\xfe\"}", 400},
			"half a surrogate":     {open + `"x":"\ud800"}`, 400},
			"a raw NUL":            {open + "\"x\":\"a\x00b\"}", 400},
			"deep":                 {open + `"x":` + deep, 400},
			"deep and closed":      {open + `"x":` + deep + strings.Repeat("]", len(deep)) + "}", 400},
			"deep all by itself":   {deep, 400},
			"a byte over the most": {open + `"x":"` + strings.Repeat("a", hodl.MaxRequest-len(open)-6) + `"}`, 413},
		} {
			w.clock.advance(time.Second)
			a := w.call(at.as, at.method, at.path, c.body)
			// Who reads names first refuses the one it does not know.
			if named := c.status == 400 && a.status == 422 && (fieldMessage(a, "x") != "" || fieldMessage(a, "body") != ""); a.status != c.status && !named {
				t.Errorf("%s %s, %s: %.300s", at.method, at.path, name, a)
			}
		}
	}
	if diff := diffs.Diff(before, w.counts()); diff != "" {
		t.Errorf("something was kept:\n%s", diff)
	}
	if grown := int64(heap()) - int64(used); grown > 4<<20 {
		t.Errorf("%d operations left %d bytes in use", len(list), grown)
	}
	t.Logf("%d operations; heap %d kB before, %d kB after", len(list), used>>10, heap()>>10)
}

// Every operation waits for a body as long as it is set to, and not longer. What is
// made before, in the same world, has as long.
func TestSlowBodiesAnywhere(t *testing.T) {
	w := newWorld(t, setting{bodyTimeout: time.Second})
	list := w.bodies(document(t))
	before := w.counts()
	var all sync.WaitGroup
	for _, at := range list {
		all.Go(func() {
			slow := w.raw(at.method+" "+at.path+" HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+w.keys[at.as]+"\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", false)
			if slow.status != 408 {
				t.Errorf("%s %s: %s", at.method, at.path, slow)
			}
		})
	}
	all.Wait()
	if diff := diffs.Diff(before, w.counts()); diff != "" {
		t.Errorf("something was kept:\n%s", diff)
	}
}
