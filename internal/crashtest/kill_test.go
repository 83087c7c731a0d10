package crashtest

import "testing"

func TestKill(t *testing.T) {
	t.Parallel()
	kill(t, onSQLite(t))
}

func TestKillPostgres(t *testing.T) {
	t.Parallel()
	kill(t, onPostgres(t))
}

// kill ends the server with SIGKILL in the middle of its work, again and again.
// Nothing it acknowledged may be lost, and nothing be there twice.
func kill(t *testing.T, c setup) {
	w := newWorld(t, c)
	rounds := count(t, "HODL_KILLS", 50)
	for i := range rounds {
		s := w.start()
		w.probe(s)
		if i%10 == 9 {
			w.check()
		}
		w.round(s, 40+w.rand.IntN(120), s.kill)
	}
	s := w.start()
	snapshot := w.check()
	w.audit(s, snapshot)
	w.summary(snapshot, rounds)
}
