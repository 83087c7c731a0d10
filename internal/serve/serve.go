// Package serve puts the parts together and runs them: the command and the tests
// start the same server.
package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"

	"hodl/internal/auth"
	"hodl/internal/capture"
	"hodl/internal/file"
	"hodl/internal/httpapi"
	"hodl/internal/mcpserver"
	"hodl/internal/meter"
	"hodl/internal/resume"
	"hodl/internal/signing"
	"hodl/internal/store"
	"hodl/internal/token"
)

// A Server is one that listens but does not serve yet: call [Server.Run].
type Server struct {
	URL       string        // where it listens
	PublicURL string        // what tokens and links say
	FirstKeys []*Credential // of a first start; shown once

	config   Config
	lock     *file.Lock
	listener net.Listener
	store    *store.Store
	resume   *resume.Service
	signing  *signing.Keys
	mcp      *mcpserver.Server
	logs     *signing.Logs
	origin   string // of the access logs
	http     *http.Server
	stopping chan struct{}
}

// Open takes the data folder, the address and the database, in that order, and
// gets everything ready. Close the server, or run it.
func Open(ctx context.Context, c Config) (*Server, error) {
	TuneGC()
	c = c.withDefaults()
	if err := c.check(); err != nil {
		return nil, err
	}
	s := &Server{config: c, stopping: make(chan struct{})}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Server) open(ctx context.Context) (err error) {
	c, routes := &s.config, httpapi.Routes(0)
	if c.Database == "" {
		if s.lock, err = lockFolder(c.Data); err != nil {
			return err
		}
	}
	if s.listener, err = new(net.ListenConfig).Listen(ctx, "tcp", c.Listen); err != nil {
		return fmt.Errorf("listen: %w (choose another address with --listen)", err)
	}
	s.URL = "http://" + s.listener.Addr().String()
	if s.store, err = OpenStore(ctx, *c); err != nil {
		return err
	}
	if err := s.install(ctx); err != nil {
		return err
	}
	if err := s.openLogs(ctx); err != nil {
		return err
	}
	return s.wire(ctx, routes)
}

// openLogs holds the access logs against what was signed of them: on one that does
// not match nothing is built.
func (s *Server) openLogs(ctx context.Context) (err error) {
	if s.logs, err = signing.OpenLogs(ctx, s.store, s.origin, s.config.Log); err != nil {
		return err
	}
	s.store.SignLogs(s.logs)
	return s.store.CheckLogs(ctx)
}

// install fixes, at first start, what may never change, and makes the first keys.
func (s *Server) install(ctx context.Context) error {
	want := s.config.PublicURL
	if want == "" {
		want = s.URL
	}
	got, first, err := s.store.Install(ctx, store.Installation{Issuer: want, LogOrigin: originOf(want)})
	if err != nil {
		return err
	}
	if s.PublicURL = got.Issuer; s.config.PublicURL != "" && s.config.PublicURL != got.Issuer {
		return fmt.Errorf("--public-url is %s, but this database was first used as %s and its tokens say so: start with --public-url %s", s.config.PublicURL, got.Issuer, got.Issuer)
	}
	s.origin = got.LogOrigin
	if first {
		s.FirstKeys, err = firstKeys(ctx, s.store)
	}
	return err
}

// originOf is the name of the access log: the public URL without its scheme.
func originOf(publicURL string) string {
	for _, scheme := range []string{"https://", "http://"} {
		if len(publicURL) > len(scheme) && publicURL[:len(scheme)] == scheme {
			return publicURL[len(scheme):] + "/log"
		}
	}
	return publicURL + "/log"
}

func (s *Server) wire(ctx context.Context, routes func(httpapi.Options) http.Handler) (err error) {
	c := &s.config
	verifier := token.NewVerifier(s.PublicURL)
	if s.signing, err = signing.Open(ctx, s.store, verifier, c.KeyRotation, c.Log); err != nil {
		return err
	}
	keys := auth.NewKeys(s.store, s.store.Now)
	captures := capture.New(s.store)
	s.resume = resume.New(s.store, verifier, s.signing, resume.Options{
		Issuer: s.PublicURL, Resource: resource(s.PublicURL), CacheBytes: c.CacheBytes, Log: c.Log,
	})
	captures.Number = s.resume.Number
	captures.Captured = newLearner(s.resume.Learn, s.store.Busy).captured
	if c.Demo {
		if err := seedDemo(ctx, s.store, captures); err != nil {
			return fmt.Errorf("seed the demo: %w", err)
		}
	}
	proxies, err := c.proxies()
	if err != nil {
		return err
	}
	requests := meter.NewRates(meter.Requests)
	door := s.openMCP(keys, captures, requests)
	s.http = &http.Server{
		Handler: routes(httpapi.Options{
			Store: s.store, Keys: keys, Capture: captures, Resume: s.resume,
			JWKS: s.signing.JWKS, Logs: s.logs, Ready: s.ready, Release: c.Release, Proxies: proxies, Log: c.Log, MCP: door, Requests: requests,
		}),
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 96 << 10, // above the API's own bound, which answers in words
	}
	return nil
}

// openMCP makes the MCP door, which stands in the same house: one bucket of requests
// for both, one log.
func (s *Server) openMCP(keys *auth.Keys, captures *capture.Service, requests *meter.Rates) *httpapi.Door {
	c := &s.config
	s.mcp = mcpserver.New(mcpserver.Options{
		Store: s.store, Keys: keys, Capture: captures, Resume: s.resume, PublicURL: s.PublicURL, Release: c.Release, Requests: requests,
		Log: c.Log, Detail: httpapi.Detail, Fault: httpapi.Fault, Fixtures: c.Fixtures,
	})
	door := &httpapi.Door{Handler: s.mcp, About: map[string]http.Handler{}}
	for _, path := range s.mcp.MetadataPaths() {
		door.About[path] = s.mcp.Metadata()
	}
	return door
}

func (s *Server) ready(ctx context.Context) error {
	select {
	case <-s.stopping:
		return errors.New("stopping")
	default:
		return s.store.Ping(ctx)
	}
}

// drain is how long requests in flight may take to end.
const drain = 20 * time.Second

// gcPercent lets the heap grow to five times what is in use before it is swept. A
// server whose live heap is a few megabytes would else sweep many times a second.
const gcPercent = 400

// TuneGC has the process collect garbage as a server's does, unless GOGC says how.
func TuneGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}

// Run serves until ctx is done, lets requests in flight end, and closes.
func (s *Server) Run(ctx context.Context) error {
	group, inner := errgroup.WithContext(ctx)
	background, stopBackground := context.WithCancel(context.WithoutCancel(ctx))
	group.Go(func() error {
		if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve: %w", err)
		}
		return nil
	})
	group.Go(func() error { s.anchorLogs(background); return nil })
	for _, c := range s.chores() {
		group.Go(func() error { s.repeat(background, c); return nil })
	}
	group.Go(func() error {
		<-inner.Done()
		defer stopBackground()
		close(s.stopping)
		s.mcp.Close()
		limit, cancel := context.WithTimeout(background, drain)
		defer cancel()
		if err := s.http.Shutdown(limit); err != nil {
			s.config.Log.WarnContext(background, "requests still running were cut off", slog.Any("error", err))
			s.http.Close()
		}
		return nil
	})
	err := group.Wait()
	s.resume.FlushDenials(context.WithoutCancel(ctx), true)
	return errors.Join(err, s.Close())
}

// anchorLogs appends, every second, the heads of the workspaces' logs to the server's
// own: at first those that a crash has left. Where that takes long it leaves the
// database ten times as long to others.
func (s *Server) anchorLogs(ctx context.Context) {
	wait := time.NewTimer(0)
	defer wait.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-wait.C:
		}
		start := time.Now()
		if _, err := s.store.Anchor(ctx); err != nil && ctx.Err() == nil {
			s.config.Log.ErrorContext(ctx, "the server's log stands still", slog.Any("error", err))
		}
		wait.Reset(max(store.AnchorEvery, 10*time.Since(start)))
	}
}

// A chore is done again and again. One that fails is told of, and done again the next
// time.
type chore struct {
	every   time.Duration
	atStart bool
	failed  string // what that leaves
	do      func(context.Context) error
}

func (s *Server) chores() []chore {
	return []chore{
		{every: signing.Every, failed: "the signing keys could not be refreshed", do: s.signing.Refresh},
		{every: signing.Every, failed: "the log keys could not be refreshed", do: s.logs.Refresh},
		{every: time.Hour, atStart: true, failed: "hodls were not purged or not indexed", do: s.store.Chores},
		{every: time.Minute, failed: "old answers were not deleted", do: func(ctx context.Context) error {
			_, err := s.store.ForgetAnswers(ctx)
			return err
		}},
		{every: time.Minute, do: func(ctx context.Context) error { // it tells of its failures itself
			s.resume.FlushDenials(ctx, false)
			return nil
		}},
	}
}

func (s *Server) repeat(ctx context.Context, c chore) {
	tick := time.NewTicker(c.every)
	defer tick.Stop()
	for now := c.atStart; ; now = true {
		if now {
			if err := c.do(ctx); err != nil && ctx.Err() == nil {
				s.config.Log.ErrorContext(ctx, c.failed, slog.Any("error", err))
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Close gives up what Open took.
func (s *Server) Close() error {
	var err error
	if s.listener != nil {
		s.listener.Close() // after Run it is closed already
	}
	if s.store != nil {
		err = s.store.Close()
		s.store = nil
	}
	if s.lock != nil {
		err = errors.Join(err, s.lock.Release())
		s.lock = nil
	}
	return err
}

// Database tells where the data lies, for people.
func (s *Server) Database() string {
	if s.config.Database != "" {
		return "PostgreSQL"
	}
	return "SQLite in " + filepath.Clean(s.config.Data)
}
