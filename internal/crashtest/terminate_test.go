package crashtest

import "testing"

func TestTerminate(t *testing.T) {
	t.Parallel()
	terminate(t, onSQLite(t))
}

func TestTerminatePostgres(t *testing.T) {
	t.Parallel()
	terminate(t, onPostgres(t))
}

// terminate sends SIGTERM in the middle of the work: the server answers what it has
// begun, and exits with 0.
func terminate(t *testing.T, c setup) {
	w := newWorld(t, c)
	rounds := count(t, "HODL_STOPS", 10)
	for range rounds {
		s := w.start()
		w.probe(s)
		w.round(40+w.rand.IntN(120), func() {
			if err := s.terminate(); err != nil {
				t.Errorf("the server ended with %v\n%s", err, s.log)
			}
		}, s)
	}
	s := w.start()
	snapshot := w.check()
	w.audit(s, snapshot)
	w.summary(snapshot, rounds)
}
