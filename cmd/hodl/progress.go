package main

import (
	"fmt"
	"time"
)

// progress returns what shows, on a terminal, how far a long command is, on one line
// of standard error; finish clears it. Elsewhere both do nothing.
func (e *env) progress() (show func(stage string, done, total int64), finish func()) {
	columns, terminal := width(e.err)
	if !terminal || e.json {
		return func(string, int64, int64) {}, func() {}
	}
	const often = 100 * time.Millisecond
	var last time.Time
	shown := false
	show = func(stage string, done, total int64) {
		if now := e.now(); now.Sub(last) >= often {
			last, shown = now, true
			e.say("\r\x1b[K%s", cut(pace(stage, done, total), max(columns-1, 1)))
		}
	}
	finish = func() {
		if shown {
			shown = false
			e.say("\r\x1b[K")
		}
	}
	return show, finish
}

func pace(stage string, done, total int64) string {
	switch {
	case total > 0:
		return fmt.Sprintf("%s: %d of %d (%d%%)", stage, done, total, min(100, 100*done/total))
	case done > 0:
		return fmt.Sprintf("%s: %d", stage, done)
	}
	return stage + " …"
}
