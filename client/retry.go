package client

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"time"

	"hodl"
)

// Retry makes a call that came to nothing be sent again, up to n more times: one
// without an answer, and one the server could not take at the moment. It waits in
// between, for as long as the server says or a little longer each time.
//
// Each write carries an Idempotency-Key of its own, the same every time, so it takes
// effect once, also when only the answer was lost. A hydration is sent once, for each
// uses up one of its token, and so is a file, which cannot be read twice.
func Retry(n int) Option { return func(c *caller) { c.retries = n } }

const (
	firstPause  = 100 * time.Millisecond
	longestWait = 30 * time.Second // a server that asks for more is down, not busy
)

// send returns the headers and the body of an answer that is no refusal.
func (c *caller) send(ctx context.Context, k call) (http.Header, []byte, error) {
	retries := c.retries
	if k.metered || k.file != nil {
		retries = 0
	}
	if retries > 0 && k.method != http.MethodGet {
		k.key = rand.Text()
	}
	for pause := firstPause; ; pause *= 2 {
		header, body, err := c.sendOnce(ctx, k)
		wait, passing := passes(err, pause)
		if retries == 0 || !passing || !sleep(ctx, wait) {
			return header, body, err
		}
		retries--
	}
}

// passes reports whether a fault may be gone when the call is sent again, and after
// how long.
func passes(err error, pause time.Duration) (time.Duration, bool) {
	if err == nil {
		return 0, false
	}
	refusal, answered := errors.AsType[*hodl.Error](err)
	if !answered {
		return pause, true // no answer; when the caller's time is over, sleep says so
	}
	wait := max(refusal.RetryAfter, pause)
	switch refusal.Code {
	case hodl.Unavailable, hodl.RateLimited:
		return wait, wait <= longestWait
	case hodl.Conflict: // with a time to wait: the first of two equal writes is under way
		return wait, refusal.RetryAfter > 0
	}
	return 0, false
}

// sleep reports whether the whole time passed.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
