package hodl_test

import (
	"errors"
	"testing"

	"hodl"
)

// The table of docs/spec.md §3, every cell of it.
func TestTransitions(t *testing.T) {
	const refused = hodl.State("refused")
	type to struct {
		state hodl.State
		event hodl.EventType
	}
	states := []hodl.State{"", hodl.Open, hodl.Held, hodl.Resumed, hodl.HandedOff, hodl.Archived}
	for op, row := range map[hodl.Operation][6]to{
		hodl.OpCapture: {{hodl.Held, hodl.SessionHeld}, {hodl.Held, hodl.SessionHeld}, {hodl.Held, hodl.SessionHeld}, {hodl.Held, hodl.SessionHeld}, {hodl.Held, hodl.SessionHeld}, {refused, ""}},
		hodl.OpUpdate:  {{hodl.Open, ""}, {hodl.Open, ""}, {hodl.Open, ""}, {hodl.Open, ""}, {hodl.Open, ""}, {refused, ""}},
		hodl.OpHold:    {{refused, ""}, {hodl.Held, hodl.SessionHeld}, {hodl.Held, ""}, {refused, ""}, {refused, ""}, {refused, ""}},
		hodl.OpShare:   {{"", hodl.SessionShared}, {hodl.Open, hodl.SessionShared}, {hodl.Held, hodl.SessionShared}, {hodl.Resumed, hodl.SessionShared}, {hodl.HandedOff, hodl.SessionShared}, {refused, ""}},
		hodl.OpHandOff: {{hodl.HandedOff, hodl.SessionHandedOff}, {hodl.HandedOff, hodl.SessionHandedOff}, {hodl.HandedOff, hodl.SessionHandedOff}, {hodl.HandedOff, hodl.SessionHandedOff}, {hodl.HandedOff, hodl.SessionHandedOff}, {refused, ""}},
		hodl.OpWrite:   {{"", ""}, {hodl.Open, ""}, {hodl.Held, ""}, {hodl.Resumed, ""}, {hodl.HandedOff, ""}, {refused, ""}},
		hodl.OpResume:  {{hodl.Resumed, hodl.SessionResumed}, {hodl.Resumed, hodl.SessionResumed}, {hodl.Resumed, hodl.SessionResumed}, {hodl.Resumed, ""}, {hodl.Resumed, hodl.SessionResumed}, {refused, ""}},
		hodl.OpArchive: {{hodl.Archived, ""}, {hodl.Archived, ""}, {hodl.Archived, ""}, {hodl.Archived, ""}, {hodl.Archived, ""}, {hodl.Archived, ""}},
		hodl.OpRestore: {{refused, ""}, {refused, ""}, {hodl.Held, ""}, {refused, ""}, {refused, ""}, {hodl.Held, hodl.SessionHeld}},
	} {
		for i, from := range states {
			state, event, err := from.After(op)
			want := row[i]
			if want.state == refused {
				e, ok := errors.AsType[*hodl.Error](err)
				if !ok || e.Code != hodl.InvalidTransition || e.Hint == "" || state != from || event != "" {
					t.Errorf("%q after %s: %q, %q, %v; want a refusal", from, op, state, event, err)
				}
				continue
			}
			if err != nil || state != want.state || event != want.event {
				t.Errorf("%q after %s: %q, %q, %v; want %v", from, op, state, event, err, want)
			}
		}
	}
}
