package httpapi_test

import (
	"fmt"
	"strings"
	"testing"
)

// A life is a session on its way through the states, with a token that was used
// once and one that never was.
type life struct {
	*world
	id, used, fresh string
}

const sameContent, otherContent = `{"title":"same"}`, `{"title":"other"}`

// reaches brings a new session to a state.
var reaches = map[string]func(*life){
	"open": func(l *life) { l.do("PUT", "", `{"title":"same","state":"open"}`) },
	"held": func(l *life) {
		l.do("POST", "/resume", "")
		l.do("PUT", "", otherContent)
		l.do("PUT", "", sameContent)
	},
	"resumed":    func(l *life) { l.do("POST", "/resume", "") },
	"handed_off": func(*life) {},
	"archived":   func(l *life) { l.do("POST", "/archive", "") },
}

func (l *life) do(method, path, body string) *answer {
	return l.call(live, method, "/v1/sessions/"+l.id+path, body)
}

func (l *life) asAgent(token, path, body string) *answer {
	return l.call(token, "POST", "/v1/sessions/"+l.id+path, body)
}

// An operation of the table in docs/spec.md §3: what is called, and what it leads to
// from each state, in the order of stateNames. A result is the state after and the
// event, or a code.
type operation struct {
	name string
	do   func(*life) *answer
	want [5]string
}

var stateNames = [5]string{"open", "held", "resumed", "handed_off", "archived"}

func every(result, archived string) [5]string {
	return [5]string{result, result, result, result, archived}
}

func staying(event, archived string) [5]string {
	return [5]string{"open" + event, "held" + event, "resumed" + event, "handed_off" + event, archived}
}

var operations = []operation{
	{"capture, changed", func(l *life) *answer { return l.do("PUT", "", `{"title":"changed"}`) }, every("held session.held", "invalid_transition")},
	{"capture, the same", func(l *life) *answer { return l.do("PUT", "", sameContent) }, staying("", "invalid_transition")},
	{"live update", func(l *life) *answer { return l.do("PUT", "", `{"title":"changed","state":"open"}`) }, every("open", "invalid_transition")},
	{"hold", func(l *life) *answer { return l.do("POST", "/hold", "") }, [5]string{"held session.held", "held", "invalid_transition", "invalid_transition", "invalid_transition"}},
	{"mint", func(l *life) *answer {
		return l.call(live, "POST", "/v1/resume_tokens", `{"session_id":"`+l.id+`","audience":"sdk.unihodl.app","scopes":["read:context"]}`)
	}, staying(" session.shared", "invalid_transition")},
	{"first hydration", func(l *life) *answer { return l.asAgent(l.fresh, "/hydrate", "") }, every("handed_off session.handed_off", "token_revoked")},
	{"later hydration", func(l *life) *answer { return l.asAgent(l.used, "/hydrate", "") }, staying("", "token_revoked")},
	{"typed write", func(l *life) *answer { return l.asAgent(l.used, "/notes", `{"body":"x"}`) }, staying("", "token_revoked")},
	{"a hodl joins", func(l *life) *answer {
		return l.call(live, "POST", "/v1/hodls", `{"title":"x","session_id":"`+l.id+`"}`)
	}, staying("", "invalid_transition")},
	{"fork", func(l *life) *answer { return l.do("POST", "/fork", "") }, staying("", "archived")},
	{"resume", func(l *life) *answer { return l.do("POST", "/resume", "") }, [5]string{"resumed session.resumed", "resumed session.resumed", "resumed", "resumed session.resumed", "invalid_transition"}},
	{"archive", func(l *life) *answer { return l.do("POST", "/archive", "") }, every("archived", "archived")},
	{"restore", func(l *life) *answer { return l.do("POST", "/restore", "") }, [5]string{"invalid_transition", "held", "invalid_transition", "invalid_transition", "held session.held"}},
	{"delete", func(l *life) *answer { return l.do("DELETE", "", "") }, every("not_found", "not_found")},
}

// Every cell of the table of docs/spec.md §3, by its calls: what each answers, where
// it leads and what it announces. What is refused changes nothing.
func TestStates(t *testing.T) {
	w := newWorld(t)
	for _, o := range operations {
		for i, from := range stateNames {
			l := w.begin(fmt.Sprintf("ses_state%d", w.clock.micros.Load()))
			reaches[from](l)
			if got := l.do("GET", "", "").text("state"); got != from {
				t.Fatalf("%s is not reached: %s", from, got)
			}
			events, content := l.events(), l.do("GET", "", "").text("fingerprint")
			a := o.do(l)
			got := strings.TrimSpace(l.standing() + " " + strings.Join(l.events()[len(events):], " "))
			if a.status >= 300 {
				if got != from || l.do("GET", "", "").text("fingerprint") != content {
					t.Errorf("%s from %s was refused and left it %s", o.name, from, got)
				}
				got = a.code()
			}
			if got != o.want[i] {
				t.Errorf("%s from %s: %s, want %s (%.200s)", o.name, from, got, o.want[i], a)
			}
		}
	}
}

// begin makes a session that was handed off, with its tokens.
func (w *world) begin(id string) *life {
	w.t.Helper()
	w.ok(live, "PUT", "/v1/sessions/"+id, sameContent)
	const scopes = "read:context write:notes"
	l := &life{w, id, w.token(id, scopes), w.token(id, scopes)}
	if a := w.hydrate(l.used, id); a.status != 200 {
		w.t.Fatal(a)
	}
	return l
}

func (l *life) standing() string {
	a := l.do("GET", "", "")
	if a.status == 200 {
		return a.text("state")
	}
	return a.code()
}

// events lists what was announced of the session, in order.
func (l *life) events() []string {
	return l.query(`select type from outbox where session = $1 order by at, id`, l.id)
}

// From nothing, a capture makes a session held, a live update an open one; what only
// a session can do finds none, and a deleted one is as if it never was.
func TestStatesFromNothing(t *testing.T) {
	w := newWorld(t)
	for i, body := range []string{sameContent, `{"state":"open"}`} {
		l := &life{world: w, id: fmt.Sprint("ses_new", i)}
		l.do("PUT", "", body)
		want := []string{"held session.held", "open "}[i]
		if got := l.standing() + " " + strings.Join(l.events(), " "); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
		l.do("DELETE", "", "")
		for _, path := range []string{"/hold", "/resume", "/archive", "/restore", "/fork"} {
			if a := l.do("POST", path, ""); a.code() != "not_found" {
				t.Errorf("%s of what was deleted: %s", path, a)
			}
		}
	}
}
