package main

import (
	"context"
	"fmt"
	"path/filepath"
)

// conformance runs the official suite in both revisions: against the product, which
// does not have the fixtures the suite asks for by name, and against the same server
// with them. The baselines name every check that is not met, with the reason; an
// entry that is met fails the run.
func conformance() []step {
	var all []step
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		all = append(all,
			step{"conformance " + revision + ", product", func(ctx context.Context, b *bench) error {
				return b.suite(ctx, b.product, revision, "product-"+revision+".yml")
			}},
			step{"conformance " + revision + ", with fixtures", func(ctx context.Context, b *bench) error {
				return b.suite(ctx, b.fixture, revision, "fixture-"+revision+".yml")
			}})
	}
	return all
}

func (b *bench) suite(ctx context.Context, s *served, revision, baseline string) error {
	args := []string{"server", "--url", s.open, "--requirements", revision, "-o", filepath.Join(b.cache, "results")}
	if _, err := testdata.ReadFile("testdata/" + baseline); err == nil {
		args = append(args, "--expected-failures", baseline)
	}
	out, err := b.tool(ctx, "@modelcontextprotocol/conformance/dist/index.js", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, lines(out, 90))
	}
	return nil
}
