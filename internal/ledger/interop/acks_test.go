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
// in turn to Tessera's POSIX driver, which has only given it its place; and to that
// again, until a checkpoint has it in the tree, as ours has. The ratios are of the
// median rates.
func BenchmarkAcks(b *testing.B) {
	for _, writers := range []int{1, 64, 1024} {
		b.Run(strconv.Itoa(writers), func(b *testing.B) {
			ours, placed, published := newOurs(b), newTessera(b, time.Second), newPublished(b)
			var a, t, p []float64
			for b.Loop() {
				a = append(a, acks(b, writers, ours))
				t = append(t, acks(b, writers, placed.add))
				p = append(p, acks(b, writers, published))
			}
			b.ReportMetric(median(a), "ours/s")
			b.ReportMetric(median(t), "placed/s")
			b.ReportMetric(median(p), "published/s")
			b.ReportMetric(median(a)/median(t), "ours÷placed")
			b.ReportMetric(median(a)/median(p), "ours÷published")
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

// A tesseraLog is a log in a folder. A batch waits for 5 ms, or for 1,024 entries.
type tesseraLog struct {
	*tessera.Appender
	tessera.LogReader
	entries atomic.Int64
}

func newTessera(b *testing.B, checkpoints time.Duration) *tesseraLog {
	b.Helper()
	ctx, cancel := context.WithCancel(context.Background()) // that of b ends before the log does
	driver, err := posix.New(ctx, posix.Config{Path: b.TempDir()})
	must(b, err)
	private, _, err := note.GenerateKey(rand.Reader, "tessera.example.com")
	must(b, err)
	signer, err := note.NewSigner(private)
	must(b, err)
	log, stop, reader, err := tessera.NewAppender(ctx, driver, tessera.NewAppendOptions().
		WithCheckpointSigner(signer).WithBatching(1024, 5*time.Millisecond).WithCheckpointInterval(checkpoints))
	must(b, err)
	b.Cleanup(func() { must(b, stop(ctx)); cancel() })
	return &tesseraLog{Appender: log, LogReader: reader}
}

// entry is as long as our records.
func (l *tesseraLog) entry() *tessera.Entry {
	return tessera.NewEntry(append(fmt.Appendf(nil, "%020d", l.entries.Add(1)), bytes.Repeat([]byte{'x'}, 380)...))
}

// add waits for the entry's place.
func (l *tesseraLog) add(ctx context.Context) error {
	_, err := l.Add(ctx, l.entry())()
	return err
}

// newPublished waits until a checkpoint has the entry in the tree; there is one every
// 100 ms, the shortest time the driver takes.
func newPublished(b *testing.B) func(context.Context) error {
	b.Helper()
	l := newTessera(b, 100*time.Millisecond)
	awaiter := tessera.NewPublicationAwaiter(b.Context(), l.ReadCheckpoint, 5*time.Millisecond)
	return func(ctx context.Context) error {
		_, _, err := awaiter.Await(ctx, l.Add(ctx, l.entry()))
		return err
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
