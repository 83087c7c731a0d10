package main

import (
	"context"
	"fmt"
	"time"

	"hodl"
)

// The callers of every concurrent figure.
var callerCounts = []int{1, 32, 256}

const spread = 100 // workspaces that hydrations are spread over

func hydrateName(engine string, callers int) string {
	return fmt.Sprintf("store: hydrate, %s, %d callers", engine, callers)
}

func hotName(engine string) string {
	return fmt.Sprintf("store: hydrate, %s, 32 callers, one workspace", engine)
}

func captureName(engine string, callers int) string {
	return fmt.Sprintf("store: capture 2 KB, %s, %d callers", engine, callers)
}

// storeMeasures are hydrations and captures without HTTP, beside the naive path on
// the same tables.
func storeMeasures(ctx context.Context, dir string) ([]measure, func(), error) {
	var all []measure
	var stops []func()
	stop := func() {
		for _, s := range stops {
			s()
		}
	}
	for _, engine := range engineNames {
		p, err := newPlace(engine, dir)
		if err != nil {
			return nil, stop, err
		}
		w, err := newWorkshop(ctx, p, spread)
		if err != nil {
			return nil, stop, fmt.Errorf("%s: %w", engine, err)
		}
		n, err := newNaive(ctx, engine, p)
		if err != nil {
			return nil, stop, fmt.Errorf("%s: %w", engine, err)
		}
		stops = append(stops, func() { n.close(); w.Close(); p.drop() })
		all = append(all, engineMeasures(engine, w, n)...)
	}
	return all, stop, nil
}

func engineMeasures(engine string, w *workshop, n *naive) []measure {
	var all []measure
	add := func(name string, callers int, call func(ctx context.Context, caller, n int) error) {
		all = append(all, measure{name, "/s", func(ctx context.Context, d time.Duration) (result, error) {
			return closedLoop(ctx, callers, d, call)
		}})
	}
	anyOf := func(caller, n int) *hodl.Token { return &w.tokens[(caller*7919+n)%len(w.tokens)] }
	for _, callers := range callerCounts {
		add(hydrateName(engine, callers), callers, func(ctx context.Context, caller, i int) error { return w.hydrate(ctx, anyOf(caller, i)) })
	}
	add(hotName(engine), 32, func(ctx context.Context, _, _ int) error { return w.hydrate(ctx, &w.tokens[0]) })
	add(naiveName(engine), 32, func(ctx context.Context, caller, i int) error {
		return n.hydrate(ctx, w.record(anyOf(caller, i), hodl.KindHydrate), recordText)
	})
	add(naiveHotName(engine), 32, func(ctx context.Context, _, _ int) error {
		return n.hydrate(ctx, w.record(&w.tokens[1], hodl.KindHydrate), recordText)
	})
	for _, callers := range callerCounts {
		add(captureName(engine, callers), callers, func(ctx context.Context, caller, i int) error {
			t := anyOf(caller, i)
			return w.put(ctx, t.Workspace, t.User, hodl.SessionID(w.NewID("ses")))
		})
	}
	add(naiveCaptureName(engine), 32, func(ctx context.Context, caller, i int) error { return n.capture(ctx, w, anyOf(caller, i)) })
	return all
}
