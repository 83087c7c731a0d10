package crashtest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"hodl"
)

// TestCheck is the control of the experiment: what is lost, doubled or changed in
// the database must not pass. Each case spoils what a healthy server left behind.
func TestCheck(t *testing.T) {
	w := newWorld(t, onSQLite(t))
	s := w.start()
	w.round(400, s.kill, s)
	if faults := check(w.journal, w.look()); len(faults) > 0 {
		t.Fatalf("before anything is spoilt: %v", faults)
	}
	for name, spoil := range spoilings {
		t.Run(name, func(t *testing.T) {
			snap := w.look()
			spoil(w.journal, snap)
			if faults := check(w.journal, snap); len(faults) == 0 {
				t.Error("the checker did not notice")
			}
		})
	}
}

func (w *world) look() *snapshot { return look(w.ctx, w.t, w.setup, w.ws) }

// live is the log most cases spoil.
func (s *snapshot) live() *logState { return s.logs[hodl.Live] }

// hydrated finds an acknowledged hydration of the live log.
func (s *snapshot) hydrated(j *journal) int {
	return slices.IndexFunc(s.live().records, func(r recordState) bool { _, ok := j.hydrations[r.id]; return ok })
}

// renumber closes the gaps of a log, as one who hides a loss would, and leaves out
// what that does to the commitments: other cases look at those.
func (l *logState) renumber() {
	for i := range l.records {
		l.records[i].seq, l.records[i].said.Seq = int64(i), int64(i)
	}
	l.size = int64(len(l.records))
}

// anyOf returns some key of a map for which ok holds.
func anyOf[K comparable, V any](m map[K]V, ok func(V) bool) K {
	for k, v := range m {
		if ok(v) {
			return k
		}
	}
	panic("the run left nothing to spoil")
}

var spoilings = map[string]func(*journal, *snapshot){
	"a record removed from the middle": func(_ *journal, s *snapshot) {
		s.live().records = slices.Delete(s.live().records, 5, 6)
	},
	"the last record removed": func(_ *journal, s *snapshot) {
		s.live().records = s.live().records[:len(s.live().records)-1]
	},
	"a hydration removed without a trace": func(j *journal, s *snapshot) {
		i := s.hydrated(j)
		r := s.live().records[i]
		s.live().records = slices.Delete(s.live().records, i, i+1)
		s.live().renumber()
		s.live().usage[hodl.Month(r.said.At)]--
		s.tokens[r.jti].hydrations--
	},
	"a record twice at one place": func(_ *journal, s *snapshot) {
		s.live().records = slices.Insert(s.live().records, 5, s.live().records[5])
	},
	"a record twice, at two places": func(_ *journal, s *snapshot) {
		s.live().records = append(s.live().records, s.live().records[5])
		s.live().renumber()
	},
	"a hydration recorded twice and counted twice": func(j *journal, s *snapshot) {
		r := s.live().records[s.hydrated(j)]
		r.id, r.said.ID = "acr_forged", "acr_forged"
		s.live().records = append(s.live().records, r)
		s.live().renumber()
		s.live().usage[hodl.Month(r.said.At)]++
		s.tokens[r.jti].hydrations += 1000
	},
	"a head one too high":           func(_ *journal, s *snapshot) { s.live().size++ },
	"a body changed":                func(_ *journal, s *snapshot) { s.live().records[3].body += " " },
	"a salt lost":                   func(_ *journal, s *snapshot) { s.live().records[3].salt = nil },
	"a column that belies its body": func(_ *journal, s *snapshot) { s.live().records[3].kind = hodl.KindDenied },
	"a month counted too high": func(_ *journal, s *snapshot) {
		s.live().usage[anyOf(s.live().usage, func(int64) bool { return true })]++
	},
	"a month forgotten": func(_ *journal, s *snapshot) { clear(s.live().usage) },
	"a token lost": func(j *journal, s *snapshot) {
		delete(s.tokens, anyOf(j.tokens, func(*tokenClaim) bool { return true }))
	},
	"a token's counter too low": func(_ *journal, s *snapshot) {
		s.tokens[anyOf(s.tokens, func(x *tokenState) bool { return x.hydrations > 0 })].hydrations--
	},
	"a revocation lost": func(j *journal, s *snapshot) {
		s.tokens[anyOf(j.tokens, func(c *tokenClaim) bool { return c.revocation.acked > 0 })].revoked = false
	},
	"a revocation nobody made": func(j *journal, s *snapshot) {
		s.tokens[anyOf(j.tokens, func(c *tokenClaim) bool { return c.revocation.sent == 0 })].revoked = true
	},
	"a session lost": func(j *journal, s *snapshot) {
		delete(s.sessions, anyOf(j.sessions, func(c *sessionClaim) bool { return len(c.made) > 0 }))
	},
	"a session nobody captured": func(_ *journal, s *snapshot) {
		for i := range clients + 1 { // as many answers may be outstanding
			s.sessions[hodl.SessionID("ses_ghost"+string(rune('a'+i)))] = &sessionState{mode: hodl.Live}
		}
	},
	"a version lost": func(j *journal, s *snapshot) {
		id := anyOf(j.sessions, func(c *sessionClaim) bool { return len(c.made) > 1 })
		delete(s.sessions[id].versions, j.sessions[id].made[0])
	},
	"a session rolled back": func(j *journal, s *snapshot) {
		id := anyOf(j.sessions, func(c *sessionClaim) bool { return len(c.made) > 1 })
		s.sessions[id].fingerprint = j.sessions[id].made[0]
	},
	"a hodl lost": func(j *journal, s *snapshot) {
		delete(s.hodls, anyOf(j.titles, func(string) bool { return true }))
	},
	"a hodl twice": func(_ *journal, s *snapshot) {
		s.hodls["hdl_again"] = s.hodls[anyOf(s.hodls, func(*hodlState) bool { return true })]
	},
	"an event lost":  func(_ *journal, s *snapshot) { s.events = s.events[1:] },
	"an event twice": func(_ *journal, s *snapshot) { s.events = append(s.events, s.events[len(s.events)/2]) },
	"an answer given twice": func(j *journal, _ *snapshot) {
		id := anyOf(j.hydrations, func(hydrationClaim) bool { return true })
		j.note(func() { j.hydrated(id, j.hydrations[id]) })
	},
}

// TestRollback is the control of the stranger: a log that begins again from an older
// copy of the database is noticed, by what was seen in between alone.
func TestRollback(t *testing.T) {
	w := newWorld(t, onSQLite(t))
	s := w.start()
	w.round(100, s.kill, s)
	old := w.setup
	old.Data = t.TempDir()
	must(t, os.CopyFS(old.Data, os.DirFS(w.setup.Data)))
	must(t, os.Chmod(filepath.Join(old.Data, "master.key"), 0o600))
	s = w.start()
	w.round(100, s.kill, s)
	must(t, w.stranger.hold(w.ctx, t, w.start(), true))
	if err := w.stranger.hold(w.ctx, t, start(w.ctx, t, old), true); err == nil {
		t.Error("an older copy of the database was taken for the log")
	}
}
