package store_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hodl"
	"hodl/internal/store"
)

// Callers at once, and the largest batch: 1 is the naive way, a transaction each.
var (
	benchCallers = []int{1, 32, 256}
	benchBatches = []struct {
		name string
		most int
	}{{"batched", 0}, {"naive", 1}}
)

// BenchmarkFdatasync is the yardstick: how often the disk of the benchmarks can
// make 8 KiB durable.
func BenchmarkFdatasync(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "yardstick"))
	must(b, err)
	defer f.Close()
	const size, blocks = 8 << 10, 1024
	block := bytes.Repeat([]byte{7}, size)
	for i := range int64(blocks) {
		_, err := f.WriteAt(block, i*size)
		must(b, err)
	}
	must(b, f.Sync())
	before := cpu(b)
	for i := 0; b.Loop(); i++ {
		_, err := f.WriteAt(block, int64(i%blocks)*size)
		must(b, err)
		must(b, unix.Fdatasync(int(f.Fd())))
	}
	perSecond(b, before)
}

// perSecond reports the rate, and the processor time of this process, which other
// work on the machine disturbs less.
func perSecond(b *testing.B, before time.Duration) {
	b.Helper()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ops/s")
	b.ReportMetric(float64((cpu(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
}

func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u unix.Rusage
	must(b, unix.Getrusage(unix.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkHydrate spreads hydrations over tokens of 100 workspaces, or lets them
// all meet in one.
func BenchmarkHydrate(b *testing.B) {
	for _, spread := range []struct {
		name       string
		workspaces int
	}{{"spread", 100}, {"hot", 1}} {
		b.Run(spread.name, func(b *testing.B) {
			onEach(b, func(b *testing.B, x *bench) func(int) error {
				tokens := x.manyTokens(b, 512, spread.workspaces)
				return func(i int) error {
					k := tokens[i%len(tokens)]
					return x.hydrateFull(k)
				}
			})
		})
	}
}

// BenchmarkCapture saves new sessions and hodls of about 2 KiB.
func BenchmarkCapture(b *testing.B) {
	b.Run("session", func(b *testing.B) {
		onEach(b, func(_ *testing.B, x *bench) func(int) error {
			return func(i int) error {
				w := x.session(hodl.SessionID("ses_" + strconv.Itoa(i)))
				w.Body.Content.Tabs = []hodl.Tab{{URL: "https://example.com/", Title: "tab", SelectedText: text2K}}
				return x.PutSession(context.Background(), w)
			}
		})
	})
	b.Run("hodl", func(b *testing.B) {
		onEach(b, func(_ *testing.B, x *bench) func(int) error {
			return func(int) error {
				now := x.Now()
				h := hodl.Hodl{ID: hodl.HodlID(x.NewID("hdl")), URL: "https://example.com/", Note: text2K, Tags: []string{"a"}, Source: "rest", CreatedAt: now, UpdatedAt: now}
				return x.PutHodl(context.Background(), store.HodlWrite{Workspace: x.ws, Mode: hodl.Live, User: x.user, Hodl: h})
			}
		})
	})
}

var text2K = string(bytes.Repeat([]byte("context "), 256))

// onEach runs a write on every engine, with every number of callers, batched and
// naive.
func onEach(b *testing.B, prepare func(*testing.B, *bench) func(i int) error) {
	for _, engine := range engines {
		for _, batch := range benchBatches {
			for _, callers := range benchCallers {
				b.Run(fmt.Sprintf("%s/%s/%d", engine.name, batch.name, callers), func(b *testing.B) {
					o := engine.create(b).Options
					o.MaxBatch = batch.most
					x := open(b, o)
					drive(b, callers, prepare(b, x))
				})
			}
		}
	}
}

// drive has exactly callers goroutines share b.N calls.
func drive(b *testing.B, callers int, call func(i int) error) {
	b.Helper()
	var next atomic.Int64
	b.ReportAllocs()
	before := cpu(b)
	b.ResetTimer()
	done := make(chan error, callers)
	for range callers {
		go func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= b.N {
					done <- nil
					return
				}
				if err := call(i); err != nil {
					done <- err
					return
				}
			}
		}()
	}
	for range callers {
		must(b, <-done)
	}
	perSecond(b, before)
}

// manyTokens mints n tokens, a session each, over several workspaces.
func (x *bench) manyTokens(b testing.TB, n, workspaces int) []hodl.Token {
	b.Helper()
	list := []hodl.WorkspaceID{x.ws}
	for len(list) < workspaces {
		ws := hodl.WorkspaceID(x.NewID("wks"))
		x.workspace(b, ws)
		list = append(list, ws)
	}
	tokens := make([]hodl.Token, n)
	for i := range tokens {
		of := &bench{x.Store, list[i%len(list)], x.user}
		id := hodl.SessionID("ses_" + strconv.Itoa(i))
		must(b, of.PutSession(context.Background(), of.session(id)))
		tokens[i] = of.token(id)
		must(b, of.mint(tokens[i])(context.Background()))
	}
	return tokens
}

// hydrateFull leaves a record as large as a real one.
func (x *bench) hydrateFull(k hodl.Token) error {
	now := x.Now()
	rec := &hodl.Record{
		ID: hodl.RecordID(x.NewID("acr")), Kind: hodl.KindHydrate, Actor: k.Audience, At: now, Bearer: true, Fingerprint: fingerprint64,
		Workspace: k.Workspace, Mode: hodl.Live, User: k.User, Session: k.Session, JTI: k.ID, Scopes: k.Scopes,
		Policies: []hodl.PolicyUse{{Name: "default", Version: 1}}, Returned: &hodl.Returned{Bytes: 11000, Format: "json", SHA256: fingerprint64},
	}
	u := store.TokenUse{Workspace: k.Workspace, Mode: hodl.Live, Token: k.ID, Session: k.Session, At: now}
	return x.Hydrate(context.Background(), u, admitAll, rec, hodl.RecordDetail{Address: "192.0.2.7", UserAgent: "bench"})
}

var fingerprint64 = string(bytes.Repeat([]byte("5e"), 32))
