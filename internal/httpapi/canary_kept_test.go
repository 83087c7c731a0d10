package httpapi_test

import (
	"compress/gzip"
	"encoding/base64"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hodl/internal/serve"
)

// kept is all that is taken out of the server in files, and what its webhooks are made
// of: a backup, unpacked; both exports of the owner's colleague, of the sandbox and of
// another workspace; the owner's export of the access log; the outbox.
func (w *world) kept() (backup, rest string) {
	w.t.Helper()
	file := filepath.Join(w.t.TempDir(), "backup")
	_, err := serve.Backup(w.t.Context(), serve.Config{Data: w.dir}, file, func(string, int64, int64) {})
	w.must(err)
	f, err := os.Open(file)
	w.must(err)
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	w.must(err)
	all, err := io.ReadAll(unzipped)
	w.must(err)
	var others strings.Builder
	for _, who := range []string{member, sandbox, stranger} {
		others.Write(w.ok(who, "GET", "/v1/hodls/export", "").body)
		others.Write(w.ok(who, "GET", "/v1/access_records/export", "").body)
	}
	others.Write(w.ok(live, "GET", "/v1/access_records/export?user=all", "").body)
	others.WriteString(w.rowsOf("outbox"))
	return string(all), others.String()
}

// forms are how a value may stand in a file: as it is, within an address, and in the
// base64 of whatever holds it, wherever it begins.
func forms(value string) []string {
	out := []string{value, strings.ReplaceAll(value, "@", "%40"), strings.ReplaceAll(value, " ", "+"), strings.ReplaceAll(value, " ", "%20"), strings.ReplaceAll(value, " ", "")}
	for shift := range 3 {
		code := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("_", shift) + value))
		out = append(out, code[4:(len(value)+shift)/3*4])
	}
	return out
}

// What is planted in a session, in the selection of a hodl, in a note of an agent, in
// the words of a policy and in a repeatable answer is sealed where it is kept. Titles,
// notes and addresses of hodls are not: they are searched. They show that the search of
// this test finds what is there.
func TestPlantedValuesAreSealed(t *testing.T) {
	w := newWorld(t)
	text := strings.Join(planted, " and password=")
	replace := strings.NewReplacer("TEXT", text, "TAG", planted[0], "URL", "https://example.com/reset?token="+planted[2])
	w.ok(live, "PUT", "/v1/sessions/ses_kept", replace.Replace(`{"title":"TEXT","summary":"TEXT","ai_tags":["TAG"],"tabs":[{"url":"URL","title":"TEXT","selected_text":"TEXT"}],
		"reasoning_thread":[{"id":"n1","kind":"decision_stance","text":"TEXT","evidence":["URL"]}],"notes":[{"body":"TEXT"}]}`))
	w.ok(live, "POST", "/v1/hodls", replace.Replace(`{"title":"canary in clear","session_id":"ses_kept","location":{"file":"a.go","line":1,"selection":{"start_line":1,"start_column":1,"end_line":2,"end_column":1,"text":"TEXT"}}}`))
	w.ok(live, "PUT", "/v1/redaction_policies/ours", `{"extends":"balanced","dictionaries":[{"id":"x","type":"X","words":["`+planted[1]+`"]}]}`)
	minted := w.ok(live, "POST", "/v1/resume_tokens", `{"session_id":"ses_kept","audience":"claude.anthropic.com","scopes":["read:context","write:notes"]}`, "Idempotency-Key", "once").text("token")
	w.ok(minted, "POST", "/v1/sessions/ses_kept/notes", replace.Replace(`{"body":"TEXT"}`))
	w.hydrate(minted, "ses_kept")
	w.ok(live, "PUT", "/v1/sessions/ses_kept", replace.Replace(`{"title":"later","notes":[{"body":"TEXT"}]}`)) // its body keeps numbers
	w.hydrate(minted, "ses_kept")
	w.ok(live, "POST", "/v1/redaction_policies/ours/preview", `{"session_id":"ses_kept"}`)

	backup, rest := w.kept()
	for _, value := range append([]string{minted, w.keys[live]}, planted...) {
		for _, form := range forms(value) {
			if strings.Contains(backup, form) {
				t.Errorf("%s (of %s) is in the backup", form, value)
			}
			if strings.Contains(rest, form) {
				t.Errorf("%s (of %s) is in an export or in the outbox", form, value)
			}
		}
	}
	if !strings.Contains(backup, "canary in clear") {
		t.Error("the backup was not read")
	}
	for _, want := range []string{"session.handed_off", "session.held", `"kind":"preview"`, `"kind":"write"`, `"rule":"person.email"`} {
		if !strings.Contains(rest, want) {
			t.Errorf("nothing tells of %s: the test cannot fail", want)
		}
	}
	if shown := string(w.ok(live, "GET", "/v1/hodls/export", "").body); !strings.Contains(shown, planted[0]) {
		t.Error("the owner's own export lacks what was captured")
	}
}
