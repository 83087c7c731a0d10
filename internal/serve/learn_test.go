package serve

import (
	"testing"

	"hodl"
)

// What is captured is looked through one at a time; what comes meanwhile, or while the
// writer is busy, is left.
func TestLearnerDropsWhatItHasNoTimeFor(t *testing.T) {
	busy, begun, end := true, make(chan hodl.SessionID), make(chan struct{})
	l := newLearner(func(_ hodl.WorkspaceID, id hodl.SessionID, _ *hodl.Content) {
		begun <- id
		<-end
	}, func() bool { return busy })
	l.captured("wks_a", "ses_busy", nil)
	busy = false
	l.captured("wks_a", "ses_first", nil)
	if id := <-begun; id != "ses_first" {
		t.Errorf("%s is looked through", id)
	}
	l.captured("wks_a", "ses_meanwhile", nil)
	close(end)
	select {
	case id := <-begun:
		t.Errorf("%s is looked through as well", id)
	default:
	}
}
