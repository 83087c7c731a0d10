package meter_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hodl/internal/meter"
)

var start = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

// A key may do its burst at once, then its rate, and is told how long to wait.
func TestBurstThenRate(t *testing.T) {
	l := meter.NewLimiter(10, 4)
	for _, tt := range []struct {
		at   time.Duration
		ok   bool
		wait time.Duration
	}{
		{0, true, 0},
		{0, true, 0},
		{0, true, 0},
		{0, true, 0},
		{0, false, 100 * time.Millisecond},
		{40 * time.Millisecond, false, 60 * time.Millisecond},
		{100 * time.Millisecond, true, 0},
		{100 * time.Millisecond, false, 100 * time.Millisecond},
		{time.Hour, true, 0},
		{time.Hour, true, 0},
		{time.Hour, true, 0},
		{time.Hour, true, 0},
		{time.Hour, false, 100 * time.Millisecond}, // rest does not pile up
	} {
		if wait, ok := l.Take("k", start.Add(tt.at)); ok != tt.ok || wait != tt.wait {
			t.Errorf("at %v: %v, wait %v; want %v, %v", tt.at, ok, wait, tt.ok, tt.wait)
		}
	}
}

func TestKeysAreApart(t *testing.T) {
	l := meter.NewLimiter(1, 1)
	for i := range 1000 {
		if _, ok := l.Take(fmt.Sprint(i), start); !ok {
			t.Fatalf("key %d pays for another", i)
		}
	}
}

func TestPeekCountsNothing(t *testing.T) {
	l := meter.NewLimiter(1, 2)
	for range 10 {
		if _, ok := l.Peek("k", start); !ok {
			t.Fatal("a look used something up")
		}
	}
	l.Take("k", start)
	l.Take("k", start)
	if wait, ok := l.Peek("k", start); ok || wait != time.Second {
		t.Errorf("after the burst: %v, wait %v", ok, wait)
	}
}

func TestNoRateIsNoBound(t *testing.T) {
	l := meter.NewLimiter(0, 0)
	for range 10_000 {
		if _, ok := l.Take("k", start); !ok {
			t.Fatal("a limiter without a rate refuses")
		}
	}
}

// A clock that steps back neither opens the gate nor shuts it for long.
func TestClockStepsBack(t *testing.T) {
	l := meter.NewLimiter(10, 2)
	l.Take("k", start)
	l.Take("k", start)
	if wait, ok := l.Take("k", start.Add(-time.Second)); ok || wait > 2*time.Second {
		t.Errorf("a second back: %v, wait %v", ok, wait)
	}
}

// However many takers come at once, as many get through as may.
func TestBurstIsExact(t *testing.T) {
	l := meter.NewLimiter(1, 50)
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
	l := meter.NewLimiter(1, 1)
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
	l := meter.NewLimiter(1000, 1000)
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
	l := meter.NewLimiter(1000, 1000)
	l.Take("k", start)
	if n := testing.AllocsPerRun(1000, func() { l.Take("k", start) }); n != 0 {
		t.Errorf("a take allocates %v times", n)
	}
}
