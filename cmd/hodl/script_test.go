package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// exits runs a program and wants an exit code: exits 2 hodl hold.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	if err != nil || neg {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS…")
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		failed, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = failed.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// matchJSON wants standard output or error to be one JSON value whose member
// matches a pattern: json stdout hodls.0.title ^A$.
func matchJSON(ts *testscript.TestScript, neg bool, args []string) {
	var v any
	if err := json.Unmarshal([]byte(ts.ReadFile(args[0])), &v); err != nil {
		ts.Fatalf("not one JSON value: %v", err)
	}
	for step := range strings.SplitSeq(args[1], ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[step]
		case []any:
			i, err := strconv.Atoi(step)
			if v = nil; err == nil && i < len(x) {
				v = x[i]
			}
		default:
			v = nil
		}
	}
	if got := fmt.Sprint(v); regexp.MustCompile(args[2]).MatchString(got) == neg {
		ts.Fatalf("%s is %q", args[1], got)
	}
}

// let keeps what a program printed in a variable: let ID stdout.
func let(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile(args[1])))
}

type running struct {
	*exec.Cmd
	out *bufio.Reader
}

// untilStopped starts hodl serve, or hodl witness, on a free port in the background
// and waits until it tells its address, which goes into a variable: serve one --data d.
// What it told is in the file one.out, what it logs in one.err.
func untilStopped(command, variable string) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) { inBackground(ts, command, variable, args) }
}

func inBackground(ts *testscript.TestScript, command, variable string, args []string) {
	log, err := os.Create(ts.MkAbs(args[0] + ".err"))
	ts.Check(err)
	c := exec.Command("hodl", append([]string{command, "--listen", "127.0.0.1:0"}, args[1:]...)...)
	c.Dir, c.Stderr, c.Env = ts.MkAbs("."), log, append(os.Environ(), "NO_COLOR=1")
	out, err := c.StdoutPipe()
	ts.Check(err)
	ts.Check(c.Start())
	ts.Check(log.Close())
	r := &running{c, bufio.NewReaderSize(out, 64<<10)}
	ts.Defer(func() { _ = c.Process.Kill() })
	servers.Store(ts.MkAbs(args[0]), r)

	// It is written at once and fits a pipe, so it is read at once.
	_, err = r.out.Peek(1)
	if err != nil {
		_ = c.Wait()
		ts.Fatalf("hodl %s: %s", command, ts.ReadFile(args[0]+".err"))
	}
	told, err := r.out.Peek(r.out.Buffered())
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".out"), told, 0o600))
	ts.Setenv(variable, regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(string(told)))
}

// servers holds those of all scripts, by the script's folder and their name.
var servers sync.Map

// stop sends SIGTERM to a server and wants it to exit with 0: stop one.
func stop(ts *testscript.TestScript, _ bool, args []string) {
	found, _ := servers.Load(ts.MkAbs(args[0]))
	r, ok := found.(*running)
	if !ok {
		ts.Fatalf("no server %s", args[0])
	}
	ts.Check(r.Process.Signal(syscall.SIGTERM))
	if err := r.Wait(); err != nil {
		ts.Fatalf("stop %s: %v: %s", filepath.Base(args[0]), err, ts.ReadFile(args[0]+".err"))
	}
}
