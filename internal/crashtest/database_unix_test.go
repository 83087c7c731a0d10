//go:build unix

package crashtest

import "testing"

// TestKillDatabase kills PostgreSQL under the server, which stays: it refuses with
// 503 while there is no database, loses nothing, and recovers by itself.
func TestKillDatabase(t *testing.T) {
	c := newCluster(t, deadline(t))
	w := newWorld(t, onPostgres(t))
	s := w.start()
	rounds := count(t, "HODL_DATABASE_KILLS", 10)
	for i := range rounds {
		w.round(40+w.rand.IntN(120), func() { c.crash(i%2 == 0) }, s)
		c.start()
		w.recover(s)
		w.check()
	}
	snapshot := w.check()
	w.audit(s, snapshot)
	w.summary(snapshot, rounds)
}

// recover tries until the server works again. From then on it may not fail.
func (w *world) recover(s *server) {
	w.t.Helper()
	until(w.ctx, w.t, "the server's recovery", func() bool { return w.keeper.capture(w.ctx, s, "") == nil })
	s.failing.Store(false)
}
