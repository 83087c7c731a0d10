package capture

import (
	"reflect"
	"slices"

	"hodl"
)

// mergeNotes returns the captured notes followed by those agents wrote. A captured
// note whose text was there before keeps its number and time, so that capturing
// the same content again changes nothing.
func mergeNotes(drafts []hodl.NoteDraft, old *hodl.Content, last *int64, by hodl.Provenance) []hodl.Note {
	out := make([]hodl.Note, 0, len(drafts))
	kept := map[int64]bool{}
	for _, d := range drafts {
		note := hodl.Note{Body: d.Body, Author: by.Author, Trust: by.Trust, CreatedAt: by.CreatedAt}
		i := slices.IndexFunc(old.Notes, func(n hodl.Note) bool { return n.Trust != hodl.TrustAgent && n.Body == d.Body && !kept[n.ID] })
		if i >= 0 {
			note = old.Notes[i]
		} else {
			*last++
			note.ID = *last
		}
		kept[note.ID] = true
		out = append(out, note)
	}
	for _, n := range old.Notes {
		if n.Trust == hodl.TrustAgent {
			out = append(out, n)
		}
	}
	return out
}

// mergeThread sets the thread of next to the captured nodes followed by those
// agents wrote, and says who wrote each. A node the person sent back unchanged
// stays the agent's or the page's; one the person rewrote is the person's.
func mergeThread(next *hodl.Content, captured []hodl.Node, old *hodl.Content, by hodl.Provenance) {
	before := make(map[string]*hodl.Node, len(old.Thread))
	for i := range old.Thread {
		before[old.Thread[i].ID] = &old.Thread[i]
	}
	next.Provenance = make(map[string]hodl.Provenance, len(captured))
	next.Thread = slices.Clone(captured)
	for i := range captured {
		n := &captured[i]
		from := by
		if was, known := before[n.ID]; known {
			earlier := old.Provenance[n.ID]
			if earlier.Trust == hodl.TrustUser || reflect.DeepEqual(was, n) {
				from = earlier
			}
		}
		next.Provenance[n.ID] = from
	}
	survivors := next.Thread
	for _, n := range old.Thread {
		if _, sent := next.Provenance[n.ID]; !sent && old.Provenance[n.ID].Trust == hodl.TrustAgent {
			survivors = append(survivors, n)
			next.Provenance[n.ID] = old.Provenance[n.ID]
		}
	}
	// What an agent built on may be gone now: its references go with it.
	next.Thread, _ = hodl.MendThread(survivors)
}
