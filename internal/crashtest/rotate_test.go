package crashtest

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hodl/internal/doctor"
	"hodl/internal/serve"
)

// rotatorVariable, when set, makes this binary replace the keys of that installation
// again and again.
const rotatorVariable = "HODL_CRASHTEST_ROTATOR"

// rotator replaces data keys without a pause, and the master key now and then. It
// tells a line when a rotation is done.
func rotator(config string) error {
	var s setup
	if err := json.Unmarshal([]byte(config), &s); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // until the parent is gone
		os.Exit(2)
	}()
	for n := 0; ; n++ {
		order := serve.RotateOrder{DataKeys: true, Master: n%3 == 0, Progress: func(string, int64, int64) {}}
		if order.Master {
			if _, err := serve.AddMasterKey(s.masterFile()); err != nil {
				return err
			}
		}
		got, err := serve.Rotate(context.Background(), s.config(), order)
		if err != nil {
			return err
		}
		fmt.Println(got.Values)
	}
}

func (s setup) masterFile() string {
	return cmp.Or(s.MasterKeyFile, filepath.Join(s.Data, "master.key"))
}

func TestKillRotation(t *testing.T) {
	t.Parallel()
	killRotation(t, onSQLite(t))
}

func TestKillRotationPostgres(t *testing.T) {
	t.Parallel()
	killRotation(t, onPostgres(t))
}

// killRotation replaces keys while a server works, and kills now the one, now the
// other, now both. Nothing that was acknowledged is lost, and everything opens.
func killRotation(t *testing.T, c setup) {
	w := newWorld(t, c)
	rounds := count(t, "HODL_KILLS", 12)
	done := int64(0)
	for i := range rounds {
		s := w.start()
		w.probe(s)
		r := w.startRotator()
		w.round(40+w.rand.IntN(80), func() {
			switch i % 4 {
			case 0:
				r.kill()
			case 1: // one rotation at least goes through
				until(w.ctx, t, "waiting for a rotation", func() bool { return r.finished.Load() > 0 || r.over() })
			}
			s.kill()
		}, s)
		<-time.After(time.Duration(w.rand.Int64N(int64(20 * time.Millisecond)))) // alone, for a while
		r.kill()
		done += r.finished.Load()
		w.check()
	}
	order := serve.RotateOrder{DataKeys: true, Master: true, Progress: func(string, int64, int64) {}}
	if _, err := serve.Rotate(w.ctx, c.config(), order); err != nil {
		t.Fatal(err)
	}
	s := w.start()
	snapshot := w.check()
	w.audit(s, snapshot)
	must(t, s.terminate())
	w.wellAfter()
	w.summary(snapshot, rounds)
	t.Logf("%d rotations were finished", done)
}

// wellAfter has every sealed value opened.
func (w *world) wellAfter() {
	w.t.Helper()
	must(w.t, serve.Examine(w.ctx, w.setup.config(), func(c doctor.Check) {
		quick := c.Name == "database" // PostgreSQL for tests does not wait for the disk
		if c.Status == doctor.Failed && !quick || c.Name == "rotation" && c.Status != doctor.OK {
			w.t.Errorf("%s: %s", c.Name, c.Detail)
		}
	}, nil))
}

// A rotating process is one that runs rotator.
type rotating struct {
	cmd      *exec.Cmd
	stdin    io.Closer
	finished atomic.Int64  // rotations
	told     chan struct{} // closed when it says no more
	log      *tail
	t        *testing.T
	ended    sync.Once
}

func (w *world) startRotator() *rotating {
	w.t.Helper()
	config, err := json.Marshal(w.setup)
	must(w.t, err)
	r := &rotating{cmd: exec.CommandContext(w.ctx, os.Args[0]), told: make(chan struct{}), log: &tail{}, t: w.t}
	r.cmd.Env = append(os.Environ(), rotatorVariable+"="+string(config))
	r.cmd.Stderr = r.log
	r.stdin, err = r.cmd.StdinPipe()
	must(w.t, err)
	out, err := r.cmd.StdoutPipe()
	must(w.t, err)
	must(w.t, r.cmd.Start())
	w.t.Cleanup(r.kill)
	go func() {
		defer close(r.told)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			r.finished.Add(1)
		}
	}()
	return r
}

// over reports whether it has ended, which it does by itself only when it failed.
func (r *rotating) over() bool {
	select {
	case <-r.told:
		return true
	default:
		return false
	}
}

// kill ends the process.
func (r *rotating) kill() {
	r.ended.Do(func() {
		failed := r.over()
		_ = r.cmd.Process.Kill() // it may be gone already
		<-r.told
		_ = r.cmd.Wait()
		_ = r.stdin.Close() // Wait has closed it
		if failed {
			r.t.Errorf("the rotation failed: %s", r.log)
		}
	})
}
