package mcpserver_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hodl"
	"hodl/internal/auth"
	"hodl/internal/capture"
	"hodl/internal/mcpserver"
	"hodl/internal/resume"
	"hodl/internal/seal"
	"hodl/internal/signing"
	"hodl/internal/store"
	"hodl/internal/token"
)

const (
	public = "https://hodl.example.com"
	modern = "2026-07-28"
	legacy = "2025-11-25"
)

// A world is the door over a store of its own, with people who have keys.
type world struct {
	*store.Store
	t      *testing.T
	url    string
	door   *mcpserver.Server
	resume *resume.Service
	logs   *signing.Logs
	micros atomic.Int64
	ada    *person // who has a session, ses_1
	bob    *person // of the same workspace
	eve    *person // of another
}

// A person has a key that may do everything.
type person struct {
	hodl.Principal
	key string
}

func newWorld(t *testing.T, change ...func(*mcpserver.Options)) *world {
	t.Helper()
	t.Parallel()
	w := &world{t: t}
	w.micros.Store(time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC).UnixMicro())
	dir := t.TempDir()
	master, err := seal.CreateMaster(filepath.Join(dir, "master.key"))
	w.must(err)
	w.Store, err = store.Open(t.Context(), store.Options{Dir: dir, Master: master, Now: w.now})
	w.must(err)
	t.Cleanup(func() { w.must(w.Close()) })
	verifier := token.NewVerifier(public)
	signer, err := signing.Open(t.Context(), w.Store, verifier, 30*24*time.Hour, slog.New(slog.DiscardHandler))
	w.must(err)
	w.logs, err = signing.OpenLogs(t.Context(), w.Store, "hodl.example.com/log", slog.New(slog.DiscardHandler))
	w.must(err)
	w.SignLogs(w.logs)
	captures := capture.New(w.Store)
	w.resume = resume.New(w.Store, verifier, signer, resume.Options{Issuer: public, Resource: public + "/mcp"})
	o := mcpserver.Options{
		Store: w.Store, Keys: auth.NewKeys(w.Store, w.Now), Capture: captures, Resume: w.resume, PublicURL: public, Release: "test",
		Watch: 5 * time.Millisecond,
	}
	for _, c := range change {
		c(&o)
	}
	w.door = mcpserver.New(o)
	mux := http.NewServeMux()
	mux.Handle("/mcp", w.door)
	for _, path := range w.door.MetadataPaths() {
		mux.Handle("GET "+path, w.door.Metadata())
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	t.Cleanup(w.door.Close)
	w.url = server.URL
	w.people()
	w.put(w.ada, "ses_1", "the cache bug")
	return w
}

func (w *world) now() time.Time { return time.UnixMicro(w.micros.Add(1)).UTC() }

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) people() {
	home := w.workspace("acme")
	w.ada = w.person(home, hodl.Admin, "*")
	w.bob = w.person(home, hodl.Member, "*")
	w.eve = w.person(w.workspace("rival"), hodl.Admin, "*")
}

func (w *world) workspace(name string) hodl.WorkspaceID {
	ws := hodl.WorkspaceID(w.NewID("wks"))
	w.must(w.CreateWorkspace(w.t.Context(), hodl.Workspace{ID: ws, Name: name, Plan: hodl.Enterprise, CreatedAt: w.now()}, hodl.UserID(w.NewID("usr"))))
	return ws
}

func (w *world) person(ws hodl.WorkspaceID, role hodl.Role, scopes ...string) *person {
	user := hodl.UserID(w.NewID("usr"))
	w.must(w.AddMember(w.t.Context(), ws, user, "somebody", role))
	return w.keyOf(&person{Principal: hodl.Principal{Workspace: ws, User: user, Mode: hodl.Live, Role: role, Plan: hodl.Enterprise}}, scopes...)
}

// keyOf is the same person with another key.
func (w *world) keyOf(p *person, scopes ...string) *person {
	w.t.Helper()
	key, id := auth.NewKey(hodl.Live), hodl.KeyID(w.NewID("key"))
	w.must(w.AddKey(w.t.Context(), hodl.APIKey{
		ID: id, Workspace: p.Workspace, User: p.User, Mode: hodl.Live, Name: "test", LastFour: auth.LastFour(key), Scopes: scopes, CreatedAt: w.now(),
	}, auth.Digest(key)))
	out := *p
	out.Key, out.Scopes, out.key = id, scopes, key
	return &out
}

func (w *world) put(p *person, id, title string) {
	w.t.Helper()
	_, err := capture.New(w.Store).Session(w.t.Context(), &p.Principal, capture.SessionCapture{Draft: hodl.SessionDraft{
		ID: id, Title: title, Summary: "a race", Tabs: []hodl.Tab{{URL: "https://example.com/a", Title: "A", SelectedText: "canary selection"}},
		Thread: []hodl.Node{{ID: "n1", Kind: hodl.Observation, Text: "canary node"}}, Tags: []string{"go"},
	}})
	w.must(err)
}

// mint returns a token of Ada's for this door and ses_1.
func (w *world) mint(scopes ...hodl.Scope) *resume.Minted {
	w.t.Helper()
	m, err := w.resume.Mint(w.t.Context(), resume.Caller{Principal: &w.ada.Principal}, hodl.TokenDraft{Session: "ses_1", Audience: public + "/mcp", Scopes: scopes})
	w.must(err)
	return m
}

// mintFor returns a token of Ada's for this door and another session of hers.
func (w *world) mintFor(id string) *resume.Minted {
	w.t.Helper()
	m, err := w.resume.Mint(w.t.Context(), resume.Caller{Principal: &w.ada.Principal}, hodl.TokenDraft{
		Session: hodl.SessionID(id), Audience: public + "/mcp", Scopes: []hodl.Scope{hodl.ReadContext, hodl.ReadReasoning}, MaxHydrations: new(50),
	})
	w.must(err)
	return m
}

// An answer is what came back: of a stream, the last message that has a result or an
// error.
type answer struct {
	status int
	header http.Header
	raw    []byte
	Result json.RawMessage
	Error  json.RawMessage
}

func (a *answer) String() string { return fmt.Sprintf("%d %s", a.status, a.raw) }

// text is what a tool said, and whether it was an error.
func (a *answer) text() (string, bool) {
	var r struct {
		Content []struct{ Text string }
		IsError bool
	}
	if json.Unmarshal(a.Result, &r) != nil || len(r.Content) == 0 {
		return "", false
	}
	return r.Content[0].Text, r.IsError
}

// code is the code of a JSON-RPC error, 0 for none.
func (a *answer) code() int {
	var e struct{ Code int }
	_ = json.Unmarshal(a.Error, &e)
	return e.Code
}

// refusal is the code of the envelope, "" for none.
func (a *answer) refusal() string {
	var e struct {
		Error struct {
			Code, Message, Hint string
		}
	}
	_ = json.Unmarshal(a.raw, &e)
	if e.Error.Message == "" || e.Error.Hint == "" {
		return ""
	}
	return e.Error.Code
}

// request is a call of the protocol in a generation of it.
func (w *world) request(ctx context.Context, version, credential, method, params string, headers ...string) *http.Request {
	w.t.Helper()
	if params == "" {
		params = "{}"
	}
	var p map[string]any
	w.must(json.Unmarshal([]byte(params), &p))
	if version == modern {
		meta, _ := p["_meta"].(map[string]any)
		if meta == nil {
			meta = map[string]any{}
		}
		meta["io.modelcontextprotocol/protocolVersion"] = modern
		meta["io.modelcontextprotocol/clientCapabilities"] = map[string]any{}
		p["_meta"] = meta
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 7, "method": method, "params": p})
	w.must(err)
	r, err := http.NewRequestWithContext(ctx, "POST", w.url+"/mcp", bytes.NewReader(body))
	w.must(err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", version)
	if credential != "" {
		r.Header.Set("Authorization", "Bearer "+credential)
	}
	if version == modern {
		r.Header.Set("Mcp-Method", method)
		for _, name := range []string{"name", "uri"} {
			if s, ok := p[name].(string); ok {
				r.Header.Set("Mcp-Name", s)
			}
		}
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

func (w *world) do(r *http.Request) *answer {
	w.t.Helper()
	response, err := http.DefaultTransport.RoundTrip(r)
	w.must(err)
	defer response.Body.Close()
	a := &answer{status: response.StatusCode, header: response.Header}
	a.raw, err = io.ReadAll(response.Body)
	w.must(err)
	for line := range strings.SplitSeq(string(a.raw), "\n") {
		line = strings.TrimPrefix(line, "data: ")
		var m answer
		if json.Unmarshal([]byte(line), &m) == nil && (m.Result != nil || m.Error != nil) {
			a.Result, a.Error = m.Result, m.Error
		}
	}
	return a
}

// rpc calls a method with the protocol of today.
func (w *world) rpc(credential, method, params string, headers ...string) *answer {
	w.t.Helper()
	return w.do(w.request(w.t.Context(), modern, credential, method, params, headers...))
}

// tool calls a tool and returns what it said; it must not be an error.
func (w *world) tool(credential, name, arguments string) string {
	w.t.Helper()
	a := w.rpc(credential, "tools/call", `{"name":"`+name+`","arguments":`+arguments+`}`)
	text, failed := a.text()
	if failed || text == "" {
		w.t.Fatalf("%s: %s", name, a)
	}
	return text
}

// refused calls a tool that must refuse, in words.
func (w *world) refused(credential, name, arguments string) string {
	w.t.Helper()
	a := w.rpc(credential, "tools/call", `{"name":"`+name+`","arguments":`+arguments+`}`)
	text, failed := a.text()
	if !failed {
		w.t.Fatalf("%s is no refusal: %s", name, a)
	}
	return text
}

// records lists the access records of somebody, the newest first.
func (w *world) records(p *person) []*hodl.Record {
	w.t.Helper()
	list, err := w.Records(w.t.Context(), p.Workspace, hodl.Live, store.RecordFilter{Page: store.Page{Limit: 100}, User: p.User})
	w.must(err)
	return list
}

func (w *world) used(p *person) int64 {
	w.t.Helper()
	n, err := w.Used(w.t.Context(), p.Workspace, hodl.Live, hodl.Month(w.now()))
	w.must(err)
	return n
}

// A stream is what comes on an open subscription.
type stream struct {
	events chan string
	done   chan struct{}
	cancel func()
}

// listen subscribes, and waits until that is acknowledged.
func (w *world) listen(credential string, uris ...string) (*stream, *answer) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	w.t.Cleanup(cancel)
	list, err := json.Marshal(uris)
	w.must(err)
	//nolint:bodyclose // who reads the stream closes it
	response, err := http.DefaultTransport.RoundTrip(w.request(ctx, modern, credential, "subscriptions/listen", `{"notifications":{"resourceSubscriptions":`+string(list)+`}}`))
	w.must(err)
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		raw, _ := io.ReadAll(response.Body)
		return nil, &answer{status: response.StatusCode, header: response.Header, raw: raw}
	}
	s := &stream{events: make(chan string, 100), done: make(chan struct{}), cancel: cancel}
	go func() {
		defer close(s.done)
		defer response.Body.Close()
		for lines := bufio.NewScanner(response.Body); lines.Scan(); {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				s.events <- data
			}
		}
	}()
	first := s.next(w.t)
	if strings.Contains(first, `"error"`) {
		return nil, &answer{status: response.StatusCode, raw: []byte(first)}
	}
	if !strings.Contains(first, "notifications/subscriptions/acknowledged") {
		w.t.Fatalf("the stream begins with %s", first)
	}
	return s, nil
}

const soon = 10 * time.Second

func (s *stream) next(t *testing.T) string {
	t.Helper()
	select {
	case e := <-s.events:
		return e
	case <-s.done:
		t.Fatal("the stream has ended")
	case <-time.After(soon):
		t.Fatal("nothing came")
	}
	return ""
}

func (s *stream) ends(t *testing.T) {
	t.Helper()
	select {
	case <-s.done:
	case <-time.After(soon):
		t.Fatal("the stream goes on")
	}
}

func revoke(at time.Time) func(*hodl.APIKey) (*store.NewKey, error) {
	return func(k *hodl.APIKey) (*store.NewKey, error) { k.RevokedAt = at; return nil, nil }
}

func withOrigin(origin string) func(*hodl.APIKey) (*store.NewKey, error) {
	return func(k *hodl.APIKey) (*store.NewKey, error) { k.Origins = []string{origin}; return nil, nil }
}
