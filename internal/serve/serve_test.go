package serve_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hodl"
	"hodl/internal/auth"
	"hodl/internal/serve"
)

func config(t *testing.T) serve.Config {
	t.Helper()
	return serve.Config{Listen: "127.0.0.1:0", Data: t.TempDir()}
}

func open(t *testing.T, c serve.Config) *serve.Server {
	t.Helper()
	s, err := serve.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, s) })
	return s
}

func shut(t *testing.T, s *serve.Server) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A first start makes a live and a sandbox key, once.
func TestFirstKeys(t *testing.T) {
	c := config(t)
	s := open(t, c)
	if len(s.FirstKeys) != 2 || s.FirstKeys[0].Stored.Mode != hodl.Live || s.FirstKeys[1].Stored.Mode != hodl.Sandbox {
		t.Fatalf("the first keys are %v", s.FirstKeys)
	}
	for _, k := range s.FirstKeys {
		if !auth.WellFormed(k.Key) {
			t.Errorf("the key %s", k.Key)
		}
	}
	if s.Database() != "SQLite in "+c.Data {
		t.Errorf("the database is %s", s.Database())
	}
	shut(t, s)
	if again := open(t, c); len(again.FirstKeys) != 0 {
		t.Error("a second start makes first keys")
	}
}

func TestRefusedConfigs(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*serve.Config)
		want   string
	}{
		"a database without a master key": {func(c *serve.Config) { c.Database = "postgres://127.0.0.1/x" }, "--master-key-file"},
		"a master key that is not there":  {func(c *serve.Config) { c.MasterKeyFile = filepath.Join(c.Data, "none") }, "none"},
		"a public URL without a scheme":   {func(c *serve.Config) { c.PublicURL = "hodl.example.com" }, "--public-url"},
		"a public URL with a query":       {func(c *serve.Config) { c.PublicURL = "https://hodl.example.com/?a" }, "--public-url"},
		"a public URL of files":           {func(c *serve.Config) { c.PublicURL = "file://x/y" }, "--public-url"},
		"keys that change too fast":       {func(c *serve.Config) { c.KeyRotation = time.Hour }, "--key-rotation"},
		"an address that is none":         {func(c *serve.Config) { c.Listen = "nonsense" }, "--listen"},
	} {
		c := config(t)
		tt.change(&c)
		s, err := serve.Open(t.Context(), c)
		if err == nil {
			shut(t, s)
			t.Errorf("%s: it opens", name)
			continue
		}
		if !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v does not tell of %s", name, err, tt.want)
		}
	}
}

// Two servers never work in one folder; once the first is gone, another may.
func TestOneServerPerFolder(t *testing.T) {
	c := config(t)
	first := open(t, c)
	second, err := serve.Open(t.Context(), c)
	if err == nil {
		shut(t, second)
		t.Fatal("a second server opens the folder")
	}
	if !strings.Contains(err.Error(), c.Data) || !strings.Contains(err.Error(), "another hodl server") {
		t.Errorf("the error is %v", err)
	}
	shut(t, first)
	open(t, c)
}

// What tokens say is fixed at first start.
func TestPublicURLIsFixed(t *testing.T) {
	c := config(t)
	c.PublicURL = "https://hodl.example.com/"
	s := open(t, c)
	if s.PublicURL != "https://hodl.example.com" {
		t.Errorf("the public URL is %s", s.PublicURL)
	}
	shut(t, s)
	c.PublicURL = ""
	s = open(t, c)
	if s.PublicURL != "https://hodl.example.com" {
		t.Errorf("without the flag it is %s", s.PublicURL)
	}
	shut(t, s)
	c.PublicURL = "https://other.example.com"
	if s, err := serve.Open(t.Context(), c); err == nil {
		shut(t, s)
		t.Error("it starts as another")
	} else if !strings.Contains(err.Error(), "https://hodl.example.com") {
		t.Errorf("the error is %v", err)
	}
}

// A database without its master key is not given a new one.
func TestLostMasterKey(t *testing.T) {
	c := config(t)
	shut(t, open(t, c))
	file := filepath.Join(c.Data, "master.key")
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if s, err := serve.Open(t.Context(), c); err == nil {
		shut(t, s)
		t.Error("it starts without the key of its data")
	} else if !strings.Contains(err.Error(), "backup") {
		t.Errorf("the error is %v", err)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Error("a new key was made")
	}
}

// A server that is told to stop lets the request in flight end, and then is gone.
func TestRunDrains(t *testing.T) {
	s := open(t, config(t))
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()

	body, feed := io.Pipe()
	answered := make(chan int, 1)
	go func() {
		r, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/v1/hodls", body)
		if err != nil {
			t.Error(err)
		}
		r.Header.Set("Authorization", "Bearer "+s.FirstKeys[0].Key)
		r.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Error(err)
			answered <- 0
			return
		}
		response.Body.Close()
		answered <- response.StatusCode
	}()
	if _, err := feed.Write([]byte(`{"title":`)); err != nil { // the request is on its way
		t.Fatal(err)
	}
	if !healthy(t, s.URL) { // a later connection is served, so the request's was taken
		t.Fatal("the server is not healthy")
	}
	stop()
	if _, err := feed.Write([]byte(`"x"}`)); err != nil {
		t.Fatal(err)
	}
	feed.Close()
	if got := <-answered; got != http.StatusCreated {
		t.Errorf("the request in flight was answered %d", got)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if resp, err := http.Get(s.URL + "/healthz"); err == nil {
		resp.Body.Close()
		t.Error("it still answers")
	}
}

func healthy(t *testing.T, url string) bool {
	t.Helper()
	r, err := http.Get(url + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	return r.StatusCode == http.StatusOK
}
