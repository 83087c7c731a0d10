package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"hodl"
	"hodl/client"
	"hodl/internal/mcpserver"
	"hodl/internal/serve"
)

//go:embed testdata
var testdata embed.FS

// What is installed, by exact version.
const (
	nodeVersion   = "24.21.0"
	pythonPackage = "mcp==2.3.0"
)

// A bench is what the steps work with: the programs, a server with a session in it,
// and the same with the suite's fixtures.
type bench struct {
	cache        string // absolute
	node, python string
	program      string // hodl
	product      *served
	fixture      *served
	stop         []func() error
}

// served is a server that runs, and a way to it for programs that cannot present a
// key.
type served struct {
	url, key string
	open     string // a proxy that presents the key
}

func setUp(ctx context.Context, cache string) (b *bench, err error) {
	b = &bench{}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	if b.cache, err = filepath.Abs(cache); err != nil {
		return b, err
	}
	if err := b.install(ctx); err != nil {
		return b, err
	}
	if b.product, err = b.serve(ctx, nil); err != nil {
		return b, err
	}
	b.fixture, err = b.serve(ctx, fixtures(ctx))
	return b, err
}

func (b *bench) close() {
	for _, stop := range b.stop {
		if err := stop(); err != nil && !errors.Is(err, context.Canceled) {
			fmt.Fprintln(os.Stderr, "stop:", err)
		}
	}
}

// install gets the programs, unless they are there.
func (b *bench) install(ctx context.Context) error {
	if err := os.MkdirAll(b.cache, 0o755); err != nil {
		return err
	}
	entries, err := testdata.ReadDir("testdata")
	if err != nil {
		return err
	}
	for _, e := range entries {
		text, err := testdata.ReadFile("testdata/" + e.Name())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(b.cache, e.Name()), text, 0o644); err != nil {
			return err
		}
	}
	platform := "node-" + map[string]string{"windows": "win"}[runtime.GOOS] + strings.TrimPrefix(runtime.GOOS, "windows") + "-" + map[string]string{"amd64": "x64"}[runtime.GOARCH] + strings.TrimPrefix(runtime.GOARCH, "amd64")
	b.node = filepath.Join(b.cache, "node", "node_modules", platform, "bin", "node")
	b.python = filepath.Join(b.cache, "python", "bin", "python")
	b.program = filepath.Join(b.cache, "hodl")
	for _, want := range []struct{ there, command string }{
		{b.node, "npm install --no-save --no-audit --no-fund --ignore-scripts --loglevel=error --prefix node " + platform + "@" + nodeVersion},
		{filepath.Join(b.cache, "node_modules", "@modelcontextprotocol", "conformance"), "npm ci --no-audit --no-fund --ignore-scripts --loglevel=error"},
		{b.python, "python3 -m venv python"},
		{filepath.Join(b.cache, "python", "bin", "mcp"), b.python + " -m pip install --quiet --disable-pip-version-check " + pythonPackage},
	} {
		if _, err := os.Stat(want.there); err == nil {
			continue
		}
		fmt.Println("install:", want.command)
		if out, err := b.command(ctx, want.command).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", want.command, err, out)
		}
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", b.program, "./cmd/hodl")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build hodl: %w\n%s", err, out)
	}
	return nil
}

// command is a line without quotes, to be run among what is installed.
func (b *bench) command(ctx context.Context, line string) *exec.Cmd {
	words := strings.Fields(line)
	c := exec.CommandContext(ctx, words[0], words[1:]...)
	c.Dir = b.cache
	return c
}

// tool is a program of npm under the Node that was installed.
func (b *bench) tool(ctx context.Context, path string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, b.node, append([]string{filepath.Join(b.cache, "node_modules", path)}, args...)...)
	c.Dir = b.cache
	return c
}

// serve starts a server with a session in it.
func (b *bench) serve(ctx context.Context, f *mcpserver.Fixtures) (*served, error) {
	dir, err := os.MkdirTemp(b.cache, "data-")
	if err != nil {
		return nil, err
	}
	server, err := serve.Open(ctx, serve.Config{Listen: "127.0.0.1:0", Data: dir, Release: "interop", Log: slog.New(slog.DiscardHandler), Fixtures: f})
	if err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- server.Run(running) }()
	s := &served{url: server.URL, key: server.FirstKeys[0].Key}
	s.open, err = b.proxy(s)
	b.stop = append(b.stop, func() error { stop(); return errors.Join(<-done, os.RemoveAll(dir)) })
	if err != nil {
		return nil, err
	}
	_, err = client.New(s.url, s.key).PutSession(ctx, "ses_first", hodl.SessionDraft{
		Title: "The cache bug", Summary: "Stale reads after a deploy", Tags: []string{"cache"},
		Tabs:   []hodl.Tab{{URL: "https://example.com/issues/7", Title: "Stale reads", SelectedText: "only the second node"}},
		Thread: []hodl.Node{{ID: "n1", Kind: hodl.Observation, Text: "Only the second node is stale."}},
	})
	return s, err
}

// proxy presents the key of a server for who cannot, and changes nothing else.
func (b *bench) proxy(s *served) (string, error) {
	to, err := url.Parse(s.url)
	if err != nil {
		return "", err
	}
	p := &httputil.ReverseProxy{FlushInterval: -1, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug), Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host
		r.Out.Header.Set("Authorization", "Bearer "+s.key)
	}}
	front := httptest.NewServer(http.HandlerFunc(p.ServeHTTP))
	b.stop = append([]func() error{func() error { front.CloseClientConnections(); front.Close(); return nil }}, b.stop...)
	return front.URL + "/mcp", nil
}

// lines returns the last of what a program said.
func lines(out []byte, n int) string {
	all := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.Join(all[max(0, len(all)-n):], "\n")
}
