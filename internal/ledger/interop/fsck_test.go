package interop_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/transparency-dev/merkle/rfc6962"
	"github.com/transparency-dev/tessera/api"
	tessera "github.com/transparency-dev/tessera/client"
	"github.com/transparency-dev/tessera/fsck"
	"golang.org/x/mod/sumdb/note"

	"hodl"
	"hodl/client"
	"hodl/internal/pgtest"
	"hodl/internal/seal"
	"hodl/internal/serve"
)

// A logServer is a running server whose log somebody else's tool reads over HTTP.
type logServer struct {
	*client.Client
	url, key string
	ws       hodl.WorkspaceID
}

var engines = map[string]func(*testing.T) serve.Config{"sqlite": onSQLite, "postgres": onPostgres}

func onSQLite(t *testing.T) serve.Config { return serve.Config{Data: t.TempDir()} }

func onPostgres(t *testing.T) serve.Config {
	c := serve.Config{MasterKeyFile: filepath.Join(t.TempDir(), "master.key")}
	c.DatabaseAdmin, c.Database = pgtest.Open(t)
	if _, err := seal.CreateMaster(c.MasterKeyFile); err != nil {
		t.Fatal(err)
	}
	return c
}

func start(t *testing.T, c serve.Config) *logServer {
	t.Helper()
	c.Listen = "127.0.0.1:0"
	ctx, stop := context.WithCancel(context.Background())
	server, err := serve.Open(ctx, c)
	if err != nil {
		stop()
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	first := server.FirstKeys[0]
	h := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: writers}}
	return &logServer{client.New(server.URL, first.Key, client.HTTP(h)), server.URL, first.Key, first.Workspace.ID}
}

const writers = 32

// fill has n records made: hydrations, the mints they need, and no others.
func (s *logServer) fill(t *testing.T, n int) {
	t.Helper()
	captured, err := s.CaptureSession(t.Context(), hodl.SessionDraft{Title: "the cache bug"})
	if err != nil {
		t.Fatal(err)
	}
	var left atomic.Int64
	left.Store(int64(n))
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for left.Add(-1) >= 0 {
				uses := 999
				minted, err := s.Mint(t.Context(), hodl.TokenDraft{Session: captured.ID, Audience: "sdk.unihodl.app", Scopes: []hodl.Scope{hodl.ReadContext}, MaxHydrations: &uses})
				if err != nil {
					t.Error(err)
					return
				}
				agent := client.NewAgent(s.url, minted.Token)
				for i := 0; i < uses && left.Add(-1) >= 0; i++ {
					if _, err := agent.Hydrate(t.Context(), captured.ID); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	group.Wait()
}

// fetcher reads the log as the tool itself does.
func (s *logServer) fetcher(t *testing.T) (fsck.Fetcher, note.Verifier) {
	t.Helper()
	log := s.WorkspaceLog(s.ws, hodl.Live)
	keys, err := log.Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	v, err := note.NewVerifier(keys.Keys[0].Verifier)
	if err != nil {
		t.Fatal(err)
	}
	prefix, err := url.Parse(s.url + "/v1/workspaces/" + string(s.ws) + "/log/")
	if err != nil {
		t.Fatal(err)
	}
	f, err := tessera.NewHTTPFetcher(prefix, nil)
	if err != nil {
		t.Fatal(err)
	}
	f.SetAuthorizationHeader("Bearer " + s.key)
	return f, v
}

// leaves hashes a bundle as the tool does by default.
func leaves(bundle []byte) ([][]byte, error) {
	b := &api.EntryBundle{}
	if err := b.UnmarshalText(bundle); err != nil {
		return nil, err
	}
	var out [][]byte
	for _, entry := range b.Entries {
		out = append(out, rfc6962.DefaultHasher.HashLeaf(entry))
	}
	return out, nil
}

// check runs the tool. It panics over a bundle that is too short, which is a refusal
// too.
func check(t *testing.T, f fsck.Fetcher, v note.Verifier) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return fsck.New(v.Name(), v, f, leaves, fsck.Opts{N: 2}).Check(t.Context())
}

// TestFsck lets Tessera's unmodified checker read a log of many records over HTTP, on
// each engine.
func TestFsck(t *testing.T) {
	records := 50_000
	if s := os.Getenv("HODL_RECORDS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		records = n
	}
	for name, engine := range engines {
		t.Run(name, func(t *testing.T) {
			s := start(t, engine(t))
			s.fill(t, records)
			f, v := s.fetcher(t)
			if err := check(t, f, v); err != nil {
				t.Error(err)
			}
		})
	}
}

// A copy is a log in memory, which a test may damage.
type copied struct {
	files map[string][]byte
	lost  string
}

func (c *copied) read(name string) ([]byte, error) {
	b, ok := c.files[name]
	if !ok || name == c.lost {
		return nil, os.ErrNotExist
	}
	return b, nil
}

func (c *copied) ReadCheckpoint(context.Context) ([]byte, error) { return c.read("checkpoint") }

func (c *copied) ReadTile(_ context.Context, l, i uint64, p uint8) ([]byte, error) {
	return c.read(fmt.Sprintf("tile %d %d %d", l, i, p))
}

func (c *copied) ReadEntryBundle(_ context.Context, i uint64, p uint8) ([]byte, error) {
	return c.read(fmt.Sprintf("entries %d %d", i, p))
}

// A recorder keeps what is read.
type recorder struct {
	fsck.Fetcher
	mu    sync.Mutex
	files map[string][]byte
}

func (r *recorder) keep(name string, b []byte, err error) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.files[name] = b
	}
	return b, err
}

func (r *recorder) ReadCheckpoint(ctx context.Context) ([]byte, error) {
	b, err := r.Fetcher.ReadCheckpoint(ctx)
	return r.keep("checkpoint", b, err)
}

func (r *recorder) ReadTile(ctx context.Context, l, i uint64, p uint8) ([]byte, error) {
	b, err := r.Fetcher.ReadTile(ctx, l, i, p)
	return r.keep(fmt.Sprintf("tile %d %d %d", l, i, p), b, err)
}

func (r *recorder) ReadEntryBundle(ctx context.Context, i uint64, p uint8) ([]byte, error) {
	b, err := r.Fetcher.ReadEntryBundle(ctx, i, p)
	return r.keep(fmt.Sprintf("entries %d %d", i, p), b, err)
}

// TestFsckRefuses changes one thing of a log at a time.
func TestFsckRefuses(t *testing.T) {
	for name, engine := range engines {
		t.Run(name, func(t *testing.T) {
			s := start(t, engine(t))
			s.fill(t, 700)
			refuses(t, s, 1200)
		})
	}
}

func refuses(t *testing.T, s *logServer, times int) {
	t.Helper()
	f, v := s.fetcher(t)
	r := &recorder{Fetcher: f, files: map[string][]byte{}}
	if err := check(t, r, v); err != nil {
		t.Fatal(err)
	}
	names := slices.Sorted(maps.Keys(r.files))
	random := rand.New(rand.NewPCG(1, 2))
	refused := 0
	for n := range times {
		c, what := damaged(random, r.files, names)
		if check(t, c, v) == nil {
			t.Errorf("%d: %s was taken", n, what)
			continue
		}
		refused++
	}
	t.Logf("%d damages of %d files, %d refused", times, len(names), refused)
}

// damaged copies a log and flips a bit of a file, cuts it off, takes it away, swaps it
// with another, or puts an older, shorter one in its place.
func damaged(random *rand.Rand, files map[string][]byte, names []string) (*copied, string) {
	c := &copied{files: map[string][]byte{}}
	for name, b := range files {
		c.files[name] = b
	}
	name := names[random.IntN(len(names))]
	b := slices.Clone(files[name])
	switch random.IntN(5) {
	case 0:
		i, bit := random.IntN(len(b)), random.IntN(8)
		b[i] ^= 1 << bit
		c.files[name] = b
		return c, fmt.Sprintf("%s with bit %d of byte %d flipped", name, bit, i)
	case 1:
		c.files[name] = b[:random.IntN(len(b))]
		return c, fmt.Sprintf("%s cut off at %d of %d", name, len(c.files[name]), len(b))
	case 2:
		c.lost = name
		return c, name + " lost"
	case 3:
		other := names[(slices.Index(names, name)+1+random.IntN(len(names)-1))%len(names)]
		c.files[name], c.files[other] = files[other], files[name]
		return c, name + " swapped with " + other
	default:
		const unit = 32
		c.files[name] = b[:max(len(b)-unit*(1+random.IntN(4)), 0)]
		return c, name + " rolled back"
	}
}
