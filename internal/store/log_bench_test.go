package store_test

import (
	"crypto/ed25519"
	"fmt"
	"slices"
	"testing"
	"time"

	"hodl"
	"hodl/internal/ledger"
	"hodl/internal/store"
)

// logSigner signs as a server does: one key, whose own signatures it knows.
type logSigner struct{ key ed25519.PrivateKey }

func (logSigner) Origin() string                             { return "hodl.example.com/log" }
func (s logSigner) Sign(c ledger.Checkpoint) []byte          { return c.Sign(s.key) }
func (logSigner) Check(ledger.Checkpoint, []byte) error      { return nil }
func (logSigner) Renew(_ ledger.Checkpoint, b []byte) []byte { return b }

// BenchmarkRecords commits batches of records with their log, and in turn plain
// inserts of the same rows, the head's among them, into another database: without tree,
// tiles and signature. The ratio is of the median times of a batch.
func BenchmarkRecords(b *testing.B) {
	for _, engine := range engines {
		for _, batch := range []int{16, 128, 1024} {
			b.Run(fmt.Sprintf("%s/%d", engine.name, batch), func(b *testing.B) {
				logged, plain := newRecorded(b, engine.create(b).Options), newRecorded(b, engine.create(b).Options)
				logged.SignLogs(logSigner{ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))})
				for i := 0; b.Loop(); i++ {
					logged.commit(b, batch, -1)
					plain.commit(b, batch, int64(i*batch))
				}
				with, without := logged.median(), plain.median()
				b.ReportMetric(float64(batch)/with.Seconds(), "logged/s")
				b.ReportMetric(float64(batch)/without.Seconds(), "plain/s")
				b.ReportMetric(without.Seconds()/with.Seconds(), "logged÷plain")
			})
		}
	}
}

// A recorded store is one whose commits are timed.
type recorded struct {
	*bench
	took []time.Duration
}

func newRecorded(b *testing.B, o store.Options) *recorded {
	b.Helper()
	return &recorded{bench: open(b, o)}
}

func (r *recorded) commit(b *testing.B, n int, plainFrom int64) {
	b.Helper()
	recs := make([]*hodl.Record, n)
	for i := range recs {
		recs[i] = &hodl.Record{
			ID: hodl.RecordID(r.NewID("acr")), Kind: hodl.KindHydrate, At: r.Now(), Actor: "claude.anthropic.com", Workspace: r.ws, Mode: hodl.Live, User: "usr_bench",
			Session: "ses_01KAQ3M7T4Z0X8W2V6R5N9P1JF", JTI: "rt_01KAQ3M7T4Z0X8W2V6R5N9P1JE", Scopes: []hodl.Scope{hodl.ReadContext},
		}
	}
	start := time.Now()
	must(b, r.CommitRecords(b.Context(), recs, plainFrom))
	r.took = append(r.took, time.Since(start))
}

func (r *recorded) median() time.Duration {
	slices.Sort(r.took)
	return r.took[len(r.took)/2]
}
