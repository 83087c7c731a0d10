package crashtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"hodl"
)

// A server is a running child.
type server struct {
	greeting
	// failing tells that somebody is about to break something: from then on a
	// request may go unanswered.
	failing atomic.Bool

	t      testing.TB
	cmd    *exec.Cmd
	stdin  io.Closer
	stdout io.Reader
	log    *tail
	client *http.Client
	ended  sync.Once
	err    error
}

// start runs a server and waits until it listens.
func start(ctx context.Context, t testing.TB, c setup) *server {
	t.Helper()
	s := launch(ctx, t, c)
	if err := s.hello(); err != nil {
		s.kill()
		t.Fatalf("the server did not start: %v\n%s", err, s.log)
	}
	return s
}

// launch runs a server and does not wait for it.
func launch(ctx context.Context, t testing.TB, c setup) *server {
	t.Helper()
	config, err := json.Marshal(c)
	must(t, err)
	s := &server{t: t, log: &tail{}, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}}
	s.cmd = exec.CommandContext(ctx, os.Args[0])
	s.cmd.Env = append(os.Environ(), childVariable+"="+string(config))
	s.cmd.Stderr = s.log
	s.stdin, err = s.cmd.StdinPipe()
	must(t, err)
	s.stdout, err = s.cmd.StdoutPipe()
	must(t, err)
	must(t, s.cmd.Start())
	t.Cleanup(s.kill)
	return s
}

// hello waits until the server listens.
func (s *server) hello() error { return json.NewDecoder(s.stdout).Decode(&s.greeting) }

// kill ends the server as a power cut would, as far as one process goes.
func (s *server) kill() {
	_ = s.cmd.Process.Kill() // it may be gone already
	_ = s.wait()
}

// terminate asks the server to stop and returns how it ended.
func (s *server) terminate() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return s.wait()
}

func (s *server) wait() error {
	s.ended.Do(func() {
		s.err = s.cmd.Wait()
		_ = s.stdin.Close() // Wait has closed it
		s.client.CloseIdleConnections()
		for _, sign := range []string{"DATA RACE", "panic"} {
			if strings.Contains(s.log.String(), sign) {
				s.t.Errorf("the server's log:\n%s", s.log)
			}
		}
	})
	return s.err
}

// A tail keeps the last of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (l *tail) Write(p []byte) (int, error) {
	const most = 64 << 10
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, p...)
	if extra := len(l.text) - most; extra > 0 {
		l.text = append(l.text[:0], l.text[extra:]...)
	}
	return len(p), nil
}

func (l *tail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.text)
}

// An answer is a response that arrived whole.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// send makes a request with a credential. An error means that no answer, or only a
// part of one, came back. A client that is too fast waits as it is told.
// Headers come in pairs.
func (s *server) send(ctx context.Context, method, path, credential string, body any, headers ...string) (*answer, error) {
	for {
		a, err := s.sendOnce(ctx, method, path, credential, body, headers...)
		if err != nil || a.code() != hodl.RateLimited {
			return a, err
		}
		wait, err := time.ParseDuration(a.header.Get("Retry-After") + "s")
		if err != nil {
			return nil, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (s *server) sendOnce(ctx context.Context, method, path, credential string, body any, headers ...string) (*answer, error) {
	var payload io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		payload = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, s.URL+path, payload)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+credential)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := s.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	a := &answer{status: res.StatusCode, header: res.Header}
	a.body, err = io.ReadAll(res.Body)
	return a, err
}

// get reads what must be there.
func (s *server) get(ctx context.Context, t testing.TB, path, key string, out any) {
	t.Helper()
	a, err := s.send(ctx, http.MethodGet, path, key, nil)
	must(t, err)
	if a.status != http.StatusOK {
		t.Fatalf("GET %s: %d %s", path, a.status, a.body)
	}
	must(t, json.Unmarshal(a.body, out))
}

func (a *answer) ok() bool { return a.status == http.StatusOK || a.status == http.StatusCreated }

// code returns the code of a refusal.
func (a *answer) code() hodl.Code {
	var envelope struct {
		Error struct{ Code hodl.Code }
	}
	_ = json.Unmarshal(a.body, &envelope) // without an envelope there is no code
	return envelope.Error.Code
}

// field returns a member of a JSON answer that holds text.
func (a *answer) field(name string) string {
	var members map[string]any
	_ = json.Unmarshal(a.body, &members) // a prompt has none
	text, _ := members[name].(string)
	return text
}

// until polls.
func until(ctx context.Context, t testing.TB, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s: %v", what, ctx.Err())
		}
	}
}

// deadline is t's context with its deadline, or ten minutes.
func deadline(t *testing.T) context.Context {
	t.Helper()
	const spare = 10 * time.Second // to tell what went wrong
	at, ok := t.Deadline()
	if !ok {
		at = time.Now().Add(10 * time.Minute)
	}
	ctx, cancel := context.WithDeadlineCause(t.Context(), at.Add(-spare), errors.New("the test ran out of time"))
	t.Cleanup(cancel)
	return ctx
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
