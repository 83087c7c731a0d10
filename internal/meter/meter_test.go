package meter_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hodl"
	"hodl/internal/meter"
)

var start = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

// A key may do its burst at once, then its rate, and is told how long to wait.
func TestBurstThenRate(t *testing.T) {
	const ms = time.Millisecond
	l := meter.NewLimiter("default", 10, 4)
	for _, tt := range []struct {
		at   time.Duration
		ok   bool
		left int64
		wait time.Duration // until there is more than left
	}{
		{0, true, 3, 100 * ms},
		{0, true, 2, 100 * ms},
		{0, true, 1, 100 * ms},
		{0, true, 0, 100 * ms},
		{0, false, 0, 100 * ms},
		{40 * ms, false, 0, 60 * ms},
		{100 * ms, true, 0, 100 * ms},
		{100 * ms, false, 0, 100 * ms},
		{250 * ms, true, 0, 50 * ms},
		{time.Hour, true, 3, 100 * ms},
		{time.Hour, true, 2, 100 * ms},
		{time.Hour, true, 1, 100 * ms},
		{time.Hour, true, 0, 100 * ms},
		{time.Hour, false, 0, 100 * ms}, // rest does not pile up
	} {
		limit, ok := l.Take("k", start.Add(tt.at))
		if ok != tt.ok || limit.Left != tt.left || limit.Wait != tt.wait {
			t.Errorf("at %v: %v, %+v; want %+v", tt.at, ok, limit, tt)
		}
		if limit.Name != "default" || limit.Quota != 4 || limit.Window != 400*time.Millisecond {
			t.Errorf("the bound is %+v", limit)
		}
	}
}

func TestKeysAreApart(t *testing.T) {
	l := meter.NewLimiter("default", 1, 1)
	for i := range 1000 {
		if _, ok := l.Take(fmt.Sprint(i), start); !ok {
			t.Fatalf("key %d pays for another", i)
		}
	}
}

func TestPeekCountsNothing(t *testing.T) {
	l := meter.NewLimiter("default", 1, 2)
	for range 10 {
		if _, ok := l.Peek("k", start); !ok {
			t.Fatal("a look used something up")
		}
	}
	l.Take("k", start)
	l.Take("k", start)
	if limit, ok := l.Peek("k", start); ok || limit.Wait != time.Second {
		t.Errorf("after the burst: %v, %+v", ok, limit)
	}
}

func TestNoRateIsNoBound(t *testing.T) {
	l := meter.NewLimiter("default", 0, 0)
	for range 10_000 {
		if _, ok := l.Take("k", start); !ok {
			t.Fatal("a limiter without a rate refuses")
		}
	}
}

// A clock that steps back neither opens the gate nor shuts it for long.
func TestClockStepsBack(t *testing.T) {
	l := meter.NewLimiter("default", 10, 2)
	l.Take("k", start)
	l.Take("k", start)
	if limit, ok := l.Take("k", start.Add(-time.Second)); ok || limit.Wait > 2*time.Second {
		t.Errorf("a second back: %v, %+v", ok, limit)
	}
}

// However many takers come at once, as many get through as may.
func TestBurstIsExact(t *testing.T) {
	l := meter.NewLimiter("default", 1, 50)
	var taken atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				if _, ok := l.Take("k", start); ok {
					taken.Add(1)
				}
			}
		})
	}
	all.Wait()
	if got := taken.Load(); got != 50 {
		t.Errorf("%d of 800 got through, want 50", got)
	}
}

// Memory is bounded by what keys are ahead of their rate: those that rested are
// forgotten, and one that is ahead is remembered among many that are not.
func TestManyKeys(t *testing.T) {
	l := meter.NewLimiter("default", 1, 1)
	now := start
	for i := range 600_000 {
		l.Take(fmt.Sprint("passing", i), now)
		now = now.Add(time.Millisecond)
		if i%1000 == 0 {
			l.Take("greedy", now)
			if _, ok := l.Take("greedy", now); ok {
				t.Fatalf("after %d keys the greedy one got a fresh burst", i)
			}
		}
	}
}

func BenchmarkTake(b *testing.B) {
	l := meter.NewLimiter("default", 1000, 1000)
	keys := make([]string, 1024)
	for i := range keys {
		keys[i] = fmt.Sprintf("rt_01KAQ3M7T4Z0X8W2V6R5N9%04d", i)
	}
	b.ReportAllocs()
	i, now := 0, start
	for b.Loop() {
		now = now.Add(time.Millisecond)
		l.Take(keys[i&1023], now)
		i++
	}
}

// A take costs no memory: it is made on every use of a token.
func TestTakeAllocatesNothing(t *testing.T) {
	l := meter.NewLimiter("default", 1000, 1000)
	l.Take("k", start)
	if n := testing.AllocsPerRun(1000, func() { l.Take("k", start) }); n != 0 {
		t.Errorf("a take allocates %v times", n)
	}
}

// A workspace goes as fast as its plan, its sandbox as Developer, each kind and
// each mode in a bucket of its own; Enterprise is not bounded.
func TestRates(t *testing.T) {
	for _, name := range hodl.PlanNames {
		plan, _ := hodl.PlanOf(name)
		r := meter.NewRates(meter.Requests)
		for _, m := range []hodl.Mode{hodl.Live, hodl.Sandbox} {
			burst := plan.Paced(m).Burst
			for i := range burst {
				if limit, ok := r.Take("wks_1", name, m, start); !ok || limit.Left != int64(burst-1-i) {
					t.Fatalf("%s %s: %d of %d: %+v", name, m, i+1, burst, limit)
				}
			}
			if limit, ok := r.Take("wks_1", name, m, start); ok != (burst == 0) || ok != (limit.Quota == 0) {
				t.Errorf("%s %s: after the burst: %v %+v", name, m, ok, limit)
			}
			if _, ok := r.Take("wks_2", name, m, start); !ok {
				t.Errorf("%s %s: one workspace pays for another", name, m)
			}
		}
	}
}

func TestRatesAllocateNothing(t *testing.T) {
	r := meter.NewRates(meter.Requests)
	r.Take("wks_1", hodl.Scale, hodl.Live, start)
	if n := testing.AllocsPerRun(1000, func() { r.Take("wks_1", hodl.Scale, hodl.Live, start) }); n != 0 {
		t.Errorf("a take allocates %v times", n)
	}
}

func BenchmarkRates(b *testing.B) {
	r := meter.NewRates(meter.Requests)
	keys := make([]hodl.WorkspaceID, 1024)
	for i := range keys {
		keys[i] = hodl.WorkspaceID(fmt.Sprintf("wks_01KAQ3M7T4Z0X8W2V6R5N9%04d", i))
	}
	b.ReportAllocs()
	i, now := 0, start
	for b.Loop() {
		now = now.Add(time.Millisecond)
		r.Take(keys[i&1023], hodl.Scale, hodl.Live, now)
		i++
	}
}
