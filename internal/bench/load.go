package main

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// closedLoop has callers call as fast as they are answered, for d, and returns the
// rate and the latencies. A caller is one goroutine; call gets its number and how
// many calls it made before.
func closedLoop(ctx context.Context, callers int, d time.Duration, call func(ctx context.Context, caller, n int) error) (result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	var failed atomic.Pointer[error]
	spans := make([][]time.Duration, callers)
	start := time.Now()
	for i := range callers {
		wg.Go(func() {
			for n := 0; time.Since(start) < d && ctx.Err() == nil; n++ {
				before := time.Now()
				if err := call(ctx, i, n); err != nil {
					failed.CompareAndSwap(nil, &err)
					cancel()
					return
				}
				spans[i] = append(spans[i], time.Since(before))
			}
		})
	}
	wg.Wait()
	took := time.Since(start)
	if err := failed.Load(); err != nil {
		return result{}, *err
	}
	all := slices.Concat(spans...)
	slices.Sort(all)
	if len(all) == 0 {
		return result{}, ctx.Err()
	}
	return result{float64(len(all)) / took.Seconds(), all[len(all)/2], all[len(all)*99/100]}, nil
}

// eachOf makes n calls, by as many callers at once, and returns the first error.
func eachOf(n, callers int, call func(n int) error) error {
	var next atomic.Int64
	var group errgroup.Group
	for range callers {
		group.Go(func() error {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if err := call(i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}
