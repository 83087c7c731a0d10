package storetest

import (
	"testing"

	"hodl"
)

// transitions is the table of docs/spec.md §3; what is not in it is refused.
// "same" leaves the state.
var transitions = []struct {
	op    hodl.Operation
	from  []hodl.State
	to    hodl.State
	event hodl.EventType
}{
	{hodl.OpCapture, living, hodl.Held, hodl.SessionHeld},
	{hodl.OpUpdate, living, hodl.Open, ""},
	{hodl.OpHold, []hodl.State{hodl.Open}, hodl.Held, hodl.SessionHeld},
	{hodl.OpShare, living, "same", hodl.SessionShared},
	{hodl.OpHandOff, living, hodl.HandedOff, hodl.SessionHandedOff},
	{hodl.OpWrite, living, "same", ""},
	{hodl.OpResume, living, hodl.Resumed, hodl.SessionResumed},
	{hodl.OpArchive, living, hodl.Archived, ""},
	{hodl.OpRestore, []hodl.State{hodl.Archived}, hodl.Held, hodl.SessionHeld},
}

// inEffect is where an operation changes nothing and is no fault.
var inEffect = map[hodl.Operation]hodl.State{hodl.OpHold: hodl.Held, hodl.OpResume: hodl.Resumed, hodl.OpArchive: hodl.Archived, hodl.OpRestore: hodl.Held}

var living = []hodl.State{hodl.Open, hodl.Held, hodl.Resumed, hodl.HandedOff}

func testTransitions(t *testing.T, w *world) {
	for _, row := range transitions {
		for _, from := range append(living, hodl.Archived) {
			if from == inEffect[row.op] {
				w.tryTransition(t, row.op, from, "same", "", true)
				continue
			}
			w.tryTransition(t, row.op, from, row.to, row.event, contained(row.from, from))
		}
	}
}

func contained(list []hodl.State, s hodl.State) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func (w *world) tryTransition(t *testing.T, op hodl.Operation, from, to hodl.State, event hodl.EventType, allowed bool) {
	t.Helper()
	name := string(from) + " → " + string(op)
	s, k := w.sessionIn(t, from)
	before := w.eventsOf(t, s.ID)
	err := w.do(t, s, k, op)
	after := w.mustSession(t, s.ID)
	events := w.eventsOf(t, s.ID)[len(before):]
	if !allowed {
		if err == nil {
			t.Errorf("%s: allowed", name)
		}
		equal(t, name+": session after a refusal", *after, *s)
		equal(t, name+": events of a refusal", len(events), 0)
		return
	}
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if to == "same" {
		to = from
	}
	equal(t, name+": state", after.State, to)
	var want []hodl.EventType
	if event != "" {
		want = append(want, event)
	}
	equal(t, name+": events", events, want)
}

// sessionIn makes a session and brings it into a state, by way of what a user
// does. The token is fresh but for an archived session, which ended it.
func (w *world) sessionIn(t *testing.T, state hodl.State) (*hodl.Session, hodl.Token) {
	t.Helper()
	s := w.session(t, "word")
	k := w.mint(t, s.ID, 5)
	switch state {
	case hodl.Open:
		must(t, w.do(t, s, k, hodl.OpUpdate))
	case hodl.Resumed:
		must(t, w.do(t, s, k, hodl.OpResume))
	case hodl.HandedOff:
		must(t, w.do(t, s, w.mint(t, s.ID, 1), hodl.OpHandOff))
	case hodl.Archived:
		must(t, w.do(t, s, k, hodl.OpArchive))
	}
	s = w.mustSession(t, s.ID)
	equal(t, "prepared state", s.State, state)
	return s, k
}

func (w *world) do(t *testing.T, s *hodl.Session, k hodl.Token, op hodl.Operation) error {
	t.Helper()
	switch op {
	case hodl.OpCapture, hodl.OpUpdate, hodl.OpWrite:
		return w.PutSession(t.Context(), w.version(t, s.ID, w.NewID("word"), s.Fingerprint, op))
	case hodl.OpShare:
		k := w.token(s.ID, 5)
		return w.Mint(t.Context(), k, w.record(hodl.KindMint, s.ID, k.ID), detail)
	case hodl.OpHandOff:
		return w.hydrate(t.Context(), w.Store, k)
	}
	return w.MoveSession(t.Context(), w.move(s.ID, op))
}
