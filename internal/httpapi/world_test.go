package httpapi_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hodl"
	"hodl/internal/auth"
	"hodl/internal/capture"
	"hodl/internal/httpapi"
	"hodl/internal/pgtest"
	"hodl/internal/resume"
	"hodl/internal/seal"
	"hodl/internal/serve"
	"hodl/internal/signing"
	"hodl/internal/store"
	"hodl/internal/token"
)

const issuer = "https://hodl.example.com"

// A world is a server over a store of its own, with callers of every kind.
type world struct {
	*store.Store
	t         *testing.T
	dir       string
	superuser string // the address of the database, for whom row-level security does not bind; "" for SQLite
	url       string
	clock     *clock
	log       *journal
	signer    *signing.Keys
	resume    *resume.Service
	ws        hodl.WorkspaceID
	user      hodl.UserID
	keys      map[string]string // by who is calling
}

// Who is calling, in world.keys.
const (
	live     = "the live key"
	sandbox  = "a sandbox key of the same user"
	member   = "another user's key in the same workspace"
	stranger = "another workspace's key"
	nobody   = "" // no credentials
)

// A clock goes a microsecond at each look, so that no two things happen at once.
type clock struct{ micros atomic.Int64 }

var start = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

func (c *clock) now() time.Time { return start.Add(time.Duration(c.micros.Add(1)) * time.Microsecond) }

func (c *clock) advance(d time.Duration) { c.micros.Add(d.Microseconds()) }

// A journal keeps what is logged.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// A setting changes a world before it is made.
type setting struct {
	plan        hodl.PlanName
	resumeStore func(*store.Store) resume.Store // what the way of a token sees of the store
	ready       func(context.Context) error
	bodyTimeout time.Duration
	alone       bool // no other test runs beside it
	queue       int  // writes waiting before new ones are refused
	postgres    bool // instead of SQLite
}

// onEachEngine runs a test in a world of SQLite and in one of PostgreSQL.
func onEachEngine(t *testing.T, test func(w *world)) {
	t.Run("sqlite", func(t *testing.T) { test(newWorld(t)) })
	t.Run("postgres", func(t *testing.T) { test(newWorld(t, setting{postgres: true})) })
}

// newWorld makes a world for a test, which then runs beside others.
func newWorld(t *testing.T, settings ...setting) *world {
	t.Helper()
	set := setting{}
	if len(settings) > 0 {
		set = settings[0]
	}
	if !set.alone {
		t.Parallel()
	}
	w := &world{t: t, dir: t.TempDir(), clock: &clock{}, log: &journal{}, keys: map[string]string{nobody: ""}}
	master, err := seal.CreateMaster(filepath.Join(w.dir, "master.key"))
	w.must(err)
	options := store.Options{Dir: w.dir, Master: master, Now: w.clock.now, Queue: set.queue}
	if set.postgres {
		options.Admin, options.Database = pgtest.Open(t)
		w.superuser, err = pgtest.Superuser(options.Database)
		w.must(err)
	}
	w.Store, err = store.Open(t.Context(), options)
	w.must(err)
	t.Cleanup(func() { w.must(w.Close()) })
	w.listen(set)
	w.people(cmp.Or(set.plan, hodl.Enterprise))
	return w
}

// listen puts the parts together as serve does, and starts them.
func (w *world) listen(set setting) {
	log := slog.New(slog.NewJSONHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	verifier := token.NewVerifier(issuer)
	var err error
	w.signer, err = signing.Open(w.t.Context(), w.Store, verifier, 30*24*time.Hour, log)
	w.must(err)
	logs, err := signing.OpenLogs(w.t.Context(), w.Store, "hodl.example.com/log", log)
	w.must(err)
	w.SignLogs(logs)
	seen := resume.Store(w.Store)
	if set.resumeStore != nil {
		seen = set.resumeStore(w.Store)
	}
	w.resume = resume.New(seen, verifier, w.signer, resume.Options{Issuer: issuer, Resource: issuer + "/mcp", Log: log})
	captures := capture.New(w.Store)
	captures.Number = w.resume.Number
	if set.ready == nil {
		set.ready = w.Ping
	}
	server := httptest.NewServer(httpapi.New(httpapi.Options{
		Store: w.Store, Keys: auth.NewKeys(w.Store, w.Now), Capture: captures, Resume: w.resume,
		JWKS: w.signer.JWKS, Logs: logs, Ready: set.ready, Release: "test", Log: log, BodyTimeout: set.bodyTimeout,
	}))
	w.t.Cleanup(server.Close)
	w.url = server.URL
}

func (w *world) people(plan hodl.PlanName) {
	home := w.workspace("acme", plan)
	w.ws = home
	var err error
	w.user, err = w.FirstAdmin(w.t.Context(), home)
	w.must(err)
	w.keys[live], w.keys[sandbox] = w.key(home, w.user, hodl.Live, "*"), w.key(home, w.user, hodl.Sandbox, "*")
	colleague := hodl.UserID(w.NewID("usr"))
	w.must(w.AddMember(w.t.Context(), home, colleague, "Colleague", hodl.Member))
	w.keys[member] = w.key(home, colleague, hodl.Live, "*")
	other := w.workspace("rival", hodl.Enterprise)
	admin, err := w.FirstAdmin(w.t.Context(), other)
	w.must(err)
	w.keys[stranger] = w.key(other, admin, hodl.Live, "*")
}

func (w *world) workspace(name string, plan hodl.PlanName) hodl.WorkspaceID {
	w.t.Helper()
	ws, err := serve.CreateWorkspace(w.t.Context(), w.Store, name, plan)
	w.must(err)
	return ws.ID
}

func (w *world) key(ws hodl.WorkspaceID, user hodl.UserID, m hodl.Mode, scopes ...string) string {
	w.t.Helper()
	key := auth.NewKey(m)
	w.must(w.AddKey(w.t.Context(), hodl.APIKey{
		ID: hodl.KeyID(w.NewID("key")), Workspace: ws, User: user, Mode: m, Name: "test", LastFour: auth.LastFour(key), Scopes: scopes, CreatedAt: w.Now(),
	}, auth.Digest(key)))
	return key
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// An answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a *answer) String() string { return fmt.Sprintf("%d %s", a.status, a.body) }

// object returns the body as a JSON object, nil when it is none.
func (a *answer) object() object {
	var o object
	if err := unmarshal(a.body, &o); err != nil {
		return nil
	}
	return o
}

func (a *answer) text(name string) string { s, _ := a.object()[name].(string); return s }

// code is the code of a refusal, "" for a success.
func (a *answer) code() string {
	e, _ := a.object()["error"].(object)
	code, _ := e["code"].(string)
	return code
}

// call sends a request as someone in w.keys, or with any other string for a
// credential. It follows no redirect. Headers come in pairs. Every answer is held
// against what all answers must be.
func (w *world) call(as, method, path, body string, headers ...string) *answer {
	w.t.Helper()
	r := w.request(as, method, path, body, headers...)
	a := w.send(r)
	check(w.t, method, r.URL.Path, a)
	return a
}

func (w *world) request(as, method, path, body string, headers ...string) *http.Request {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, strings.NewReader(body))
	w.must(err)
	if credential, known := w.keys[as]; known {
		as = credential
	}
	if as != "" {
		r.Header.Set("Authorization", "Bearer "+as)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

func (w *world) send(r *http.Request) *answer {
	w.t.Helper()
	response, err := http.DefaultTransport.RoundTrip(r)
	w.must(err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	w.must(err)
	return &answer{response.StatusCode, response.Header, body}
}

// ok is call for requests that must succeed.
func (w *world) ok(as, method, path, body string, headers ...string) *answer {
	w.t.Helper()
	a := w.call(as, method, path, body, headers...)
	if a.status >= 300 {
		w.t.Fatalf("%s %s as %s: %s", method, path, as, a)
	}
	return a
}

// capture puts a session with something in every field.
func (w *world) capture(id string) *answer {
	w.t.Helper()
	return w.ok(live, "PUT", "/v1/sessions/"+id, fullSession)
}

const fullSession = `{"title":"the cache bug","summary":"a race","tabs":[{"url":"https://example.com/a","title":"A","selected_text":"canary selection"}],
	"media":[{"kind":"video","url":"https://example.com/v","timestamp_s":12.5,"transcript_anchor":"canary transcript"}],
	"reasoning_thread":[{"id":"n1","kind":"observation","text":"canary node","confidence":0.5}],"ai_tags":["go"],"notes":[{"body":"canary note"}]}`

// mint returns a token of a session. Fields beside the scopes come as JSON members.
func (w *world) mint(id, scopes string, more ...string) *answer {
	w.t.Helper()
	body := `{"session_id":"` + id + `","scopes":["` + strings.Join(strings.Fields(scopes), `","`) + `"]`
	if !strings.Contains(strings.Join(more, ""), `"audience"`) {
		body += `,"audience":"claude.anthropic.com"`
	}
	for _, m := range more {
		body += "," + m
	}
	return w.ok(live, "POST", "/v1/resume_tokens", body+"}")
}

func (w *world) token(id, scopes string, more ...string) string {
	w.t.Helper()
	return w.mint(id, scopes, more...).text("token")
}

func (w *world) hydrate(token, id string, headers ...string) *answer {
	w.t.Helper()
	return w.call(token, "POST", "/v1/sessions/"+id+"/hydrate", "", headers...)
}

// records lists the access records of one kind, the newest first.
func (w *world) records(kind string) []object {
	w.t.Helper()
	var out []object
	list, _ := w.ok(live, "GET", "/v1/access_records?limit=100&kind="+kind, "").object()["access_records"].([]any)
	for _, x := range list {
		out = append(out, x.(object))
	}
	return out
}
