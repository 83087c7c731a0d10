package crashtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hodl"
)

func TestRepeats(t *testing.T) {
	t.Parallel()
	repeats(t, onSQLite(t), 1)
}

// On PostgreSQL the repeats go to two servers, which are killed in turn.
func TestRepeatsPostgres(t *testing.T) {
	t.Parallel()
	repeats(t, onPostgres(t), 2)
}

const (
	senders   = 32
	perErrand = 10  // how often each write is sent
	abreast   = 128 // how many writes are repeated in the same stretch of time
)

// repeats sends writes under idempotency keys, each many times and several times at
// once, while the servers are killed. Each must have had one effect, and every
// answer that came must be the same.
func repeats(t *testing.T, c setup, servers int) {
	x := newRepeater(t, c, servers)
	total := count(t, "HODL_REPEATS", 4000)
	x.prepare(total / perErrand)
	kills := x.run(x.order(), max(10, total/1500))
	x.settle()
	x.check()
	if t.Failed() {
		return
	}
	n := &x.counts
	t.Logf("%d writes sent %d times by %d senders, %d servers killed %d times: %d answered for the first time, %d replayed, %d told to wait, %d without an answer; 0 double effects",
		len(x.errands), n.sent.Load(), senders, servers, kills, n.first.Load(), n.replayed.Load(), n.busy.Load(), n.silent.Load())
}

// A repeater is what sends.
type repeater struct {
	t       *testing.T
	ctx     context.Context
	setup   setup
	ws      hodl.WorkspaceID
	key     string
	hosts   []*host
	errands []*errand
	notes   map[hodl.SessionID][]*errand // by the session they are written to
	counts  struct{ sent, first, replayed, busy, silent atomic.Int64 }
}

// An errand is a write that is sent again and again under one key.
type errand struct {
	kind, method, path, credential, mark string
	body                                 any

	mu    sync.Mutex
	given string // the answer it got
	said  *answer
}

// A host is a server that comes back after each kill.
type host struct {
	mu   sync.Mutex
	s    *server
	back chan struct{} // closed when another has taken its place
}

func (h *host) current() (*server, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.s, h.back
}

func (h *host) replace(s *server) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.s = s
	close(h.back)
	h.back = make(chan struct{})
}

func newRepeater(t *testing.T, c setup, servers int) *repeater {
	x := &repeater{t: t, ctx: deadline(t), setup: c, notes: map[hodl.SessionID][]*errand{}}
	for range servers {
		x.hosts = append(x.hosts, &host{s: start(x.ctx, t, c), back: make(chan struct{})})
	}
	x.ws, x.key = x.hosts[0].s.Workspace, x.hosts[0].s.Keys[hodl.Live]
	return x
}

// prepare thinks out n errands of every kind.
func (x *repeater) prepare(n int) {
	x.t.Helper()
	const base, perSession = "ses_base", 20
	x.session(base)
	mint := hodl.TokenDraft{Session: base, Audience: audience, Scopes: []hodl.Scope{hodl.ReadContext}}
	var room int
	var noted hodl.SessionID
	var token string
	for i := range n {
		e := &errand{method: http.MethodPost, credential: x.key, mark: fmt.Sprintf("mark-%d", i)}
		switch i % 10 {
		case 0, 1, 2, 3:
			e.kind, e.path, e.body = "hodl", "/v1/hodls", hodl.HodlDraft{Title: e.mark}
		case 4, 5:
			e.kind, e.path, e.body = "session", "/v1/sessions", hodl.SessionDraft{Title: e.mark}
		case 6, 7:
			e.kind, e.path, e.body = "mint", "/v1/resume_tokens", mint
		case 8:
			e.kind, e.path, e.body = "key", "/v1/api_keys", map[string]string{"name": e.mark}
		default:
			if room == 0 {
				noted, room = hodl.SessionID(fmt.Sprintf("ses_noted%d", i)), perSession
				x.session(noted)
				token = x.token(noted)
			}
			room--
			e.kind, e.path, e.body, e.credential = "note", "/v1/sessions/"+string(noted)+"/notes", hodl.NoteDraft{Body: e.mark}, token
			x.notes[noted] = append(x.notes[noted], e)
		}
		x.errands = append(x.errands, e)
	}
}

func (x *repeater) session(id hodl.SessionID) {
	x.t.Helper()
	x.must(http.MethodPut, "/v1/sessions/"+string(id), hodl.SessionDraft{Title: "base"})
}

func (x *repeater) token(id hodl.SessionID) string {
	x.t.Helper()
	return x.must(http.MethodPost, "/v1/resume_tokens", hodl.TokenDraft{Session: id, Audience: audience, Scopes: []hodl.Scope{hodl.WriteNotes}}).field("token")
}

func (x *repeater) must(method, path string, body any) *answer {
	x.t.Helper()
	s, _ := x.hosts[0].current()
	a, err := s.send(x.ctx, method, path, x.key, body)
	must(x.t, err)
	if !a.ok() {
		x.t.Fatalf("%s %s: %d %s", method, path, a.status, a.body)
	}
	return a
}

// order is every errand as often as it is sent, so that repeats of a few errands
// are under way together.
func (x *repeater) order() []*errand {
	var out []*errand
	for from := 0; from < len(x.errands); from += abreast {
		stretch := x.errands[from:min(from+abreast, len(x.errands))]
		begin := len(out)
		for range perErrand {
			out = append(out, stretch...)
		}
		mixed := out[begin:]
		rand.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	}
	return out
}

// run sends all in order, from many senders, and kills the servers in turn about as
// often as it is told. It returns how often it did.
func (x *repeater) run(order []*errand, often int) (kills int) {
	x.t.Helper()
	var next atomic.Int64
	var group sync.WaitGroup
	for range senders {
		group.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(order)); i = next.Add(1) - 1 {
				x.send(order[i])
			}
		})
	}
	done := make(chan struct{})
	go func() { group.Wait(); close(done) }()
	for at := 0; ; kills++ {
		at += 1 + rand.IntN(2*len(order)/often)
		until(x.ctx, x.t, "the senders", func() bool { return next.Load() >= int64(min(at, len(order))) })
		select {
		case <-done:
			return kills
		case <-time.After(time.Duration(rand.Int64N(int64(4 * time.Millisecond)))):
			x.kill(x.hosts[kills%len(x.hosts)])
		}
	}
}

func (x *repeater) kill(h *host) {
	x.t.Helper()
	s, _ := h.current()
	s.failing.Store(true)
	s.kill()
	h.replace(start(x.ctx, x.t, x.setup))
}

// send sends an errand once. Without an answer it waits until the server is back.
func (x *repeater) send(e *errand) {
	s, back := x.hosts[rand.IntN(len(x.hosts))].current()
	x.counts.sent.Add(1)
	a, err := s.send(x.ctx, e.method, e.path, e.credential, e.body, "Idempotency-Key", e.mark)
	switch {
	case err != nil && !s.failing.Load():
		x.t.Errorf("%s: no answer, though nothing was broken: %v", e.mark, err)
	case err != nil:
		x.counts.silent.Add(1)
		select {
		case <-back:
		case <-x.ctx.Done():
		}
	case a.ok():
		x.answered(e, a)
	case a.code() == hodl.Conflict || e.kind == "note" && a.code() == hodl.Stale:
		x.counts.busy.Add(1)
	default:
		x.t.Errorf("%s %s: %d %s", e.mark, e.path, a.status, a.body)
	}
}

func (x *repeater) answered(e *errand, a *answer) {
	replayed := a.header.Get("Idempotency-Replayed") == "true"
	if replayed {
		x.counts.replayed.Add(1)
	} else {
		x.counts.first.Add(1)
	}
	given := fmt.Sprintf("%d %q %q %s", a.status, a.header.Get("Location"), a.header.Get("ETag"), a.body)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.said == nil {
		e.given, e.said = given, a
	}
	if e.given != given {
		x.t.Errorf("%s was answered\n%s\nand\n%s", e.mark, e.given, given)
	}
}

// settle sends what has had no answer yet until it has one.
func (x *repeater) settle() {
	for _, e := range x.errands {
		for e.said == nil && x.ctx.Err() == nil && !x.t.Failed() {
			x.send(e)
		}
	}
}

// check counts the effects past the server.
func (x *repeater) check() {
	x.t.Helper()
	want := map[string]int{}
	for _, e := range x.errands {
		want[e.kind]++
	}
	snap := look(x.ctx, x.t, x.setup, x.ws)
	x.counted("hodl", len(snap.hodls), want["hodl"])
	x.counted("session", len(snap.sessions)-1-len(x.notes), want["session"])
	x.counted("mint", len(snap.tokens)-len(x.notes), want["mint"])
	x.counted("key", x.keys(), want["key"])
	records := map[hodl.RecordKind]int{}
	for _, r := range snap.logs[hodl.Live].records {
		records[r.kind]++
	}
	x.counted("record of a note", records[hodl.KindWrite], want["note"])
	x.counted("record of a mint", records[hodl.KindMint], want["mint"]+len(x.notes))
	titles := map[string]int{}
	for _, h := range snap.hodls {
		titles[h.title]++
	}
	for _, e := range x.errands {
		if e.kind == "hodl" && titles[e.mark] != 1 {
			x.t.Errorf("the hodl %s is there %d times", e.mark, titles[e.mark])
		}
	}
	x.checkNotes()
}

func (x *repeater) counted(what string, got, want int) {
	x.t.Helper()
	if got != want {
		x.t.Errorf("%s: %d effects of %d requests", what, got, want)
	}
}

func (x *repeater) keys() (n int) {
	x.t.Helper()
	db := openRaw(x.t, x.setup)
	defer db.Close()
	tx := scoped(x.ctx, x.t, db, x.setup, x.ws)
	defer tx.Rollback()
	must(x.t, tx.QueryRowContext(x.ctx, `select count(*) from api_keys where workspace = $1 and name like 'mark-%'`, x.ws).Scan(&n))
	return n
}

// checkNotes looks for each note in its session, once.
func (x *repeater) checkNotes() {
	x.t.Helper()
	s, _ := x.hosts[0].current()
	for id, errands := range x.notes {
		var content struct{ Notes []hodl.Note }
		s.get(x.ctx, x.t, "/v1/sessions/"+string(id)+"/content", x.key, &content)
		there := map[string]int{}
		for _, n := range content.Notes {
			there[n.Body]++
		}
		for _, e := range errands {
			if there[e.mark] != 1 {
				x.t.Errorf("the note %s is there %d times", e.mark, there[e.mark])
			}
		}
		x.counted("notes of "+string(id), len(content.Notes), len(errands))
	}
}
