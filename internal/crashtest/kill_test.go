package crashtest

import (
	"testing"

	"hodl"
)

func TestKill(t *testing.T) {
	t.Parallel()
	kill(t, onSQLite(t))
}

func TestKillPostgres(t *testing.T) {
	t.Parallel()
	kill(t, onPostgres(t))
}

// kill ends the server with SIGKILL in the middle of its work, again and again; on
// PostgreSQL every fifth time two of them, one after the other. Nothing that was
// acknowledged may be lost, nothing be there twice, and no log show two histories.
func kill(t *testing.T, c setup) {
	w := newWorld(t, c)
	rounds := count(t, "HODL_KILLS", 50)
	for i := range rounds {
		ends := []*server{w.start()}
		if i == 0 {
			w.eraser = w.newEraser(ends[0])
		}
		if c.Database != "" && i%5 == 4 {
			ends = append(ends, w.start())
		}
		w.probe(ends[0])
		if i%10 == 9 {
			w.check()
		}
		w.round(40+w.rand.IntN(120), func() {
			if i%3 == 2 {
				w.anchoring(ends[0])
			}
			for _, s := range ends {
				s.kill()
			}
		}, ends...)
	}
	s := w.start()
	snapshot := w.check()
	w.audit(s, snapshot)
	w.eraser.wholly(w)
	w.stranger.verify(w.ctx, t, s, w.keys[hodl.Live], w.keys[hodl.Sandbox], w.eraser.key)
	w.summary(snapshot, rounds)
}
