// Bench measures the goals of docs/performance.md: each figure against a named
// limit that is measured in the same run, round by round in turn, because this
// machine is never quite the same twice. It prints a table; run it with make bench.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime/pprof"
	"slices"
	"text/tabwriter"
	"time"

	"hodl/internal/serve"
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

// A goal bounds a figure made of what was measured, from below or from above. One
// without a bound is told beside the one before it, and not judged.
type goal struct {
	number  int // of docs/performance.md
	name    string
	figure  figure
	atLeast float64
	atMost  float64
}

// A figure is made of the results of a run; ok is false when one is missing.
type figure func(results map[string]result) (value float64, ok bool)

func ratio(over, under string) figure {
	return func(results map[string]result) (float64, bool) {
		a, ok1 := results[over]
		b, ok2 := results[under]
		return a.value / b.value, ok1 && ok2
	}
}

func value(of string) figure {
	return func(results map[string]result) (float64, bool) {
		r, ok := results[of]
		return r.value, ok
	}
}

// p99 is in milliseconds.
func p99(of string) figure {
	return func(results map[string]result) (float64, bool) {
		r, ok := results[of]
		return float64(r.p99.Microseconds()) / 1e3, ok
	}
}

func p99Ratio(over, under string) figure {
	return func(results map[string]result) (float64, bool) {
		a, ok1 := results[over]
		b, ok2 := results[under]
		return float64(a.p99) / float64(b.p99), ok1 && ok2
	}
}

func p99OverP50(of string) figure {
	return func(results map[string]result) (float64, bool) {
		r, ok := results[of]
		return float64(r.p99) / float64(r.p50), ok
	}
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == opponent {
		fmt.Fprintln(os.Stderr, "bench:", oppose(os.Args[2]))
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := bench(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(ctx context.Context) error {
	rounds := flag.Int("rounds", 5, "how many times each figure is measured, in turn")
	each := flag.Duration("each", 300*time.Millisecond, "how long each measurement takes")
	only := flag.String("only", "", "measure only figures, or the growth of engines, whose name matches this `pattern`")
	grow := flag.Int("grow", 0, "measure how costs grow up to this many hodls and records instead")
	profile := flag.String("profile", "", "write a processor profile of what is measured to this `file`")
	flag.Parse()
	serve.TuneGC() // the garbage of all that is measured in this process is collected as a server's
	dir, err := os.MkdirTemp(".", ".bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	wanted, err := regexp.Compile(*only)
	if err != nil {
		return fmt.Errorf("--only: %w", err)
	}
	if *grow > 0 {
		return growth(ctx, dir, *grow, *each, wanted)
	}
	var all []measure
	for _, set := range []func(context.Context, string) ([]measure, func(), error){diskMeasures, tokenMeasures, redactMeasures, logMeasures, pgbenchMeasures, storeMeasures, httpMeasures, mcpMeasures, pocketbaseMeasures, startMeasures} {
		list, stop, err := set(ctx, dir)
		if err != nil {
			return err
		}
		defer stop()
		all = append(all, list...)
	}
	all = slices.DeleteFunc(all, func(m measure) bool { return !wanted.MatchString(m.name) })
	if *profile != "" {
		stopProfile, err := startProfile(*profile)
		if err != nil {
			return fmt.Errorf("--profile: %w", err)
		}
		defer stopProfile()
	}
	results, err := interleave(ctx, all, *rounds, *each)
	if err != nil {
		return err
	}
	report(all, results)
	judge(results)
	return nil
}

// startProfile profiles the load too: it runs in this process.
func startProfile(file string) (stop func(), err error) {
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { pprof.StopCPUProfile(); f.Close() }, nil
}

// interleave runs every measure once a round, and returns the medians of those whose
// parts are there.
func interleave(ctx context.Context, all []measure, rounds int, each time.Duration) (map[string]result, error) {
	taken := map[string][]result{}
	progress := io.Discard
	if info, err := os.Stderr.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		progress = os.Stderr
	}
	for round := range rounds {
		for _, m := range all {
			fmt.Fprintf(progress, "\r\x1b[Kround %d of %d: %s", round+1, rounds, m.name)
			r, err := m.run(ctx, each)
			if errors.Is(err, errAbsent) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.name, err)
			}
			taken[m.name] = append(taken[m.name], r)
		}
	}
	fmt.Fprint(progress, "\r\x1b[K")
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
		r, ok := results[m.name]
		if !ok {
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", m.name, number(r.value), m.unit, span(r.p50), span(r.p99))
	}
	w.Flush()
}

func judge(results map[string]result) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\n#\tgoal\tmeasured\twanted\t")
	for _, g := range goals {
		got, ok := g.figure(results)
		if !ok {
			continue
		}
		wanted, verdict := g.judge(got)
		fmt.Fprintf(w, "%d\t%s\t%.2f\t%s\t%s\n", g.number, g.name, got, wanted, verdict)
	}
	w.Flush()
}

func (g *goal) judge(got float64) (wanted, verdict string) {
	met := false
	switch {
	case g.atMost > 0:
		wanted, met = fmt.Sprintf("≤ %g", g.atMost), got <= g.atMost
	case g.atLeast > 0:
		wanted, met = fmt.Sprintf("≥ %g", g.atLeast), got >= g.atLeast
	default:
		return "", ""
	}
	if met {
		return wanted, "met"
	}
	return wanted, "not met"
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
