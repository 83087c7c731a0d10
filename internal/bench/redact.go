package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"hodl"
	"hodl/internal/detect"
	"hodl/internal/redact"
	"hodl/internal/render"
)

func redactName(what string) string { return "redact: balanced, " + what }
func bareName(what string) string   { return "redact: the bare pass, " + what }
func slowerName(what string) string { return "redact: balanced ÷ the bare pass, " + what }

const (
	rememberedRatio = "redact: balanced ÷ the bare pass, 64 KB looked through before"
	firstHydration  = "redact: a first hydration, redact and render 16 KB"
)

func redactAndRender(policy *redact.Policy, session hodl.Session, c hodl.Content) error {
	r, err := policy.Apply(session, c)
	if err != nil {
		return err
	}
	_, err = render.Render(render.Context(r, hodl.Scopes[:]), render.JSON)
	return err
}

// hostiles are texts made to cost much, each repeated to 1 MB in one line.
var hostiles = map[string]string{
	"1 MB of keywords":         "password token secret key ",
	"one line of 1 MB":         "x",
	"1 MB of nested encodings": `%2522\\\"cGFzc3dvcmQ9%25`,
}

// redactMeasures compares a policy, fields in and fields out, with the bare pass of
// keywords over the same texts, on one core.
func redactMeasures(ctx context.Context, dir string) ([]measure, func(), error) {
	policy, _ := redact.Lookup("balanced")
	session := hodl.Session{ID: "ses_01KAQ3M7T4Z0X8W2V6R5N9P1JF"}
	var all []measure
	add := func(what string, c hodl.Content) {
		bare := func() error { barePass(&c); return nil }
		apply := func() error { _, err := policy.Apply(session, c); return err }
		all = append(all,
			measure{bareName(what), "/s", func(ctx context.Context, d time.Duration) (result, error) {
				return closedLoop(ctx, 1, d, func(context.Context, int, int) error { return bare() })
			}},
			measure{redactName(what), "/s", func(ctx context.Context, d time.Duration) (result, error) {
				return closedLoop(ctx, 1, d, func(context.Context, int, int) error { return apply() })
			}},
			measure{slowerName(what), "×", func(_ context.Context, d time.Duration) (result, error) { return inTurn(d, apply, bare) }})
	}
	add("8 KB with 5 values", sensitive(8<<10, 5))
	add("64 KB with 27 values", sensitive(64<<10, 27))
	for what, unit := range hostiles {
		add(what, hodl.Content{Notes: []hodl.Note{{Body: strings.Repeat(unit, 1<<20/len(unit))}}})
	}
	remembered := sensitive(64<<10, 27)
	memory := redact.NewMemory(16 << 20)
	first := sensitive(16<<10, 10)
	all = append(all,
		measure{rememberedRatio, "×", func(_ context.Context, d time.Duration) (result, error) {
			return inTurn(d, func() error {
				_, err := memory.Apply(policy, "wks_bench", session, remembered, redact.History{})
				return err
			}, func() error { barePass(&remembered); return nil })
		}},
		measure{firstHydration, "ms", func(_ context.Context, d time.Duration) (result, error) {
			return fastest(d, func() error { return redactAndRender(policy, session, first) })
		}})
	for _, engine := range []struct {
		name string
		tags []string
	}{{"gitleaks", nil}, {"gitleaks with RE2", []string{"gore2regex"}}} {
		theirs, err := newGoTest(ctx, dir, "internal/redact/interop", engine.tags...)
		if err != nil {
			return nil, nil, err
		}
		for _, size := range []string{"8", "64"} {
			all = append(all, theirs.measure(fmt.Sprintf("redact: %s ÷ balanced, %s KB", engine.name, size), "×", "^BenchmarkGitleaks$/^"+size+"k$", "gitleaks÷ours"))
		}
	}
	return all, func() {}, nil
}

// inTurn runs two things one after the other, again and again, and returns how many
// times as much processor time the one takes, by the fastest run of each: other work on
// the machine makes any of them slow and none fast.
func inTurn(d time.Duration, run, limit func() error) (result, error) {
	least, bound := time.Hour, time.Hour
	for start := time.Now(); time.Since(start) < d; {
		a, err := timed(run)
		if err != nil {
			return result{}, err
		}
		b, err := timed(limit)
		if err != nil {
			return result{}, err
		}
		least, bound = min(least, a), min(bound, b)
	}
	return result{value: float64(least) / float64(bound)}, nil
}

// fastest is the least processor time that something took, in milliseconds.
func fastest(d time.Duration, run func() error) (result, error) {
	least := time.Hour
	for start := time.Now(); time.Since(start) < d; {
		took, err := timed(run)
		if err != nil {
			return result{}, err
		}
		least = min(least, took)
	}
	return result{value: float64(least.Microseconds()) / 1e3}, nil
}

// timed returns the processor time of this thread that run took.
func timed(run func() error) (time.Duration, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadTime()
	err := run()
	return threadTime() - before, err
}

func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err) // every kernel has that clock
	}
	return time.Duration(t.Nano())
}

func barePass(c *hodl.Content) {
	for i := range c.Tabs {
		detect.Keywords(c.Tabs[i].URL)
		detect.Keywords(c.Tabs[i].Title)
		detect.Keywords(c.Tabs[i].SelectedText)
	}
	for i := range c.Notes {
		detect.Keywords(c.Notes[i].Body)
	}
}

// sensitive is content of about size bytes in tabs and notes, with so many values to
// remove.
func sensitive(size, values int) hodl.Content {
	const prose = "The retry loop in client.go backs off twice before it gives up. Deploys happen on Tuesdays at 10:30 from main, version v1.24.3. "
	var c hodl.Content
	for i, n := 0, 0; n < size; i++ {
		tab := hodl.Tab{
			URL: fmt.Sprintf("https://pkg.go.dev/net/http/page%d?tab=doc#Transport.RoundTrip", i), Title: "http package - net/http - Go Packages",
			SelectedText: prose + "func (c *Client) do(req *http.Request) (*http.Response, error) {\n\treturn c.http.Do(req)\n}\n",
		}
		note := hodl.Note{ID: int64(i), Body: prose + "Tokens are counted per request, the key of the map is the session's name. "}
		if i < values {
			note.Body += planted(i, len(plantings))
		}
		c.Tabs, c.Notes = append(c.Tabs, tab), append(c.Notes, note)
		n += len(tab.URL) + len(tab.Title) + len(tab.SelectedText) + len(note.Body)
	}
	return c
}
