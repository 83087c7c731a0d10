package interop_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/zricethezav/gitleaks/v8/detect"

	"hodl"
	"hodl/internal/redact"
)

// secret is joined from parts: a whole one would be found by the scanners of whoever
// hosts this code. Its last six characters are a checksum.
var secret = "ghp" + "_x8Kq2LmZ4vRt7WnYbC3dEfGhJ5sPaQ1uT9iO"

// notes makes about so many bytes of prose and addresses, with so many values.
func notes(bytes, values int) hodl.Content {
	var c hodl.Content
	for i, size := 0, 0; size < bytes; i++ {
		body := "The retry loop backs off twice before it gives up; see https://pkg.go.dev/net/http#Transport.RoundTrip and the comment above dial. " +
			"Tokens are counted per request, the key of the map is the session's name.\n"
		if i < values {
			body += "token " + strings.Replace(secret, "x8Kq", fmt.Sprintf("x%dKq", i%10), 1) + " used\n"
		}
		c.Notes = append(c.Notes, hodl.Note{ID: int64(i), Body: body})
		size += len(body)
	}
	return c
}

var sizes = []struct{ bytes, values int }{{8 << 10, 5}, {64 << 10, 27}}

// A pair is the two engines and texts for both.
type pair struct {
	policy  *redact.Policy
	theirs  *detect.Detector
	content hodl.Content
}

func newPair(t testing.TB, bytes, values int) pair {
	t.Helper()
	theirs, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		t.Fatal(err)
	}
	policy, _ := redact.Lookup("balanced")
	return pair{policy, theirs, notes(bytes, values)}
}

// redact does all of it: walking, finding, replacing, telling.
func (p pair) redact(t testing.TB) int {
	r, err := p.policy.Apply(hodl.Session{ID: "ses_01KAQ3M7T4Z0X8W2V6R5N9P1JF", Fingerprint: strings.Repeat("0", 64)}, p.content)
	if err != nil {
		t.Fatal(err)
	}
	return len(r.Redactions())
}

func (p pair) gitleaks() (found int) {
	for i := range p.content.Notes {
		found += len(p.theirs.DetectString(p.content.Notes[i].Body))
	}
	return found
}

// The engine finds what gitleaks finds.
func TestFindsWhatGitleaksFinds(t *testing.T) {
	for _, size := range sizes {
		p := newPair(t, size.bytes, size.values)
		if removed, found := p.redact(t), p.gitleaks(); removed < size.values || removed < found {
			t.Errorf("%d KB with %d values: %d removed; %s finds %d", size.bytes>>10, size.values, removed, engine, found)
		}
	}
}

// BenchmarkGitleaks tells how many times as long gitleaks takes to find as the engine
// takes for all it does, by the fastest run of each, in turn.
func BenchmarkGitleaks(b *testing.B) {
	for _, size := range sizes {
		b.Run(fmt.Sprintf("%dk", size.bytes>>10), func(b *testing.B) {
			p := newPair(b, size.bytes, size.values)
			ours, theirs := time.Hour, time.Hour
			for b.Loop() {
				ours = min(ours, took(func() { p.redact(b) }))
				theirs = min(theirs, took(func() { p.gitleaks() }))
			}
			b.ReportMetric(float64(theirs)/float64(ours), "gitleaks÷ours")
		})
	}
}

func took(run func()) time.Duration {
	start := time.Now()
	run()
	return time.Since(start)
}
