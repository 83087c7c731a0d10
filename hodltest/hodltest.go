// Package hodltest runs a real hodl server for a test, as net/http/httptest runs
// an HTTP server: on a free loopback port, with an empty database of its own, gone
// when the test ends.
//
//	server := hodltest.Start(t)
//	captured, err := server.Client().CaptureSession(t.Context(), hodl.SessionDraft{Title: "the cache bug"})
package hodltest

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"hodl"
	"hodl/client"
	"hodl/internal/serve"
)

// A Server is one that serves until its test ends.
type Server struct {
	URL        string // such as http://127.0.0.1:40123
	LiveKey    string // of the first workspace's admin, as the next
	SandboxKey string
	Workspace  hodl.WorkspaceID
	Data       string // the folder of the SQLite database

	stop func()
}

// An Option changes the server a test gets.
type Option func(*setting)

type setting struct {
	serve serve.Config
	plan  hodl.PlanName
}

// Clock makes the server tell the time by now, which must be safe for concurrent
// use.
func Clock(now func() time.Time) Option {
	return func(s *setting) { s.serve.Now = now }
}

// Data makes the server work on the SQLite database in a folder, which outlives
// it. A server that is not the first on its folder has no keys to tell.
func Data(dir string) Option {
	return func(s *setting) { s.serve.Data = dir }
}

// Demo seeds the public sandbox key and session.
func Demo() Option {
	return func(s *setting) { s.serve.Demo = true }
}

// Plan puts the first workspace on a plan; without it, it has no limits.
func Plan(name hodl.PlanName) Option {
	return func(s *setting) { s.plan = name }
}

// Start starts a server on embedded SQLite, or fails the test. What it logs goes
// to the test's log.
func Start(t testing.TB, options ...Option) *Server {
	t.Helper()
	s := &setting{serve: serve.Config{
		Listen: "127.0.0.1:0", Data: t.TempDir(), Release: "test", Log: logTo(t),
	}}
	for _, o := range options {
		o(s)
	}
	ctx, cancel := context.WithCancel(context.Background())
	server, err := serve.Open(ctx, s.serve)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	out := &Server{URL: server.URL, Data: s.serve.Data}
	out.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("stop the server: %v", err)
		}
	})
	t.Cleanup(out.stop)
	out.keep(server.FirstKeys)
	if s.plan != "" {
		setPlan(t, s)
	}
	return out
}

func (s *Server) keep(keys []*serve.Credential) {
	for _, c := range keys {
		s.Workspace = c.Workspace.ID
		if c.Stored.Mode == hodl.Live {
			s.LiveKey = c.Key
			continue
		}
		s.SandboxKey = c.Key
	}
}

// Stop stops the server before the test ends, and waits for it.
func (s *Server) Stop() { s.stop() }

// Client returns a client with the live key.
func (s *Server) Client(options ...client.Option) *client.Client {
	return client.New(s.URL, s.LiveKey, options...)
}

// Sandbox returns a client with the sandbox key.
func (s *Server) Sandbox(options ...client.Option) *client.Client {
	return client.New(s.URL, s.SandboxKey, options...)
}

// Agent returns an agent that presents a resume token.
func (s *Server) Agent(token string, options ...client.Option) *client.Agent {
	return client.NewAgent(s.URL, token, options...)
}

func setPlan(t testing.TB, s *setting) {
	t.Helper()
	db, err := serve.OpenStore(t.Context(), s.serve)
	if err != nil {
		t.Fatal(err)
	}
	w, err := db.WorkspaceNamed(t.Context(), serve.FirstWorkspace)
	if err == nil {
		err = db.SetPlan(t.Context(), w.ID, s.plan)
	}
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatalf("set the plan: %v", err)
	}
}

// logTo returns a logger that writes to t's log, a line at a time.
func logTo(t testing.TB) *slog.Logger {
	return slog.New(slog.NewTextHandler(lines{t}, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

type lines struct{ testing.TB }

func (l lines) Write(b []byte) (int, error) {
	l.Log(string(bytes.TrimRight(b, "\n")))
	return len(b), nil
}
