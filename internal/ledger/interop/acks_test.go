package interop_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/transparency-dev/tessera"
	"github.com/transparency-dev/tessera/storage/posix"
	"golang.org/x/mod/sumdb/note"

	"hodl"
	"hodl/internal/seal"
	"hodl/internal/signing"
	"hodl/internal/store"
)

// BenchmarkAcks lets writers append an entry each and wait until it is durable: to our
// log, on SQLite, where it is then in the tree and under a signed checkpoint as well;
// and in turn to Tessera's POSIX driver, which has only given it its place. The ratio
// is of the median rates.
func BenchmarkAcks(b *testing.B) {
	for _, writers := range []int{1, 64, 1024} {
		b.Run(strconv.Itoa(writers), func(b *testing.B) {
			ours, theirs := newOurs(b), newTessera(b)
			var a, t []float64
			for b.Loop() {
				a = append(a, acks(b, writers, ours))
				t = append(t, acks(b, writers, theirs))
			}
			b.ReportMetric(median(a), "ours/s")
			b.ReportMetric(median(t), "tessera/s")
			b.ReportMetric(median(a)/median(t), "ours÷tessera")
		})
	}
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// acks is how many appends a second writers have acknowledged.
func acks(b *testing.B, writers int, add func(context.Context) error) float64 {
	b.Helper()
	var done atomic.Int64
	var group sync.WaitGroup
	start := time.Now()
	end := start.Add(250 * time.Millisecond)
	for range writers {
		group.Go(func() {
			for time.Now().Before(end) {
				if err := add(b.Context()); err != nil {
					b.Error(err)
					return
				}
				done.Add(1)
			}
		})
	}
	group.Wait()
	return float64(done.Load()) / time.Since(start).Seconds()
}

func newOurs(b *testing.B) func(context.Context) error {
	b.Helper()
	dir := b.TempDir()
	master, err := seal.CreateMaster(filepath.Join(dir, "master.key"))
	must(b, err)
	s, err := store.Open(b.Context(), store.Options{Dir: dir, Master: master})
	must(b, err)
	b.Cleanup(func() { must(b, s.Close()) })
	logs, err := signing.OpenLogs(b.Context(), s, "hodl.example.com/log", slog.New(slog.DiscardHandler))
	must(b, err)
	s.SignLogs(logs)
	ws := hodl.WorkspaceID(s.NewID("wks"))
	must(b, s.CreateWorkspace(b.Context(), hodl.Workspace{ID: ws, Name: "bench", Plan: hodl.Enterprise, CreatedAt: s.Now()}, hodl.UserID(s.NewID("usr"))))
	return func(ctx context.Context) error {
		return s.Append(ctx, &hodl.Record{
			ID: hodl.RecordID(s.NewID("acr")), Kind: hodl.KindDenied, Code: hodl.TokenRevoked, At: s.Now(), Actor: "claude.anthropic.com", Workspace: ws, Mode: hodl.Live,
			User: "usr_bench", Session: "ses_01KAQ3M7T4Z0X8W2V6R5N9P1JF", JTI: "rt_01KAQ3M7T4Z0X8W2V6R5N9P1JE", Count: 1,
		}, hodl.RecordDetail{Address: "192.0.2.7", UserAgent: "bench"})
	}
}

// newTessera appends entries as long as our records to a log in a folder. A batch waits
// for 5 ms, or for 1,024 entries.
func newTessera(b *testing.B) func(context.Context) error {
	b.Helper()
	ctx, cancel := context.WithCancel(context.Background()) // that of b ends before the log does
	driver, err := posix.New(ctx, posix.Config{Path: b.TempDir()})
	must(b, err)
	private, _, err := note.GenerateKey(rand.Reader, "tessera.example.com")
	must(b, err)
	signer, err := note.NewSigner(private)
	must(b, err)
	log, stop, _, err := tessera.NewAppender(ctx, driver, tessera.NewAppendOptions().
		WithCheckpointSigner(signer).WithBatching(1024, 5*time.Millisecond).WithCheckpointInterval(time.Second))
	must(b, err)
	b.Cleanup(func() { must(b, stop(ctx)); cancel() })
	var n atomic.Int64
	return func(ctx context.Context) error {
		entry := append(fmt.Appendf(nil, "%020d", n.Add(1)), bytes.Repeat([]byte{'x'}, 380)...)
		_, err := log.Add(ctx, tessera.NewEntry(entry))()
		return err
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
