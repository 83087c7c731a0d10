package crashtest

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"hodl"
)

// audit reads everything through the API, as its owner does, and compares it with
// the journal and with the database.
func (w *world) audit(s *server, snap *snapshot) {
	w.t.Helper()
	for m, key := range w.keys {
		w.auditRecords(s, key, snap.logs[m])
		w.auditSessions(s, key, m)
		w.auditTokens(s, key, m)
	}
	w.report(nil)
}

// pages reads a list to its end. T is the shape of an item.
func pages[T any](w *world, s *server, path, key string) []T {
	w.t.Helper()
	var out []T
	for cursor := ""; ; {
		var page struct {
			Sessions []T    `json:"sessions"`
			Tokens   []T    `json:"resume_tokens"`
			Records  []T    `json:"access_records"`
			Next     string `json:"next_cursor"`
		}
		s.get(w.ctx, w.t, path+"?limit=100&cursor="+url.QueryEscape(cursor), key, &page)
		out = slices.Concat(out, page.Sessions, page.Tokens, page.Records)
		if cursor = page.Next; cursor == "" {
			return out
		}
	}
}

func (w *world) auditRecords(s *server, key string, log *logState) {
	w.t.Helper()
	list := pages[hodl.Record](w, s, "/v1/access_records", key)
	if len(list) != len(log.records) {
		w.t.Errorf("the API lists %d records, the database has %d", len(list), len(log.records))
		return
	}
	slices.SortFunc(list, func(a, b hodl.Record) int { return cmp.Compare(a.Seq, b.Seq) })
	for i, r := range list {
		if row := log.records[i]; r.ID != row.id || r.Seq != row.seq {
			w.t.Errorf("the API lists %s as %d, the database %s as %d", r.ID, r.Seq, row.id, row.seq)
		}
	}
}

// auditSessions checks titles, which no two captures share, and that the notes of
// agents survived every capture.
func (w *world) auditSessions(s *server, key string, m hodl.Mode) {
	w.t.Helper()
	type item struct {
		ID    hodl.SessionID `json:"session_id"`
		Title string
	}
	seen := map[string]bool{}
	for _, x := range pages[item](w, s, "/v1/sessions", key) {
		if _, sent := w.journal.marks[x.Title]; !sent || seen[x.Title] {
			w.t.Errorf("%s: the title %q is there twice or was never sent", x.ID, x.Title)
		}
		seen[x.Title] = true
		if claim := w.journal.sessions[x.ID]; claim != nil {
			if x.Title != claim.title && !slices.Contains(claim.since, x.Title) {
				w.t.Errorf("%s is titled %q; %q was acknowledged", x.ID, x.Title, claim.title)
			}
			w.auditNotes(s, key, x.ID, claim)
		}
	}
	for id, claim := range w.journal.sessions {
		if claim.mode == m && len(claim.made) > 0 && !seen[claim.title] && len(claim.since) == 0 {
			w.t.Errorf("the API does not list %s", id)
		}
	}
}

func (w *world) auditNotes(s *server, key string, id hodl.SessionID, claim *sessionClaim) {
	w.t.Helper()
	var content struct{ Notes []hodl.Note }
	s.get(w.ctx, w.t, "/v1/sessions/"+string(id)+"/content", key, &content)
	seen := map[string]bool{}
	for i, n := range content.Notes {
		if _, sent := claim.notes[n.Body]; !sent || seen[n.Body] || !strings.HasPrefix(n.Author, "agent:") || n.ID != int64(i)+1 {
			w.t.Errorf("%s: note %d, %q by %s, is there twice, misnumbered or was never sent", id, n.ID, n.Body, n.Author)
		}
		seen[n.Body] = true
	}
	for text, acked := range claim.notes {
		if acked && !seen[text] {
			w.t.Errorf("%s: the note %q was acknowledged and is not there", id, text)
		}
	}
}

func (w *world) auditTokens(s *server, key string, m hodl.Mode) {
	w.t.Helper()
	type item struct {
		JTI       hodl.TokenID
		Left      int     `json:"hydrations_left"`
		RevokedAt *string `json:"revoked_at"`
	}
	listed := map[hodl.TokenID]item{}
	for _, x := range pages[item](w, s, "/v1/resume_tokens", key) {
		listed[x.JTI] = x
	}
	for id, claim := range w.journal.tokens {
		x, ok := listed[id]
		switch {
		case claim.mode != m:
		case !ok:
			w.t.Errorf("the API does not list %s", id)
		case !claim.hydrations.allows(claim.most - x.Left):
			w.t.Errorf("%s has %d of %d hydrations left; clients know of %v", id, x.Left, claim.most, claim.hydrations)
		case x.RevokedAt == nil && claim.revocation.acked > 0:
			w.t.Errorf("the API lists %s as not revoked", id)
		}
	}
}
