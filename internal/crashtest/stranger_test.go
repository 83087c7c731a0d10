package crashtest

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"hodl"
	api "hodl/client"
	"hodl/internal/audit"
	"hodl/internal/ledger"
	"hodl/internal/store"
	"hodl/receipt"
)

// A stranger reads the logs while they are written and the server is killed. It keeps
// every checkpoint and every receipt it was ever given: none of them may turn out to
// be of another history.
type stranger struct {
	mu       sync.Mutex
	logs     map[string]*followed // by the path of the log
	receipts []given
}

// A followed log has verifiers from before anything was broken.
type followed struct {
	path, key string
	verifiers []ledger.Verifier
	vkey      string
	seen      map[ledger.Checkpoint]bool
	fresh     []ledger.Checkpoint // not held against the log since a kill
	last      ledger.Checkpoint   // as it was held against the log
}

// given is a receipt and the record it is of.
type given struct {
	log    *followed
	id     hodl.RecordID
	text   string
	record []byte
}

func newStranger() *stranger { return &stranger{logs: map[string]*followed{}} }

const serverLog = "/v1/log"

func logOf(ws hodl.WorkspaceID, m hodl.Mode) string {
	path := "/v1/workspaces/" + string(ws) + "/log"
	if m == hodl.Sandbox {
		path += "/sandbox"
	}
	return path
}

// follow asks for the keys of a log, once.
func (x *stranger) follow(ctx context.Context, t testing.TB, s *server, path, key string) {
	t.Helper()
	var keys api.LogKeys
	s.get(ctx, t, path+"/keys", key, &keys)
	v, err := ledger.ParseVerifier(keys.Keys[0].Verifier)
	must(t, err)
	x.logs[path] = &followed{path: path, key: key, verifiers: []ledger.Verifier{v}, vkey: keys.Keys[0].Verifier, seen: map[ledger.Checkpoint]bool{}}
}

// keep notes a checkpoint.
func (x *stranger) keep(l *followed, text string) error {
	c, err := ledger.OpenCheckpoint(text, l.verifiers...)
	if err != nil {
		return fmt.Errorf("%s: %w", l.path, err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if !l.seen[c] {
		l.seen[c] = true
		l.fresh = append(l.fresh, c)
	}
	return nil
}

// keepReceipt notes a receipt that proves a record, and the checkpoint in it.
func (x *stranger) keepReceipt(l *followed, id hodl.RecordID, header string, record []byte) error {
	text, err := base64.RawURLEncoding.DecodeString(header)
	if err != nil {
		return err
	}
	g := given{l, id, string(text), record}
	if err := g.verify(); err != nil {
		return err
	}
	r, err := ledger.ParseReceipt(g.text)
	if err == nil {
		err = x.keep(l, r.Checkpoint)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.receipts = append(x.receipts, g)
	return err
}

func (g *given) verify() error {
	_, err := receipt.Verify(g.text, g.record, g.log.vkey)
	return err
}

// read looks at the client's log and at the server's own, and asks for the receipt of
// a hydration.
func (c *client) read(ctx context.Context, s *server) error {
	for _, l := range []*followed{c.log, c.stranger.logs[serverLog]} {
		a, err := s.send(ctx, http.MethodGet, l.path+"/checkpoint", l.key, nil)
		v := c.judge(s, "checkpoint", a, err)
		if v == acknowledged {
			err = c.stranger.keep(l, string(a.body))
		}
		if v != acknowledged {
			return gone(v)
		}
		if err != nil {
			c.j.fault("%v", err)
		}
	}
	if len(c.hydrations) == 0 {
		return nil
	}
	id := pick(c.rand, c.hydrations)
	a, err := s.send(ctx, http.MethodGet, "/v1/access_records/"+string(id), c.key, nil)
	v := c.judge(s, "record", a, err)
	if v == acknowledged {
		if err := c.stranger.keepReceipt(c.log, id, a.header.Get("Hodl-Receipt"), a.body); err != nil {
			c.j.fault("the receipt of %s: %v", id, err)
		}
	}
	return gone(v)
}

// hold holds what was seen of every log against what it shows now: all of it, or what
// came since the last time.
func (x *stranger) hold(ctx context.Context, t testing.TB, s *server, all bool) error {
	t.Helper()
	for _, l := range x.logs {
		now := l.head(ctx, t, s)
		old := append(l.fresh, l.last)
		if all {
			for c := range l.seen {
				old = append(old, c)
			}
		}
		tiles := remembered(l.tiles(ctx, s))
		for _, c := range old {
			if c.Origin == "" {
				continue // nothing was held against it yet
			}
			proof, err := ledger.ProveConsistency(now, c.Size, tiles)
			if err == nil {
				err = ledger.CheckConsistency(c, now, proof)
			}
			if err != nil {
				return fmt.Errorf("%s: %d entries were signed with the root %s, now there are %d: %w", l.path, c.Size, c.Root, now.Size, err)
			}
		}
		l.last, l.fresh = now, nil
	}
	return nil
}

// anchoring returns about when the server's log is grown.
func (w *world) anchoring(s *server) {
	w.t.Helper()
	log := w.stranger.logs[serverLog]
	size := log.head(w.ctx, w.t, s).Size
	until(w.ctx, w.t, "the server's log to grow", func() bool { return log.head(w.ctx, w.t, s).Size > size })
	<-time.After(store.AnchorEvery + time.Duration(w.rand.Int64N(int64(20*time.Millisecond))) - 5*time.Millisecond)
}

func (l *followed) head(ctx context.Context, t testing.TB, s *server) ledger.Checkpoint {
	t.Helper()
	a, err := s.send(ctx, http.MethodGet, l.path+"/checkpoint", l.key, nil)
	must(t, err)
	c, err := ledger.OpenCheckpoint(string(a.body), l.verifiers...)
	if err != nil {
		t.Fatalf("%s: %v", l.path, err)
	}
	return c
}

func (l *followed) tiles(ctx context.Context, s *server) ledger.Tiles {
	return func(list []ledger.Tile) ([][]byte, error) {
		var out [][]byte
		for _, tile := range list {
			a, err := s.send(ctx, http.MethodGet, l.path+"/tile/"+tile.Path(), l.key, nil)
			if err == nil && !a.ok() {
				err = fmt.Errorf("tile %s: %d %s", tile.Path(), a.status, a.body)
			}
			if err != nil {
				return nil, err
			}
			out = append(out, a.body)
		}
		return out, nil
	}
}

// remembered asks for each tile once.
func remembered(read ledger.Tiles) ledger.Tiles {
	known := map[ledger.Tile][]byte{}
	return func(list []ledger.Tile) ([][]byte, error) {
		out := make([][]byte, len(list))
		for i, tile := range list {
			if known[tile] == nil {
				got, err := read([]ledger.Tile{tile})
				if err != nil {
					return nil, err
				}
				known[tile] = got[0]
			}
			out[i] = slices.Clone(known[tile])
		}
		return out, nil
	}
}

// verify audits a log as its owner does: every record, the tiles, the heads in the
// server's log. The checkpoints and receipts of the whole run must fit it.
func (x *stranger) verify(ctx context.Context, t testing.TB, s *server, keys ...string) {
	t.Helper()
	must(t, x.hold(ctx, t, s, true))
	for _, key := range keys {
		r, err := audit.Served(ctx, api.New(s.URL, key, api.Retry(5)))
		if err != nil {
			t.Fatalf("the log does not verify: %v", err)
		}
		t.Logf("%s: %d records under one signed root, %d bound, %d erased, %d tiles, %d heads in the server's log", r.Origin, r.Size, r.Records, r.Erased, r.Tiles, r.Anchors)
	}
	seen := 0
	for _, l := range x.logs {
		seen += len(l.seen)
	}
	for _, g := range x.receipts {
		if err := g.verify(); err != nil {
			t.Errorf("the receipt of %s: %v", g.id, err)
		}
	}
	t.Logf("%d checkpoints seen are beginnings of the %d logs as they are now; %d receipts verify", seen, len(x.logs), len(x.receipts))
}
