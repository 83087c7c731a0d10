package crashtest

import (
	"fmt"
	"sync"

	"hodl"
	"hodl/internal/ledger"
)

// A tally counts requests of one kind. An answer that never came leaves it open
// whether the server did what was asked.
type tally struct{ sent, acked, refused int }

// allows reports whether n of a thing may be there.
func (c tally) allows(n int) bool { return c.acked <= n && n <= c.sent-c.refused }

func (c tally) String() string {
	return fmt.Sprintf("from %d to %d", c.acked, c.sent-c.refused)
}

// A journal is what the clients sent and what they were told: the server must never
// say otherwise, whatever happens to it.
type journal struct {
	mu     sync.Mutex
	faults []string // answers that were wrong when they came

	marks      map[string]bool // every title ever sent, unique; whether it was acknowledged
	created    map[hodl.Mode]*tally
	hodls      map[hodl.Mode]*tally
	mints      map[hodl.Mode]*tally
	titles     map[hodl.HodlID]string // of acknowledged hodls
	sessions   map[hodl.SessionID]*sessionClaim
	tokens     map[hodl.TokenID]*tokenClaim
	hydrations map[hodl.RecordID]hydrationClaim
	roots      map[hodl.Mode]map[int64]ledger.Hash // of each log, by size, as last seen
}

// signed notes the root of a log, which no later look may contradict.
func (j *journal) signed(m hodl.Mode, size int64, root ledger.Hash) {
	if j.roots[m] == nil {
		j.roots[m] = map[int64]ledger.Hash{}
	}
	j.roots[m][size] = root
}

// A sessionClaim is what is known of a session that one client alone writes to.
type sessionClaim struct {
	mode    hodl.Mode
	made    []string // fingerprints acknowledged, oldest first
	writes  tally    // captures and notes
	title   string   // of the last acknowledged capture
	since   []string // titles sent after it and not answered
	unclear bool     // whether the last write was not answered
	notes   map[string]bool
	written map[string]bool // fingerprints of acknowledged notes
}

type tokenClaim struct {
	mode       hodl.Mode
	session    hodl.SessionID
	most       int
	hydrations tally
	revocation tally
}

type hydrationClaim struct {
	token       hodl.TokenID
	fingerprint string
}

func newJournal() *journal {
	j := &journal{
		marks:   map[string]bool{},
		created: map[hodl.Mode]*tally{}, hodls: map[hodl.Mode]*tally{}, mints: map[hodl.Mode]*tally{},
		titles: map[hodl.HodlID]string{}, sessions: map[hodl.SessionID]*sessionClaim{},
		tokens: map[hodl.TokenID]*tokenClaim{}, hydrations: map[hodl.RecordID]hydrationClaim{}, roots: map[hodl.Mode]map[int64]ledger.Hash{},
	}
	for _, m := range []hodl.Mode{hodl.Live, hodl.Sandbox} {
		j.created[m], j.hodls[m], j.mints[m] = &tally{}, &tally{}, &tally{}
	}
	return j
}

// fault notes an answer that no working server gives.
func (j *journal) fault(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.addFault(format, args...)
}

func (j *journal) addFault(format string, args ...any) {
	const enough = 20
	if len(j.faults) < enough {
		j.faults = append(j.faults, fmt.Sprintf(format, args...))
	}
}

// note runs change with the journal to itself.
func (j *journal) note(change func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	change()
}

// count closes one request of c.
func (c *tally) count(v verdict) {
	switch v {
	case acknowledged:
		c.acked++
	case refused:
		c.refused++
	}
}

// session returns the claim of a session, a new one if there is none.
func (j *journal) session(id hodl.SessionID, m hodl.Mode) *sessionClaim {
	c := j.sessions[id]
	if c == nil {
		c = &sessionClaim{mode: m, notes: map[string]bool{}, written: map[string]bool{}}
		j.sessions[id] = c
	}
	return c
}

// captured closes a capture with this title.
func (c *sessionClaim) captured(v verdict, title, fingerprint string) {
	c.writes.count(v)
	switch v {
	case acknowledged:
		c.made = append(c.made, fingerprint)
		c.title, c.since, c.unclear = title, nil, false
	case unanswered:
		c.since, c.unclear = append(c.since, title), true
	}
}

// noted closes a note with this text.
func (c *sessionClaim) noted(v verdict, text, fingerprint string) {
	c.writes.count(v)
	switch v {
	case acknowledged:
		c.made = append(c.made, fingerprint)
		c.notes[text], c.written[fingerprint], c.unclear = true, true, false
	case unanswered:
		c.notes[text], c.unclear = false, true
	}
}

// last is the newest fingerprint that was acknowledged.
func (c *sessionClaim) last() string {
	if len(c.made) == 0 {
		return ""
	}
	return c.made[len(c.made)-1]
}

// hydrated notes an acknowledged hydration. One id for two answers is a fault.
func (j *journal) hydrated(id hodl.RecordID, h hydrationClaim) {
	if _, twice := j.hydrations[id]; twice || id == "" {
		j.addFault("the hydration id %q was given out before", id)
	}
	j.hydrations[id] = h
}
