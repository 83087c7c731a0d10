package serve

import (
	"time"

	"hodl"
)

// A learner has captured versions looked through while nothing else wants the
// processor, so that the first hydration need not. One at a time, and a tenth of the
// time at most; what is captured meanwhile is looked through when it is hydrated.
type learner struct {
	learn func(hodl.WorkspaceID, hodl.SessionID, *hodl.Content)
	busy  func() bool
	turn  chan struct{}
}

func newLearner(learn func(hodl.WorkspaceID, hodl.SessionID, *hodl.Content), busy func() bool) *learner {
	return &learner{learn, busy, make(chan struct{}, 1)}
}

func (l *learner) captured(ws hodl.WorkspaceID, id hodl.SessionID, c *hodl.Content) {
	if l.busy() {
		return
	}
	select {
	case l.turn <- struct{}{}:
		go l.take(ws, id, c)
	default:
	}
}

func (l *learner) take(ws hodl.WorkspaceID, id hodl.SessionID, c *hodl.Content) {
	const rest = 9
	start := time.Now()
	l.learn(ws, id, c)
	time.AfterFunc(rest*time.Since(start), func() { <-l.turn })
}
