package redact_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hodl"
	"hodl/internal/redact"
)

// What is remembered changes no result, whatever the policy, the workspace and the
// order.
func TestMemoryChangesNothing(t *testing.T) {
	m := redact.NewMemory(1 << 20)
	for round := range 2 {
		for _, ws := range []string{"wks_a", "wks_b"} {
			for _, name := range []string{"balanced", "secrets-only", "default-strict", "off"} {
				p, _ := redact.Lookup(name)
				c := sized(16<<10, 9)
				want, err := p.Apply(session(), c)
				if err != nil {
					t.Fatal(err)
				}
				got, err := m.Apply(p, hodl.WorkspaceID(ws), session(), c, redact.History{})
				if err != nil {
					t.Fatal(err)
				}
				what := fmt.Sprintf("round %d, %s, %s", round, ws, name)
				if diff := cmp.Diff(want.Content(), got.Content()); diff != "" {
					t.Errorf("%s: the content differs:\n%s", what, diff)
				}
				if diff := cmp.Diff(want.Redactions(), got.Redactions()); diff != "" {
					t.Errorf("%s: the list differs:\n%s", what, diff)
				}
			}
		}
	}
}

// BenchmarkRemembered measures a policy on a version whose texts were looked through.
func BenchmarkRemembered(b *testing.B) {
	p, _ := redact.Lookup("balanced")
	m := redact.NewMemory(16 << 20)
	c := sized(64<<10, 27)
	bare, apply := 1e18, 1e18
	for b.Loop() {
		bare = min(bare, float64(timed(func() { barePass(c) })))
		apply = min(apply, float64(timed(func() { _, _ = m.Apply(p, "wks_a", session(), c, redact.History{}) })))
	}
	b.ReportMetric(apply/bare, "×bare")
	b.ReportMetric(apply, "ns/apply")
}
