package crashtest

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hodl"
	"hodl/internal/pgtest"
	"hodl/internal/seal"
)

// A world is a database, the clients that work on it, and what they were told.
type world struct {
	t       *testing.T
	ctx     context.Context
	setup   setup
	ws      hodl.WorkspaceID
	keys    map[hodl.Mode]string
	journal *journal
	rand    *rand.Rand
	clients []*client
	keeper  *client // makes what the others share

	stranger *stranger
	eraser   *eraser // nil where nobody is erased
}

const clients = 8

// newWorld prepares the clients; the first call of begin makes the database.
func newWorld(t *testing.T, c setup) *world {
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("HODL_SEED"); s != "" {
		var err error
		seed, err = strconv.ParseUint(s, 10, 64)
		must(t, err)
	}
	t.Logf("HODL_SEED=%d", seed)
	w := &world{t: t, ctx: deadline(t), setup: c, journal: newJournal(), stranger: newStranger(), rand: rand.New(rand.NewPCG(seed, 0))}
	for n := range clients {
		mode := hodl.Live
		if n >= clients-2 {
			mode = hodl.Sandbox
		}
		w.clients = append(w.clients, w.client(n, mode))
	}
	w.keeper = w.client(clients, hodl.Live)
	return w
}

func (w *world) client(n int, m hodl.Mode) *client {
	return &client{n: n, rand: rand.New(rand.NewPCG(w.rand.Uint64(), uint64(n))), mode: m, j: w.journal, stranger: w.stranger}
}

func onSQLite(t *testing.T) setup { return setup{Data: t.TempDir()} }

func onPostgres(t *testing.T) setup {
	admin, app := pgtest.Open(t)
	file := filepath.Join(t.TempDir(), "master.key")
	_, err := seal.CreateMaster(file)
	must(t, err)
	return setup{Database: app, DatabaseAdmin: admin, MasterKeyFile: file}
}

// start starts a server; the first one shows the keys.
func (w *world) start() *server {
	w.t.Helper()
	s := start(w.ctx, w.t, w.setup)
	if w.keys == nil {
		w.ws, w.keys = s.Workspace, s.Keys
		w.stranger.follow(w.ctx, w.t, s, serverLog, "")
		for m, key := range w.keys {
			w.stranger.follow(w.ctx, w.t, s, logOf(w.ws, m), key)
		}
		for _, c := range append(w.clients, w.keeper) {
			c.key, c.log = w.keys[c.mode], w.stranger.logs[logOf(w.ws, c.mode)]
		}
	}
	must(w.t, w.stranger.hold(w.ctx, w.t, s, false))
	return s
}

// round lets all clients work, on one server or on several. Once acks requests were
// acknowledged, and after a moment more, it calls fail; it returns when every client
// has met with silence.
func (w *world) round(acks int, fail func(), ends ...*server) {
	w.t.Helper()
	s := ends[0]
	w.share(s)
	var count atomic.Int64
	enough := make(chan struct{})
	var group sync.WaitGroup
	if w.eraser != nil {
		group.Go(func() {
			for w.eraser.step(w.ctx, s) == nil {
			}
		})
	}
	for i, c := range w.clients {
		end := ends[i%len(ends)]
		group.Go(func() {
			for c.step(w.ctx, end) == nil {
				if count.Add(1) == int64(acks) {
					close(enough)
				}
			}
		})
	}
	silent := make(chan struct{})
	go func() { group.Wait(); close(silent) }()
	select {
	case <-enough:
	case <-silent:
		w.t.Fatalf("every client gave up before anything was broken: %v\n%s", w.journal.faults, s.log)
	}
	// Where in a commit this falls shall not depend on the answer just sent.
	<-time.After(time.Duration(w.rand.Int64N(int64(4 * time.Millisecond))))
	for _, end := range ends {
		end.failing.Store(true)
	}
	fail()
	select {
	case <-silent:
	case <-w.ctx.Done():
		w.t.Fatalf("waiting for the clients: %v", context.Cause(w.ctx))
	}
}

// share gives every client a token that all of them use.
func (w *world) share(s *server) {
	w.t.Helper()
	k := w.keeper
	if len(k.sessions) == 0 {
		must(w.t, k.capture(w.ctx, s, ""))
	}
	shared, v := k.mintFor(w.ctx, s, k.sessions[0], hodl.MaxHydrations)
	if v != acknowledged {
		w.t.Fatalf("no token to share: %v\n%s", w.journal.faults, s.log)
	}
	for _, c := range w.clients {
		own := shared
		c.shared = &own
	}
}

// check looks at the database past the server.
func (w *world) check() *snapshot {
	w.t.Helper()
	s := look(w.ctx, w.t, w.setup, w.ws)
	w.report(check(w.journal, s))
	return s
}

func (w *world) report(faults []string) {
	w.t.Helper()
	const enough = 20
	for i, f := range faults {
		if i == enough {
			w.t.Errorf("… and %d more", len(faults)-i)
			break
		}
		w.t.Error(f)
	}
	if w.t.Failed() {
		w.t.FailNow()
	}
}

// summary says what the run was made of. What was saved and never answered shows
// that the kills fell where it matters: between the commit and the answer.
func (w *world) summary(s *snapshot, rounds int) {
	records, open, saved := 0, 0, 0
	add := func(c tally, there int) {
		open += c.sent - c.refused - c.acked
		saved += there - c.acked
	}
	for _, log := range s.logs {
		records += len(log.records)
	}
	for id, k := range w.journal.tokens {
		add(k.hydrations, s.tokens[id].hydrations)
	}
	for id, claim := range w.journal.sessions {
		if x := s.sessions[id]; x != nil {
			add(claim.writes, len(x.versions))
		}
	}
	w.t.Logf("%d rounds: %d sessions, %d hodls, %d tokens, %d hydrations acknowledged, %d records; of %d hydrations and session writes without an answer %d were saved",
		rounds, len(s.sessions), len(s.hodls), len(s.tokens), len(w.journal.hydrations), records, open, saved)
}

// probe asks the server itself for a few of the last things it acknowledged.
func (w *world) probe(s *server) {
	w.t.Helper()
	for _, c := range w.clients {
		if len(c.sessions) > 0 {
			id := c.sessions[len(c.sessions)-1]
			var got struct{ Fingerprint, Title string }
			s.get(w.ctx, w.t, "/v1/sessions/"+string(id), c.key, &got)
			if claim := w.journal.sessions[id]; got.Fingerprint != claim.last() && !claim.unclear {
				w.t.Errorf("%s stands at %s; %s was acknowledged", id, got.Fingerprint, claim.last())
			}
		}
		if len(c.tokens) > 0 {
			k := c.tokens[len(c.tokens)-1]
			var got struct{ JTI hodl.TokenID }
			s.get(w.ctx, w.t, "/v1/resume_tokens/"+string(k.id), c.key, &got)
			if got.JTI != k.id {
				w.t.Errorf("asked for %s, got %s", k.id, got.JTI)
			}
		}
	}
}

// count is a number from the environment, for shorter and longer runs.
func count(t *testing.T, variable string, otherwise int) int {
	s := os.Getenv(variable)
	if s == "" {
		return otherwise
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q; it must be a number of rounds", variable, s)
	}
	return n
}
