// Bench measures the goals of docs/performance.md: each figure against a named
// limit that is measured in the same run, round by round in turn, because this
// machine is never quite the same twice. It prints a table; run it with make bench.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"text/tabwriter"
	"time"
)

// A measure is one figure of one round: operations a second, unless its unit says
// otherwise.
type measure struct {
	name string
	unit string
	run  func(ctx context.Context, d time.Duration) (result, error)
}

// result is what a round of a measure gave. p50 and p99 are zero where there is no
// single operation to time.
type result struct {
	value    float64
	p50, p99 time.Duration
}

// A goal compares two measures: the first over the second, at least or at most.
type goal struct {
	name        string
	over, under string
	atLeast     float64
	atMost      float64
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := bench(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(ctx context.Context) error {
	rounds := flag.Int("rounds", 5, "how many times each figure is measured, in turn")
	each := flag.Duration("each", time.Second, "how long each measurement takes")
	only := flag.String("only", "", "measure only figures whose name matches this `pattern`")
	flag.Parse()
	dir, err := os.MkdirTemp(".", ".bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var all []measure
	for _, set := range []func(context.Context, string) ([]measure, func(), error){diskMeasures, tokenMeasures, pgbenchMeasures, storeMeasures, httpMeasures, startMeasures} {
		list, stop, err := set(ctx, dir)
		if err != nil {
			return err
		}
		defer stop()
		all = append(all, list...)
	}
	wanted, err := regexp.Compile(*only)
	if err != nil {
		return fmt.Errorf("--only: %w", err)
	}
	all = slices.DeleteFunc(all, func(m measure) bool { return !wanted.MatchString(m.name) })
	results, err := interleave(ctx, all, *rounds, *each)
	if err != nil {
		return err
	}
	report(all, results)
	judge(results)
	return nil
}

// interleave runs every measure once a round, and returns the medians.
func interleave(ctx context.Context, all []measure, rounds int, each time.Duration) (map[string]result, error) {
	taken := map[string][]result{}
	for round := range rounds {
		for _, m := range all {
			fmt.Fprintf(os.Stderr, "\r\x1b[Kround %d of %d: %s", round+1, rounds, m.name)
			r, err := m.run(ctx, each)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.name, err)
			}
			taken[m.name] = append(taken[m.name], r)
		}
	}
	fmt.Fprint(os.Stderr, "\r\x1b[K")
	medians := map[string]result{}
	for name, list := range taken {
		slices.SortFunc(list, func(a, b result) int { return int(1e6 * (a.value - b.value) / max(a.value, b.value)) })
		medians[name] = list[len(list)/2]
	}
	return medians, nil
}

func report(all []measure, results map[string]result) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "figure\tmedian\tunit\tp50\tp99")
	for _, m := range all {
		r := results[m.name]
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", m.name, number(r.value), m.unit, span(r.p50), span(r.p99))
	}
	w.Flush()
}

func judge(results map[string]result) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\ngoal\tratio\twanted\t")
	for _, g := range goals {
		over, ok1 := results[g.over]
		under, ok2 := results[g.under]
		if !ok1 || !ok2 {
			continue
		}
		ratio := over.value / under.value
		wanted, met := fmt.Sprintf("≥ %g", g.atLeast), ratio >= g.atLeast
		if g.atMost > 0 {
			wanted, met = fmt.Sprintf("≤ %g", g.atMost), ratio <= g.atMost
		}
		verdict := "met"
		if !met {
			verdict = "not met"
		}
		fmt.Fprintf(w, "%s\t%.2f\t%s\t%s\n", g.name, ratio, wanted, verdict)
	}
	w.Flush()
}

func number(v float64) string {
	if v >= 1000 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

func span(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.Round(10 * time.Microsecond).String()
}
