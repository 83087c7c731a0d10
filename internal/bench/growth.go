package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"text/tabwriter"
	"time"

	"hodl"
	"hodl/internal/query"
	"hodl/internal/store"
)

// firstSize is the number of hodls and of access records that growth is measured
// from.
const firstSize = 10_000

// A grown is an operation whose cost must not grow with what is stored: at most
// times what it costs at firstSize.
type grown struct {
	name    string
	callers int
	atMost  float64
	call    func(ctx context.Context, caller, n int) error
}

// growth fills each engine to ten times as much, again and again up to most, through
// the same calls that a server makes, and prints what operations cost at each size.
func growth(ctx context.Context, dir string, most int, each time.Duration, wanted *regexp.Regexp) error {
	for _, engine := range engineNames {
		if !wanted.MatchString(engine) {
			continue
		}
		if err := growEngine(ctx, engine, dir, most, each); err != nil {
			return fmt.Errorf("%s: %w", engine, err)
		}
	}
	return nil
}

func growEngine(ctx context.Context, engine, dir string, most int, each time.Duration) error {
	p, err := newPlace(engine, dir)
	if err != nil {
		return err
	}
	defer p.drop()
	w, err := newWorkshop(ctx, p, spread)
	if err != nil {
		return err
	}
	defer w.Close()
	var sizes []int
	costs := map[string][]float64{}
	filled := 0
	for size := firstSize; size <= most; size *= 10 {
		if err := w.fill(ctx, filled, size); err != nil {
			return err
		}
		if err := p.analyze(ctx); err != nil {
			return err
		}
		sizes, filled = append(sizes, size), size
		for _, g := range w.grown() {
			cost, err := costOf(ctx, g, each)
			if err != nil {
				return fmt.Errorf("%s at %d: %w", g.name, size, err)
			}
			costs[g.name] = append(costs[g.name], cost)
		}
	}
	tellGrowth(engine, sizes, w.grown(), costs)
	return nil
}

// costOf is the median of three runs, in µs of all callers together, after one that
// does not count: what was filled in last is in no reader's cache.
func costOf(ctx context.Context, g grown, each time.Duration) (float64, error) {
	var costs []float64
	for range 4 {
		r, err := closedLoop(ctx, g.callers, each, g.call)
		if err != nil {
			return 0, err
		}
		costs = append(costs, 1e6/r.value)
	}
	slices.Sort(costs[1:])
	return costs[2], nil
}

func tellGrowth(engine string, sizes []int, list []grown, costs map[string][]float64) {
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\n%s, µs\t", engine)
	for _, size := range sizes {
		fmt.Fprintf(t, "%d\t", size)
	}
	fmt.Fprintln(t, "growth\twanted\t")
	for _, g := range list {
		c := costs[g.name]
		fmt.Fprintf(t, "%s\t", g.name)
		for _, cost := range c {
			fmt.Fprintf(t, "%.0f\t", cost)
		}
		ratio, verdict := c[len(c)-1]/c[0], "met"
		if ratio > g.atMost {
			verdict = "not met"
		}
		fmt.Fprintf(t, "%.2f\t≤ %g\t%s\n", ratio, g.atMost, verdict)
	}
	t.Flush()
}

// grown are the operations of docs/performance.md, goals 14 and 15. Each finds as much
// at the first size as at the last: a page that is full costs more than one that is not.
func (w *workshop) grown() []grown {
	any := func(caller, n int) *hodl.Token { return &w.tokens[(caller*7919+n)%len(w.tokens)] }
	find := func(t *hodl.Token, q string) error {
		parsed, err := query.Parse(q)
		if err != nil {
			return err
		}
		_, err = w.Hodls(context.Background(), store.HodlFilter{Workspace: t.Workspace, Mode: t.Mode, User: t.User, Query: *parsed, Limit: 20})
		return err
	}
	return []grown{
		{"hydrate", 32, 1.5, func(ctx context.Context, caller, n int) error { return w.hydrate(ctx, any(caller, n)) }},
		{"capture a hodl", 32, 2, func(ctx context.Context, caller, n int) error {
			return w.PutHodl(ctx, w.hodlOf(any(caller, n), caller*1_000_003+n))
		}},
		{"list hodls", 8, 2, func(_ context.Context, caller, n int) error { return find(any(caller, n), "") }},
		{"list by tag", 8, 2, func(_ context.Context, caller, n int) error { return find(any(caller, n), "tag:t3") }},
		{"search a rare word", 8, 2, func(_ context.Context, caller, n int) error { return find(any(caller, n), "seldom") }},
		{"search a common word", 8, 2, func(_ context.Context, caller, n int) error { return find(any(caller, n), "common") }},
		{"list records", 8, 2, func(ctx context.Context, caller, n int) error {
			t := any(caller, n)
			_, err := w.Records(ctx, t.Workspace, t.Mode, store.RecordFilter{User: t.User, Page: store.Page{Limit: 20}})
			return err
		}},
	}
}

// hodlOf is the nth hodl: one word of its title is in every other hodl, one in ten of
// the first hundred of each workspace, one in every thousandth, and one of five tags.
func (w *workshop) hodlOf(t *hodl.Token, n int) store.HodlWrite {
	now := w.Now()
	title := fmt.Sprintf("page %d rare%d", n, n%1000)
	if n%2 == 0 {
		title += " common"
	}
	if n < firstSize && n%10 == 3 {
		title += " seldom"
	}
	return store.HodlWrite{Workspace: t.Workspace, Mode: t.Mode, User: t.User, Hodl: hodl.Hodl{
		ID: hodl.HodlID(w.NewID("hdl")), URL: fmt.Sprintf("https://example.com/%d/pages/%d", n%97, n), Title: title,
		Tags: []string{fmt.Sprintf("t%d", n%5)}, Source: "rest", CreatedAt: now, UpdatedAt: now,
	}}
}

// fill brings the hodls and the access records from one number to another, spread
// over the workspaces.
func (w *workshop) fill(ctx context.Context, from, to int) error {
	const chunk = 500
	begun := time.Now()
	err := eachOf((to-from)/chunk, 4, func(i int) error {
		writes := make([]store.HodlWrite, chunk)
		for n := range writes {
			at := from + i*chunk + n
			writes[n] = w.hodlOf(&w.tokens[at/7%len(w.tokens)], at)
		}
		return errors.Join(w.PutHodls(ctx, writes)...)
	})
	if err != nil {
		return err
	}
	defer func() { fmt.Fprintf(os.Stderr, "filled to %d in %s\n", to, time.Since(begun).Round(time.Second)) }()
	return eachOf(to-from, 256, func(n int) error { return w.hydrate(ctx, &w.tokens[n%len(w.tokens)]) })
}
