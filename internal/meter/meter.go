// Package meter decides how fast callers may go. It counts in memory; the monthly
// quota, which must be exact on every server, is counted by the store in the
// transaction of the hydration.
package meter

import (
	"hash/maphash"
	"sync"
	"time"
)

const shards = 64

// A Limiter lets each key do so much at once and so much a second, by the generic
// cell rate algorithm: one time per key, no timers. It is safe for concurrent use.
type Limiter struct {
	interval time.Duration // between two at the steady rate
	burst    time.Duration // how far ahead of the rate a key may be
	seed     maphash.Seed
	shards   [shards]shard
}

type shard struct {
	mu   sync.Mutex
	next map[uint64]int64 // hash of a key -> when its next one is due, Unix nanoseconds
}

// most is how many keys a shard remembers before it drops those that are no longer
// ahead of their rate.
const most = 4096

// NewLimiter lets each key do burst at once and perSecond after that. A rate of 0
// is no bound.
func NewLimiter(perSecond float64, burst int) *Limiter {
	l := &Limiter{seed: maphash.MakeSeed()}
	if perSecond > 0 {
		l.interval = time.Duration(float64(time.Second) / perSecond)
		l.burst = l.interval * time.Duration(max(burst-1, 0))
	}
	for i := range l.shards {
		l.shards[i].next = map[uint64]int64{}
	}
	return l
}

// Take counts one for key at now. If that is too fast it counts nothing and
// returns how long to wait.
func (l *Limiter) Take(key string, now time.Time) (wait time.Duration, ok bool) {
	return l.take(key, now, true)
}

// Peek tells what Take would, and counts nothing.
func (l *Limiter) Peek(key string, now time.Time) (wait time.Duration, ok bool) {
	return l.take(key, now, false)
}

func (l *Limiter) take(key string, now time.Time, count bool) (time.Duration, bool) {
	if l.interval == 0 {
		return 0, true
	}
	t := now.UnixNano()
	// The hash stands for the key: nobody knows the seed, and of a million keys two
	// share a bucket once in 37 million servers.
	k := maphash.String(l.seed, key)
	s := &l.shards[k%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	due := max(s.next[k], t)
	if ahead := time.Duration(due - t); ahead > l.burst {
		return ahead - l.burst, false
	}
	if count {
		if len(s.next) >= most {
			s.forget(t)
		}
		s.next[k] = due + int64(l.interval)
	}
	return 0, true
}

// forget drops the keys that are as if never seen. If all are still ahead, it
// drops them too: memory stays bounded and the worst is a fresh burst.
func (s *shard) forget(now int64) {
	for key, due := range s.next {
		if due <= now {
			delete(s.next, key)
		}
	}
	if len(s.next) >= most {
		clear(s.next)
	}
}
