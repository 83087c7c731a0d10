package crashtest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hodl"
	"hodl/internal/serve"
	"hodl/internal/store"
)

// TestTwoServers runs two server processes over one PostgreSQL: what is counted is
// counted once, and what is ended on one is ended on the other.
func TestTwoServers(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	t.Run("hydrations of a token", p.testCap)
	t.Run("monthly quota", p.testQuota)
	t.Run("revocation", p.testRevocation)
	t.Run("one session captured on both", p.testCapture)
	t.Run("placeholders of a session", p.testPlaceholders)
	t.Run("first starts at once", testFirstStarts)
	t.Run("an API key revoked", p.testKey)
}

type pair struct {
	ctx   context.Context
	setup setup
	ends  [2]*server
	ws    hodl.WorkspaceID
	key   string
}

func newPair(t *testing.T) *pair {
	p := &pair{ctx: deadline(t), setup: onPostgres(t)}
	p.ends = [2]*server{start(p.ctx, t, p.setup), start(p.ctx, t, p.setup)}
	p.ws, p.key = p.ends[0].Workspace, p.ends[0].Keys[hodl.Live]
	return p
}

// workspace makes a workspace of its own for a test, with a live key.
func (p *pair) workspace(t *testing.T, name string) (hodl.WorkspaceID, string) {
	t.Helper()
	var id hodl.WorkspaceID
	var key string
	p.withStore(t, func(s *store.Store) {
		w, err := serve.CreateWorkspace(p.ctx, s, name, hodl.Enterprise)
		must(t, err)
		k, err := serve.CreateKey(p.ctx, s, w, "", hodl.KeyDraft{Name: name})
		must(t, err)
		id, key = w.ID, k.Key
	})
	return id, key
}

func (p *pair) withStore(t *testing.T, use func(*store.Store)) {
	t.Helper()
	s, err := serve.OpenStore(p.ctx, p.setup.config())
	must(t, err)
	defer func() { must(t, s.Close()) }()
	use(s)
}

// post sends what must succeed.
func (p *pair) post(t *testing.T, end int, path, key string, body any) *answer {
	t.Helper()
	a, err := p.ends[end].send(p.ctx, http.MethodPost, path, key, body)
	must(t, err)
	if !a.ok() {
		t.Fatalf("POST %s: %d %s", path, a.status, a.body)
	}
	return a
}

func (p *pair) session(t *testing.T, key string) hodl.SessionID {
	t.Helper()
	return hodl.SessionID(p.post(t, 0, "/v1/sessions", key, hodl.SessionDraft{Title: "shared"}).field("session_id"))
}

func (p *pair) mint(t *testing.T, end int, key string, session hodl.SessionID, most int) ticket {
	t.Helper()
	a := p.post(t, end, "/v1/resume_tokens", key, hodl.TokenDraft{
		Session: session, Audience: audience, MaxHydrations: &most, Scopes: []hodl.Scope{hodl.ReadContext},
	})
	return ticket{hodl.TokenID(a.field("jti")), a.field("token"), session}
}

func (p *pair) hydrate(end int, k ticket) (*answer, error) {
	return p.ends[end].send(p.ctx, http.MethodPost, "/v1/sessions/"+string(k.session)+"/hydrate", k.signed, nil)
}

// atOnce lets n hydrations loose on both ends and counts the codes, "" for success.
func (p *pair) atOnce(t *testing.T, n int, token func(int) ticket) map[hodl.Code]int {
	t.Helper()
	codes, ready := make([]hodl.Code, n), make(chan struct{})
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			<-ready
			a, err := p.hydrate(i%2, token(i))
			switch {
			case err != nil:
				t.Error(err)
			case !a.ok():
				codes[i] = a.code()
			}
		})
	}
	close(ready)
	group.Wait()
	out := map[hodl.Code]int{}
	for _, c := range codes {
		out[c]++
	}
	return out
}

// counts are the hydrations of a workspace, counted three ways.
type counts struct {
	Records, Tokens int
	Usage           int64
}

func (p *pair) counts(t *testing.T, ws hodl.WorkspaceID) counts {
	t.Helper()
	s := look(p.ctx, t, p.setup, ws)
	var c counts
	for _, r := range s.logs[hodl.Live].records {
		if r.kind == hodl.KindHydrate {
			c.Records++
		}
	}
	for _, x := range s.tokens {
		c.Tokens += x.hydrations
	}
	for _, n := range s.logs[hodl.Live].usage {
		c.Usage += n
	}
	if n := len(s.logs[hodl.Live].records); s.logs[hodl.Live].size != int64(n) {
		t.Errorf("the log's head says %d, there are %d records", s.logs[hodl.Live].size, n)
	}
	return c
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func (p *pair) testCap(t *testing.T) {
	const left = 50
	ws, key := p.workspace(t, "capped")
	k := p.mint(t, 0, key, p.session(t, key), left)
	got := p.atOnce(t, 4*left, func(int) ticket { return k })
	equal(t, "answers", got, map[hodl.Code]int{"": left, hodl.HydrationsExhausted: 3 * left})
	equal(t, "counts", p.counts(t, ws), counts{left, left, left})
}

func (p *pair) testQuota(t *testing.T) {
	const left, quota = 25, 10_000
	ws, key := p.workspace(t, "metered")
	session := p.session(t, key)
	tokens := make([]ticket, 4*left)
	for i := range tokens {
		tokens[i] = p.mint(t, i%2, key, session, 1)
	}
	p.nearQuota(t, ws, key, quota-left)
	got := p.atOnce(t, len(tokens), func(i int) ticket { return tokens[i] })
	equal(t, "answers", got, map[hodl.Code]int{"": left, hodl.QuotaExceeded: 3 * left})
	equal(t, "counts", p.counts(t, ws), counts{left, left, quota})
}

// nearQuota puts a workspace on the smallest plan, with this much of its month used.
func (p *pair) nearQuota(t *testing.T, ws hodl.WorkspaceID, key string, used int) {
	t.Helper()
	p.withStore(t, func(s *store.Store) { must(t, s.SetPlan(p.ctx, ws, hodl.Developer)) })
	var now struct{ Month string }
	p.ends[0].get(p.ctx, t, "/v1/usage", key, &now)
	db := openRaw(t, p.setup)
	defer func() { must(t, db.Close()) }()
	tx := scoped(p.ctx, t, db, p.setup, ws)
	defer tx.Rollback()
	_, err := tx.ExecContext(p.ctx, `insert into usage (workspace, mode, month, hydrations) values ($1, 'live', $2, $3)`, ws, now.Month, used)
	must(t, err)
	must(t, tx.Commit())
}

// testPlaceholders: both ends say the same of a session that grows, whichever end it was
// captured through.
func (p *pair) testPlaceholders(t *testing.T) {
	_, key := p.workspace(t, "numbering")
	session := p.session(t, key)
	k := p.mint(t, 0, key, session, 100)
	for version, people := range [][]string{{"ana"}, {"bo", "ana"}, {"cy", "bo", "ana"}} {
		d := hodl.SessionDraft{ID: string(session), Title: "shared"}
		for _, who := range people {
			d.Notes = append(d.Notes, hodl.NoteDraft{Body: who + "@nordwind.se"})
		}
		p.post(t, version%2, "/v1/sessions", key, d)
		for end := range p.ends {
			a, err := p.hydrate(end, k)
			must(t, err)
			var got struct{ Notes []struct{ Body string } }
			must(t, json.Unmarshal(a.body, &got))
			for i, n := range got.Notes {
				equal(t, "the placeholder of "+people[i], n.Body, fmt.Sprintf("[EMAIL_%d]", len(people)-i))
			}
			equal(t, "notes", len(got.Notes), len(people))
		}
	}
}

// testRevocation: what is revoked through one end does not open the other, from
// the next request on.
func (p *pair) testRevocation(t *testing.T) {
	_, key := p.workspace(t, "revoking")
	session := p.session(t, key)
	for i := range 100 {
		here, there := i%2, 1-i%2
		k := p.mint(t, here, key, session, 5)
		if a, err := p.hydrate(there, k); err != nil || !a.ok() {
			t.Fatalf("hydrate before the revocation: %+v, %v", a, err)
		}
		p.post(t, here, "/v1/resume_tokens/"+string(k.id)+"/revoke", key, nil)
		a, err := p.hydrate(there, k)
		must(t, err)
		if a.code() != hodl.TokenRevoked {
			t.Fatalf("hydrate %d after the revocation: %d %s", i, a.status, a.body)
		}
	}
}

// testCapture sends different contents for one new session through both ends at
// once. Each is acknowledged and becomes a version; the session stands at one.
func (p *pair) testCapture(t *testing.T) {
	ws, key := p.workspace(t, "capturing")
	for round := range 20 {
		id := fmt.Sprintf("ses_both%d", round)
		made := p.captureAtOnce(t, key, id, 8)
		s := look(p.ctx, t, p.setup, ws).sessions[hodl.SessionID(id)]
		versions := map[string]bool{}
		for fingerprint := range s.versions {
			versions[fingerprint] = true
		}
		equal(t, "versions", versions, made)
		for end := range p.ends {
			var got struct{ Fingerprint string }
			p.ends[end].get(p.ctx, t, "/v1/sessions/"+id, key, &got)
			equal(t, "fingerprint", got.Fingerprint, s.fingerprint)
		}
	}
}

func (p *pair) captureAtOnce(t *testing.T, key, id string, n int) map[string]bool {
	t.Helper()
	var mu sync.Mutex
	made := map[string]bool{}
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			a, err := p.ends[i%2].send(p.ctx, http.MethodPut, "/v1/sessions/"+id, key, hodl.SessionDraft{Title: fmt.Sprint("by ", i)})
			if err != nil || !a.ok() {
				t.Errorf("capture: %+v, %v", a, err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			made[a.field("fingerprint")] = true
		})
	}
	group.Wait()
	if len(made) != n {
		t.Errorf("%d captures were acknowledged with %d fingerprints", n, len(made))
	}
	return made
}

// testKey: an API key revoked through one end stops there at once, and on the other
// when what that remembers of it has passed.
func (p *pair) testKey(t *testing.T) {
	_, key := p.workspace(t, "locking")
	made := p.post(t, 0, "/v1/api_keys", key, map[string]string{"name": "second"})
	second := made.field("key")
	status := func(end int) int {
		a, err := p.ends[end].send(p.ctx, http.MethodGet, "/v1/me", second, nil)
		must(t, err)
		return a.status
	}
	equal(t, "status before", [2]int{status(0), status(1)}, [2]int{http.StatusOK, http.StatusOK})
	p.post(t, 0, "/v1/api_keys/"+made.field("id")+"/revoke", key, nil)
	equal(t, "status where it was revoked", status(0), http.StatusUnauthorized)
	until(p.ctx, t, "the key's end on the other server", func() bool { return status(1) == http.StatusUnauthorized })
	equal(t, "status after", [2]int{status(0), status(1)}, [2]int{http.StatusUnauthorized, http.StatusUnauthorized})
}

// testFirstStarts starts two servers at once on an empty database: one makes the
// tables, the first workspace and the signing key, the other finds them.
func testFirstStarts(t *testing.T) {
	ctx := deadline(t)
	c := onPostgres(t)
	var group sync.WaitGroup
	ends := [2]*server{launch(ctx, t, c), launch(ctx, t, c)}
	var faults [2]error
	for i, s := range ends {
		group.Go(func() { faults[i] = s.hello() })
	}
	group.Wait()
	shown := 0
	for i, s := range ends {
		if faults[i] != nil {
			s.kill()
			t.Fatalf("the server did not start: %v\n%s", faults[i], s.log)
		}
		shown += len(s.Keys)
	}
	equal(t, "keys shown", shown, 2)
}
