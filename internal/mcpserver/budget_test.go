package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"hodl"
	"hodl/internal/capture"
	"hodl/internal/count"
)

// putLarge captures a session of much more than most clients take at once. Each of
// its xs "thing" and a number; those that are there are returned.
func (w *world) putLarge() (all []string) {
	w.t.Helper()
	thing := func(words int) string {
		all = append(all, fmt.Sprintf("piece %d.", len(all)))
		return all[len(all)-1] + strings.Repeat(" it was read on the second node", words)
	}
	d := hodl.SessionDraft{ID: "ses_large", Title: thing(1), Summary: thing(20)}
	for i := range 30 {
		d.Tabs = append(d.Tabs, hodl.Tab{URL: fmt.Sprintf("https://example.com/%d", i), Title: thing(1), SelectedText: thing(100)})
		d.Thread = append(d.Thread, hodl.Node{ID: fmt.Sprintf("n%d", i), Kind: hodl.NodeKinds[i%len(hodl.NodeKinds)], Text: thing(20)})
		d.Notes = append(d.Notes, hodl.NoteDraft{Body: thing(30)})
	}
	_, err := capture.New(w.Store).Session(w.t.Context(), &w.ada.Principal, capture.SessionCapture{Draft: d})
	w.must(err)
	return all
}

// A part is what one result handed over, of a tool or a resource.
type part struct {
	text string
	meta map[string]string
}

func (w *world) part(credential, method, params string) part {
	w.t.Helper()
	a := w.rpc(credential, method, params)
	var r struct {
		Meta     map[string]any `json:"_meta"`
		IsError  bool
		Content  []struct{ Text string }
		Messages []struct{ Content struct{ Text string } }
		Contents []struct {
			Text string
			Meta map[string]any `json:"_meta"`
		}
	}
	w.must(json.Unmarshal(a.Result, &r))
	out, meta := part{meta: map[string]string{}}, r.Meta
	switch {
	case r.IsError:
		w.t.Fatalf("%s %s: %s", method, params, a)
	case len(r.Content) == 1:
		out.text = r.Content[0].Text
	case len(r.Contents) == 1:
		out.text, meta = r.Contents[0].Text, r.Contents[0].Meta
	case len(r.Messages) == 2:
		out.text = r.Messages[0].Content.Text
	default:
		w.t.Fatalf("%s %s: %s", method, params, a)
	}
	if out.text == "" {
		w.t.Fatalf("%s %.300s: %s", method, params, a)
	}
	for name, v := range meta {
		out.meta[name], _ = v.(string)
	}
	return out
}

func resumeWith(args map[string]any) string {
	return string(must(json.Marshal(map[string]any{"name": "resume", "arguments": args})))
}

func things(text string, seen map[string]bool) {
	for rest := text; ; {
		_, after, more := strings.Cut(rest, "piece ")
		if !more {
			return
		}
		number, behind, _ := strings.Cut(after, ".")
		seen["piece "+number+"."], rest = true, behind
	}
}

// Whoever asks and however, no result is larger than asked, or than clients take when
// nothing was asked; it has lines; each part tells where the next is, until all was
// handed over, as one hydration.
func TestParts(t *testing.T) {
	w := newWorld(t)
	all := w.putLarge()
	slices.Sort(all)
	m := w.mintFor("ses_large")
	for name, c := range map[string]struct {
		most  int
		first [2]string
		next  func(cursor string) [2]string
	}{
		"tool": {2000, [2]string{"tools/call", resumeWith(map[string]any{"session_id": "ses_large", "max_tokens": 2000})}, func(cursor string) [2]string {
			return [2]string{"tools/call", resumeWith(map[string]any{"session_id": "ses_large", "max_tokens": 2000, "part": cursor})}
		}},
		"tool, by handles": {5000, [2]string{"tools/call", resumeWith(map[string]any{"session_id": "ses_large", "max_tokens": 5000, "format": "markdown"})}, func(cursor string) [2]string {
			return [2]string{"tools/call", resumeWith(map[string]any{"session_id": "ses_large", "max_tokens": 5000, "format": "json", "include": strings.Split(cursor, ",")})}
		}},
		"tool, nothing asked": {20_000, [2]string{"tools/call", resumeWith(map[string]any{"session_id": "ses_large"})}, func(cursor string) [2]string {
			return [2]string{"tools/call", resumeWith(map[string]any{"session_id": "ses_large", "part": cursor})}
		}},
		"resource": {20_000, [2]string{"resources/read", `{"uri":"hodl://sessions/ses_large"}`}, func(cursor string) [2]string {
			return [2]string{"resources/read", `{"uri":"hodl://sessions/ses_large?part=` + url.QueryEscape(cursor) + `"}`}
		}},
		"published": {20_000, [2]string{"resources/read", `{"uri":"unihodl://session/ses_large"}`}, func(cursor string) [2]string {
			return [2]string{"resources/read", `{"uri":"hodl://sessions/ses_large?format=json&part=` + cursor + `"}`}
		}},
		"prompt": {20_000, [2]string{"prompts/get", `{"name":"resume_session","arguments":{"session_id":"ses_large"}}`}, func(cursor string) [2]string {
			return [2]string{"tools/call", resumeWith(map[string]any{"session_id": "ses_large", "part": cursor})}
		}},
	} {
		for who, credential := range map[string]string{"a key": w.ada.key, "a token": m.Signed} {
			used, seen, parts := w.used(w.ada), map[string]bool{}, 0
			for call := c.first; ; parts++ {
				p := w.part(credential, call[0], call[1])
				if n := count.Tokens(p.text); n > c.most || strings.Count(p.text, "\n") < 5 {
					t.Errorf("%s by %s: part %d has %d tokens in %d lines, %d were asked for", name, who, parts, n, strings.Count(p.text, "\n"), c.most)
				}
				things(p.text, seen)
				cursor := p.meta["hodl/next_part"]
				if cursor == "" {
					break
				}
				call = c.next(cursor)
			}
			if got := slices.Sorted(maps.Keys(seen)); !slices.Equal(got, all) || parts == 0 {
				t.Errorf("%s by %s: %d further parts hold %d of %d things", name, who, parts, len(got), len(all))
			}
			list := w.records(w.ada)
			if w.used(w.ada) != used+1 || list[parts].Kind != hodl.KindHydrate {
				t.Errorf("%s by %s: %d parts used %d; the first is recorded as %+v", name, who, parts+1, w.used(w.ada)-used, list[parts])
			}
			for _, r := range list[:parts] {
				if r.Kind != hodl.KindContinue || r.Hydration != list[parts].ID {
					t.Errorf("%s by %s: a part is recorded as %+v", name, who, r)
				}
			}
		}
	}
}

// What is larger than a usual result by itself is handed over by itself.
func TestOneLargeThing(t *testing.T) {
	w := newWorld(t)
	large := strings.Repeat("读", hodl.MaxSelection/utf8.RuneLen('读'))
	_, err := capture.New(w.Store).Session(t.Context(), &w.ada.Principal, capture.SessionCapture{Draft: hodl.SessionDraft{
		ID: "ses_1", Title: "one", Tabs: []hodl.Tab{{URL: "https://example.com", Title: "A", SelectedText: large}},
	}})
	w.must(err)
	first := w.part(w.ada.key, "resources/read", `{"uri":"hodl://sessions/ses_1"}`)
	if strings.Contains(first.text, large) || first.meta["hodl/next_part"] == "" {
		t.Fatalf("the first part is %s", first.text)
	}
	rest := w.part(w.ada.key, "resources/read", `{"uri":"hodl://sessions/ses_1?part=`+first.meta["hodl/next_part"]+`"}`)
	if !strings.Contains(rest.text, large) || rest.meta["hodl/next_part"] != "" {
		t.Errorf("the next part is %.500s", rest.text)
	}
}

// Only what changed is handed over after an earlier hydration; when nothing has, it
// is no hydration.
func TestSince(t *testing.T) {
	w := newWorld(t)
	first := w.part(w.ada.key, "tools/call", resumeWith(map[string]any{"session_id": "ses_1"}))
	again := resumeWith(map[string]any{"session_id": "ses_1", "since": first.meta["hodl/hydration_id"]})
	used := w.used(w.ada)
	if p := w.part(w.ada.key, "tools/call", again); strings.Contains(p.text, "canary selection") || w.used(w.ada) != used || w.records(w.ada)[0].Kind != hodl.KindUnchanged {
		t.Errorf("nothing changed: %d used more, %s", w.used(w.ada)-used, p.text)
	}
	w.tool(w.ada.key, "note", `{"session_id":"ses_1","body":"what is new"}`)
	if p := w.part(w.ada.key, "tools/call", again); strings.Contains(p.text, "canary selection") || !strings.Contains(p.text, "what is new") || w.used(w.ada) != used+1 {
		t.Errorf("a note more: %d used more, %s", w.used(w.ada)-used, p.text)
	}
}

// What an earlier result handed out works for that credential, session and policy
// alone; what is wrong with it is said.
func TestHandlesAreSealed(t *testing.T) {
	w := newWorld(t)
	w.putLarge()
	first := w.part(w.ada.key, "tools/call", resumeWith(map[string]any{"session_id": "ses_large", "max_tokens": 2000}))
	cursor := first.meta["hodl/next_part"]
	other := w.keyOf(w.ada, "sessions:read")
	for name, c := range map[string]struct {
		key  string
		args map[string]any
		want string
	}{
		"another key":         {other.key, map[string]any{"session_id": "ses_large", "part": cursor}, "gone: "},
		"another session":     {w.ada.key, map[string]any{"session_id": "ses_1", "part": cursor}, "gone: "},
		"no session":          {w.ada.key, map[string]any{"part": cursor}, "session_id is needed"},
		"no session, since":   {w.ada.key, map[string]any{"since": first.meta["hodl/hydration_id"]}, "session_id is needed"},
		"both":                {w.ada.key, map[string]any{"session_id": "ses_large", "part": cursor, "include": []string{cursor}}, "part cannot be asked for together with include"},
		"handles and since":   {w.ada.key, map[string]any{"session_id": "ses_large", "part": cursor, "since": "acr_x"}, "since cannot be asked for together with include"},
		"made up":             {w.ada.key, map[string]any{"session_id": "ses_large", "part": "x"}, "include[0] is no handle"},
		"changed":             {w.ada.key, map[string]any{"session_id": "ses_large", "part": cursor + "9"}, "is no handle"},
		"no bound":            {w.ada.key, map[string]any{"session_id": "ses_1", "max_tokens": 0}, "max_tokens must be 1200 to 1000000"},
		"too small a bound":   {w.ada.key, map[string]any{"session_id": "ses_1", "max_tokens": 100}, "max_tokens must be 1200 to 1000000"},
		"a bound of no bound": {w.ada.key, map[string]any{"session_id": "ses_1", "max_tokens": -1}, "max_tokens must be 1200 to 1000000"},
	} {
		a := w.rpc(c.key, "tools/call", resumeWith(c.args))
		if text, failed := a.text(); !failed || !strings.Contains(text, c.want) {
			t.Errorf("%s: %s, want %s", name, a, c.want)
		}
	}
	if a := w.rpc(w.ada.key, "resources/read", `{"uri":"hodl://sessions/ses_large?part=x"}`); a.code() != -32602 {
		t.Errorf("a resource of no part: %s", a)
	}
	w.micros.Add(16 * 60 * 1e6)
	if got := w.refused(w.ada.key, "resume", string(must(json.Marshal(map[string]any{"session_id": "ses_large", "part": cursor})))); !strings.HasPrefix(got, "gone: ") {
		t.Errorf("a quarter of an hour later: %s", got)
	}
}
