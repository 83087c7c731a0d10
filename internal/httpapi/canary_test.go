package httpapi_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"hodl/internal/render"
)

// planted are values of kinds that every preset but off removes some of; joined from
// parts, or scanners stop the change.
var planted = []string{
	"karin.lind@" + "fjordbank.no", "Vq7" + "rT2pLx9ZsW4", "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a", "DE89 3704 " + "0044 0532 0130 00", "4111 1111 " + "1111 1111",
}

// plant captures a session with a value in every text a client can write.
func (w *world) plant(id string) {
	w.t.Helper()
	text := fmt.Sprintf("mail %s, password=%s and %s, IBAN %s, card %s", planted[0], planted[1], planted[2], planted[3], planted[4])
	address := "https://example.com/reset?token=" + planted[2] + "#access_token=" + planted[1]
	w.ok(live, "PUT", "/v1/sessions/"+id, strings.NewReplacer("TEXT", text, "TAG", planted[0], "URL", address).Replace(`{"title":"TEXT","summary":"TEXT","ai_tags":["TAG"],
		"tabs":[{"url":"URL","title":"TEXT","selected_text":"TEXT","tab_role":"TAG"}],"media":[{"kind":"video","url":"URL","transcript_anchor":"TEXT"}],
		"reasoning_thread":[{"id":"n1","kind":"decision_stance","text":"TEXT","evidence":["URL","TEXT"]}],"notes":[{"body":"TEXT"}]}`))
	w.ok(live, "POST", "/v1/hodls", strings.NewReplacer("TEXT", text, "TAG", planted[0], "URL", address, "SES", id).Replace(`{"title":"TEXT","note":"TEXT","url":"URL","tags":["TAG"],"session_id":"SES",
		"location":{"repository":"https://example.com/r","file":"a.go","line":1,"branch":"main","selection":{"start_line":1,"start_column":1,"end_line":2,"end_column":1,"text":"TEXT"}}}`))
}

// outside is all that somebody sees who is not the session's owner: the holders of
// tokens, another member, another workspace; and what is written down of it all.
func (w *world) outside(id string) string {
	w.t.Helper()
	var all strings.Builder
	tell := func(a *answer) { fmt.Fprintf(&all, "%s %v\n", a, a.header) }
	token := w.token(id, "read:context read:reasoning read:transcript write:notes write:next_step session:hand_off", `"max_hydrations":100`)
	for _, f := range render.Formats() {
		tell(w.call(token, "POST", "/v1/sessions/"+id+"/hydrate?format="+string(f), ""))
	}
	child := w.ok(token, "POST", "/v1/resume_tokens/exchange", `{"audience":"agents.openai.com","scopes":["read:context","read:reasoning"]}`)
	tell(w.hydrate(child.text("token"), id))
	names := strings.NewReplacer("{ses}", id, "{pol}", "balanced")
	for _, r := range tokenRoutes {
		tell(w.call(token, r.method, names.Replace(r.path), r.body))
		tell(w.call(token, r.method, names.Replace(r.path), `{"no":"field of this"}`))
	}
	for _, r := range keyRoutes {
		for _, who := range []string{member, stranger, sandbox, nobody, token} {
			tell(w.call(who, r.method, names.Replace(r.path), names.Replace(r.body)))
		}
	}
	tell(w.call(live, "POST", "/v1/redaction_policies/default-strict/preview", `{"session_id":"`+id+`","format":"markdown"}`))
	tell(w.call(live, "GET", "/v1/access_records?limit=100", ""))
	tell(w.call(nobody, "GET", "/metrics", ""))
	all.WriteString(w.log.String())
	all.WriteString(w.rowsOf("outbox", "access_records", "access_details", "tokens", "usage", "revocations", "idempotency_keys", "session_versions", "sessions"))
	return all.String()
}

// rowsOf is what lies in tables: what a webhook is made of, and what a backup holds.
func (w *world) rowsOf(tables ...string) string {
	w.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(w.dir, "hodl.db")+"?mode=ro&_pragma=busy_timeout(10000)")
	w.must(err)
	defer db.Close()
	var all strings.Builder
	read := func(table string) {
		rows, err := db.Query(`select * from ` + table)
		w.must(err)
		defer rows.Close()
		columns, err := rows.Columns()
		w.must(err)
		for rows.Next() {
			values, places := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				places[i] = &values[i]
			}
			w.must(rows.Scan(places...))
			for _, v := range values {
				fmt.Fprintf(&all, "%s ", v)
			}
		}
		w.must(rows.Err())
	}
	for _, table := range tables {
		read(table)
	}
	return all.String()
}

// What is planted in a session reaches nobody but its owner. With the policy off it
// reaches the holder of a token, or the test could not fail.
func TestPlantedValuesStay(t *testing.T) {
	w := newWorld(t)
	w.plant("ses_planted")
	hidden := w.outside("ses_planted")
	for _, value := range planted {
		for _, form := range []string{value, strings.ReplaceAll(value, "@", "%40"), strings.ReplaceAll(value, " ", "%20"), strings.ReplaceAll(value, " ", "+"), strings.ReplaceAll(value, " ", "")} {
			if i := strings.Index(hidden, form); i >= 0 {
				t.Errorf("%s shows in …%s…", form, hidden[max(0, i-200):min(len(hidden), i+100)])
			}
		}
	}
	w.ok(live, "POST", "/v1/redaction_policies/off/use", "")
	w.plant("ses_open")
	open := w.outside("ses_open")
	for _, value := range planted {
		if !strings.Contains(open, value) {
			t.Errorf("with the policy off %s is nowhere: the test cannot fail", value)
		}
	}
}
