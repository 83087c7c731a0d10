// Package meter decides how fast callers may go. It counts in memory; the monthly
// quota, which must be exact on every server, is counted by the store in the
// transaction of the hydration.
package meter

import (
	"hash/maphash"
	"sync"
	"time"

	"hodl"
)

const shards = 64

// A Limiter lets each key do so much at once and so much a second, by the generic
// cell rate algorithm: one time per key, no timers. It is safe for concurrent use.
type Limiter struct {
	name     string
	interval time.Duration // between two at the steady rate
	burst    int64         // how many at once
	full     time.Duration // how long a burst takes to come back
	seed     maphash.Seed
	shards   [shards]shard
}

type shard struct {
	mu   sync.Mutex
	next map[uint64]int64 // hash of a key -> when its next one is due, Unix nanoseconds
}

// mostKeys is how many keys a shard remembers before it drops those that are no longer
// ahead of their rate.
const mostKeys = 4096

// NewLimiter lets each key do burst at once and perSecond after that. A rate of 0
// is no bound. The name is that of its [hodl.Limit].
func NewLimiter(name string, perSecond float64, burst int) *Limiter {
	l := &Limiter{name: name, burst: int64(max(burst, 1)), seed: maphash.MakeSeed()}
	if perSecond > 0 {
		l.interval = time.Duration(float64(time.Second) / perSecond)
		l.full = l.interval * time.Duration(l.burst)
	}
	for i := range l.shards {
		l.shards[i].next = map[uint64]int64{}
	}
	return l
}

// Take counts one for key at now, and tells where the key stands after it. If that
// is too fast it counts nothing, and the limit says how long to wait.
func (l *Limiter) Take(key string, now time.Time) (hodl.Limit, bool) {
	return l.take(key, now, 1)
}

// Peek tells whether Take would count, and counts nothing.
func (l *Limiter) Peek(key string, now time.Time) (hodl.Limit, bool) {
	return l.take(key, now, 0)
}

func (l *Limiter) take(key string, now time.Time, n time.Duration) (hodl.Limit, bool) {
	if l.interval == 0 {
		return hodl.Limit{}, true
	}
	// The hash stands for the key: nobody knows the seed, and of a million keys two
	// share a bucket once in 37 million servers.
	k := maphash.String(l.seed, key)
	ahead, ok := l.shards[k%shards].take(k, now.UnixNano(), n*l.interval, l.full-l.interval)
	return l.limit(ahead), ok
}

// take moves a key ahead by step, unless it is further ahead than most, and returns
// how far ahead it is.
func (s *shard) take(key uint64, now int64, step, most time.Duration) (time.Duration, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ahead := time.Duration(max(s.next[key]-now, 0))
	if ahead > most || step == 0 {
		return ahead, ahead <= most
	}
	if len(s.next) >= mostKeys {
		s.forget(now)
	}
	ahead += step
	s.next[key] = now + int64(ahead)
	return ahead, true
}

// limit is where a key stands that is so far ahead of its rate.
func (l *Limiter) limit(ahead time.Duration) hodl.Limit {
	out := hodl.Limit{Name: l.name, Quota: l.burst, Window: l.full, Left: l.burst}
	if ahead > 0 {
		out.Left = max(int64((l.full-ahead)/l.interval), 0)
		out.Wait = ahead - l.full + l.interval*time.Duration(out.Left+1)
	}
	return out
}

// forget drops the keys that are as if never seen. If all are still ahead, it
// drops them too: memory stays bounded and the worst is a fresh burst.
func (s *shard) forget(now int64) {
	for key, due := range s.next {
		if due <= now {
			delete(s.next, key)
		}
	}
	if len(s.next) >= mostKeys {
		clear(s.next)
	}
}
