package store

import (
	"maps"

	"github.com/go-json-experiment/json"

	"hodl"
	"hodl/internal/ledger"
)

// A hydration changes few rows, but each lies in a tree of its own, at a place of its
// own workspace: spread over many workspaces nearly every row is a page to write. So
// SQLite first promises: it adds what a batch did to one log to a journal, at the end
// of one tree, and files it in a lane in memory. Once a lane has enough, or somebody
// wants to read, its rows go to their tables together. See docs/adr/0019.

// A promise is what a batch did to one log, as the journal holds it: counts as they
// became, and all it takes to make the records anew.
type promise struct {
	From     int64             `json:"from"` // size of the log before
	Records  []promisedRecord  `json:"records"`
	Signed   []byte            `json:"signed"` // the signatures of the head after
	Tokens   []promisedToken   `json:"tokens,omitempty"`
	Usage    map[string]int64  `json:"usage,omitempty"` // by month
	Sessions []promisedSession `json:"sessions,omitempty"`
	Events   []promisedEvent   `json:"events,omitempty"`
}

type promisedRecord struct {
	Body      string `json:"body"`
	Salt      []byte `json:"salt"`
	Address   string `json:"address"`
	UserAgent string `json:"agent"`
}

type promisedToken struct {
	ID         hodl.TokenID `json:"id"`
	Hydrations int          `json:"hydrations"`
	Drawn      int          `json:"drawn"`
}

type promisedSession struct {
	ID         hodl.SessionID `json:"id"`
	State      hodl.State     `json:"state"`
	UpdatedAt  int64          `json:"updated"`
	Hour       int64          `json:"hour"`
	Hydrations int            `json:"hydrations"`
	ByKey      int64          `json:"by_key"`
}

type promisedEvent struct {
	ID      hodl.EventID   `json:"id"`
	Type    hodl.EventType `json:"type"`
	Session hodl.SessionID `json:"session"`
	Token   hodl.TokenID   `json:"token"`
	At      int64          `json:"at"`
}

// promiseOf writes down what r did to the log of p, and to nothing else.
func promiseOf(r *rows, p partition) ([]byte, error) {
	log := r.logs[p]
	x := promise{From: log.size - int64(len(r.records)), Signed: log.signed, Usage: map[string]int64{}}
	for i := range r.records {
		rec := &r.records[i]
		x.Records = append(x.Records, promisedRecord{string(rec.body), rec.salt[:], rec.detail.Address, rec.detail.UserAgent})
	}
	for k, t := range r.tokens {
		if t.dirty {
			x.Tokens = append(x.Tokens, promisedToken{k.id, t.Hydrations, t.Drawn})
		}
	}
	for k, u := range r.usage {
		if u.dirty {
			x.Usage[k.month] = u.hydrations
		}
	}
	for k, s := range r.sessions {
		if s.dirty {
			x.Sessions = append(x.Sessions, promisedSession{k.id, s.state, micros(s.updatedAt), micros(s.hour), s.hydrations, s.byKey})
		}
	}
	for _, e := range r.events {
		x.Events = append(x.Events, promisedEvent{e.ID, e.Type, e.Session, e.Token, micros(e.At)})
	}
	return json.Marshal(&x)
}

// keep is the write that files a promise found in the journal, if that has not been
// done. It refuses one that does not continue the log, or that nobody signed.
func (n *notary) keep(p partition, entry string) (*write, error) {
	var x promise
	if err := json.Unmarshal([]byte(entry), &x); err != nil {
		return nil, brokenLog(p, "its journal is damaged (%v)", err)
	}
	if len(x.Records) == 0 {
		return nil, brokenLog(p, "its journal is damaged (an entry without a record)")
	}
	return &write{
		need: func(r *rows) {
			r.wantLog(p)
			for _, t := range x.Tokens {
				r.wantToken(p, t.ID)
			}
			for month := range x.Usage {
				r.wantUsage(p, month)
			}
			for _, s := range x.Sessions {
				r.wantSession(p, s.ID)
			}
		},
		decide: func(r *rows) error {
			log := r.logs[p]
			switch end := x.From + int64(len(x.Records)); {
			case log == nil:
				return brokenLog(p, "its journal has records of it, and it is gone")
			case log.size >= end:
				return nil
			case log.size != x.From:
				return brokenLog(p, "its head counts %d records and its journal goes on from %d", log.size, x.From)
			}
			if err := x.apply(r, p, log); err != nil {
				return err
			}
			return n.checkHead(p, log)
		},
	}, nil
}

func (x *promise) apply(r *rows, p partition, log *logRow) error {
	for _, rec := range x.Records {
		row, err := rec.row(p, log.size)
		if err != nil {
			return err
		}
		r.add(log, row)
	}
	log.signed, log.signedAt = x.Signed, log.size
	for _, t := range x.Tokens {
		if row := r.tokens[tokenKey{p, t.ID}]; row != nil {
			row.Hydrations, row.Drawn, row.dirty = t.Hydrations, t.Drawn, true
		}
	}
	for month, n := range x.Usage {
		k := usageKey{p, month}
		r.usage[k] = &usageRow{hydrations: n, mark: mark{fresh: r.usage[k] == nil || r.usage[k].fresh, dirty: true}}
	}
	for _, s := range x.Sessions {
		if row := r.sessions[sessionKey{p, s.ID}]; row != nil {
			row.state, row.updatedAt, row.hour, row.hydrations, row.byKey, row.dirty = s.State, timeOf(s.UpdatedAt), timeOf(s.Hour), s.Hydrations, s.ByKey, true
		}
	}
	for _, e := range x.Events {
		r.announce(hodl.Event{ID: e.ID, Type: e.Type, Workspace: p.ws, Mode: p.mode, Session: e.Session, Token: e.Token, At: timeOf(e.At)})
	}
	return nil
}

func (x *promisedRecord) row(p partition, seq int64) (recordRow, error) {
	row := recordRow{
		partition: p, seq: seq, record: &hodl.Record{}, body: []byte(x.Body),
		detail: hodl.RecordDetail{Address: x.Address, UserAgent: x.UserAgent},
	}
	if len(x.Salt) != len(row.salt) {
		return row, brokenLog(p, "its journal is damaged (a salt of %d bytes)", len(x.Salt))
	}
	copy(row.salt[:], x.Salt)
	row.commitment = ledger.Commit(row.salt, row.body)
	if err := json.Unmarshal(row.body, row.record); err != nil {
		return row, brokenLog(p, "its journal is damaged (%v)", err)
	}
	if row.record.Seq != seq {
		return row, brokenLog(p, "its journal has record %d in the place of %d", row.record.Seq, seq)
	}
	return row, nil
}

// A lane is what was promised of one log: the rows as they have become, which go to
// their tables together, and others as they were read, which spares reading them again.
// They hold until another kind of write touches the log.
type lane struct {
	rows  *rows
	first int64 // place of the oldest promise in the journal, if any is left
}

// size is how many rows it remembers.
func (l *lane) size() int {
	return len(l.rows.logs) + len(l.rows.tokens) + len(l.rows.sessions) + len(l.rows.usage)
}

// empty leaves of what has been saved what was read.
func (l *lane) empty() {
	r := l.rows
	clean(r.tokens)
	clean(r.usage)
	clean(r.sessions)
	l.rows = &rows{logs: r.logs, usage: r.usage, tokens: r.tokens, sessions: r.sessions, tiles: map[tileKey][]byte{}}
}

// records is how many wait in it. A log without a lane has none.
func (l *lane) records() int {
	if l == nil {
		return 0
	}
	return len(l.rows.records)
}

// resume hands the rows that r wants and l has to r, to be decided on.
func (l *lane) resume(r *rows, p partition) {
	if _, wanted := r.logs[p]; wanted {
		r.logs[p] = l.rows.logs[p].resumed()
	}
	resume(l.rows.tokens, r.tokens)
	resume(l.rows.usage, r.usage)
	resume(l.rows.sessions, r.sessions)
}

// resumed is a head to grow on: the one it comes from stays as a commit left it.
func (l *logRow) resumed() *logRow {
	x := *l
	x.tree, x.before, x.added, x.dirty = l.tree.Clone(), l.tree, nil, false
	return &x
}

// take adds what a batch read and did after what is there.
func (l *lane) take(r *rows) {
	maps.Copy(l.rows.logs, r.logs)
	take(l.rows.tokens, r.tokens)
	take(l.rows.usage, r.usage)
	take(l.rows.sessions, r.sessions)
	for k, hashes := range r.tiles {
		l.rows.tiles[k] = append(l.rows.tiles[k], hashes...)
	}
	l.rows.leaves = append(l.rows.leaves, r.leaves...)
	l.rows.records = append(l.rows.records, r.records...)
	l.rows.events = append(l.rows.events, r.events...)
}

// A markedRow is one of those with a [mark].
type markedRow[R any] interface {
	*R
	marked() *mark
}

// clean has nothing to do with rows any more.
func clean[K comparable, R any, P markedRow[R]](saved map[K]P) {
	for _, x := range saved {
		*x.marked() = mark{}
	}
}

// resume copies what is wanted and there. A fresh row stays one until it is saved.
func resume[K comparable, R any, P markedRow[R]](there, wanted map[K]P) {
	for k, x := range there {
		if _, ok := wanted[k]; ok {
			again := *x
			P(&again).marked().dirty = false
			wanted[k] = &again
		}
	}
}

// take adds rows, but for those that were only read and are there.
func take[K comparable, R any, P markedRow[R]](there, more map[K]P) {
	for k, x := range more {
		if x.marked().dirty || there[k] == nil {
			there[k] = x
		}
	}
}

// split moves the rows that belong elsewhere.
func split[K comparable, R any](from map[K]*R, to func(K) *rows, of func(*rows) map[K]*R) {
	for k, x := range from {
		if r := to(k); r != nil && x != nil {
			of(r)[k] = x
			delete(from, k)
		}
	}
}

// part takes what the batch did to some logs out of r, each with the rows that were
// read for it.
func (r *rows) part(of map[partition]int) map[partition]*rows {
	out := map[partition]*rows{}
	for p, l := range r.logs {
		if of[p] > 0 && l != nil && l.dirty {
			out[p] = &rows{
				logs: map[partition]*logRow{p: l}, usage: map[usageKey]*usageRow{}, tokens: map[tokenKey]*tokenRow{},
				sessions: map[sessionKey]*sessionRow{}, tiles: map[tileKey][]byte{},
			}
			delete(r.logs, p)
		}
	}
	split(r.usage, func(k usageKey) *rows { return out[k.partition] }, func(r *rows) map[usageKey]*usageRow { return r.usage })
	split(r.tokens, func(k tokenKey) *rows { return out[k.partition] }, func(r *rows) map[tokenKey]*tokenRow { return r.tokens })
	split(r.sessions, func(k sessionKey) *rows { return out[k.partition] }, func(r *rows) map[sessionKey]*sessionRow { return r.sessions })
	for k, hashes := range r.tiles {
		if to := out[k.partition]; to != nil {
			to.tiles[k] = hashes
			delete(r.tiles, k)
		}
	}
	r.records = moved(r.records, func(x *recordRow) bool {
		to := out[x.partition]
		if to != nil {
			to.records = append(to.records, *x)
		}
		return to != nil
	})
	r.leaves = moved(r.leaves, func(k *tileKey) bool {
		to := out[k.partition]
		if to != nil {
			to.leaves = append(to.leaves, *k)
		}
		return to != nil
	})
	r.events = moved(r.events, func(e *hodl.Event) bool {
		to := out[partition{e.Workspace, e.Mode}]
		if to != nil {
			to.events = append(to.events, *e)
		}
		return to != nil
	})
	return out
}

// moved returns what has not been moved elsewhere.
func moved[T any](list []T, move func(*T) bool) []T {
	rest := list[:0]
	for i := range list {
		if !move(&list[i]) {
			rest = append(rest, list[i])
		}
	}
	return rest
}
