package httpapi_test

import (
	"strings"
	"testing"
)

// What an agent was told of as [EMAIL_1] is [EMAIL_1] in every later version, whoever
// makes it, under every policy, in a preview and in a fork.
func TestPlaceholdersStay(t *testing.T) {
	onEachEngine(t, func(w *world) {
		const ana, bo, cy = "ana@nordwind.se", "bo@nordwind.se", "cy@nordwind.se"
		put := func(people ...string) {
			w.ok(live, "PUT", "/v1/sessions/ses_stay", `{"title":"people","notes":[{"body":"`+strings.Join(people, `"},{"body":"`)+`"}]}`)
		}
		put(ana, bo)
		agent := w.token("ses_stay", "read:context write:notes", `"max_hydrations":50`)
		other := w.token("ses_stay", "read:context", `"redaction_policy":"default-strict"`)
		says := func(what, want string) {
			w.t.Helper()
			for who, token := range map[string]string{"the agent": agent, "another's": other} {
				if got := notesOf(w.hydrate(token, "ses_stay").object()); got != want {
					w.t.Errorf("%s: %s sees %s, want %s", what, who, got, want)
				}
			}
		}
		w.ok(live, "POST", "/v1/redaction_policies/balanced/use", "")
		says("at first", "[EMAIL_1] [EMAIL_2]")
		w.ok(agent, "POST", "/v1/sessions/ses_stay/notes", `{"body":"of [EMAIL_2] and dan@nordwind.se"}`)
		says("with a note", "[EMAIL_1] [EMAIL_2] of [EMAIL_2] and [EMAIL_3]")
		put(cy, bo)
		says("one came, one went", "[EMAIL_4] [EMAIL_2] of [EMAIL_2] and [EMAIL_3]")
		put(cy, ana, bo)
		says("and came back", "[EMAIL_4] [EMAIL_1] [EMAIL_2] of [EMAIL_2] and [EMAIL_3]")

		w.ok(live, "PUT", "/v1/redaction_policies/ours", `{"extends":"balanced","allow":[{"value":"`+cy+`"}]}`)
		w.ok(live, "POST", "/v1/redaction_policies/ours/use", "")
		if got := notesOf(w.hydrate(agent, "ses_stay").object()); got != cy+" [EMAIL_1] [EMAIL_2] of [EMAIL_2] and [EMAIL_3]" {
			w.t.Errorf("with one allowed: %s", got)
		}
		seen := w.ok(live, "POST", "/v1/redaction_policies/balanced/preview", `{"session_id":"ses_stay","format":"json"}`).text("body")
		if got := notesOf((&answer{body: []byte(seen)}).object()); got != "[EMAIL_4] [EMAIL_1] [EMAIL_2] of [EMAIL_2] and [EMAIL_3]" {
			w.t.Errorf("the preview: %s", got)
		}
		fork := w.ok(live, "POST", "/v1/sessions/ses_stay/fork", "").text("session_id")
		if got := notesOf(w.hydrate(w.token(fork, "read:context"), fork).object()); got != cy+" [EMAIL_1] [EMAIL_2] of [EMAIL_2] and [EMAIL_3]" {
			w.t.Errorf("the fork: %s", got)
		}

		w.ok(live, "DELETE", "/v1/sessions/ses_stay", "")
		put(bo)
		agent, other = w.token("ses_stay", "read:context"), w.token("ses_stay", "read:context")
		says("captured anew", "[EMAIL_1]")
	})
}

// notesOf are the bodies of the notes of a resume context.
func notesOf(context object) string {
	var bodies []string
	notes, _ := context["notes"].([]any)
	for _, n := range notes {
		bodies = append(bodies, n.(object)["body"].(string))
	}
	return strings.Join(bodies, " ")
}
