package store

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"hodl"
)

// When promises are kept. A lane that has laneFull records is worth a visit to the
// tables, and so is a batch with laneShare of one log, which is not promised at all.
// More than promisedMost records in memory, or a promise that promisedAge others came
// after, is too much to wait for. Lanes with nothing to save are forgotten when they
// and the others remember more than rememberedMost rows.
const (
	laneFull       = 32
	laneShare      = 8
	promisedMost   = 4096
	promisedAge    = 8192
	rememberedMost = 16384
)

// journal is what SQLite has promised and not kept. It belongs to the goroutine that
// writes, but for owed.
type journal struct {
	lanes   map[partition]*lane
	version int64 // of the database, as other processes change it; what is in memory holds for this one
	next    int64 // place of the next promise
	first   int64 // promises before it are gone from the table

	remembered int // rows of all lanes, before the last batch

	mu   sync.RWMutex
	owed map[partition]bool // the logs with promises to keep
}

func (e *sqlite) owes(scope hodl.WorkspaceID) bool {
	e.journal.mu.RLock()
	defer e.journal.mu.RUnlock()
	if len(e.journal.owed) == 0 || scope == "" {
		return len(e.journal.owed) > 0
	}
	for ws := range strings.SplitSeq(string(scope), ",") {
		ws := hodl.WorkspaceID(ws)
		if e.journal.owed[partition{ws, hodl.Live}] || e.journal.owed[partition{ws, hodl.Sandbox}] {
			return true
		}
	}
	return false
}

func (e *sqlite) owing() []hodl.WorkspaceID {
	e.journal.mu.RLock()
	defer e.journal.mu.RUnlock()
	list := make([]hodl.WorkspaceID, 0, len(e.journal.owed))
	for p := range e.journal.owed {
		list = append(list, p.ws)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// settle is for the writer's goroutine.
func (e *sqlite) settle(ctx context.Context, scope hodl.WorkspaceID) error {
	return e.transact(ctx, nil, within(scope))
}

// within tells the logs of a scope.
func within(scope hodl.WorkspaceID) func(partition) bool {
	list := strings.Split(string(scope), ",")
	return func(p partition) bool { return scope == "" || slices.Contains(list, string(p.ws)) }
}

// unknown is no version that a database has.
const unknown = -1

// A cut is what a transaction does with its batch and with the lanes.
type cut struct {
	batch    []*write            // what others promised comes first
	found    int                 // so many of those
	rows     *rows               // what the batch needs
	light    map[partition]int   // how many writes of the batch only append to a log
	read     map[partition]bool  // logs that others read in the tables, or change there
	due      map[partition]bool  // logs whose lanes go to the tables
	saved    []*rows             // heads to save when they are signed
	promised map[partition]*rows // what only goes to the journal
	version  int64
	oldest   int64 // place of the oldest promise that is left
	fresh    bool  // the journal is another process's: nothing is left of it
}

// follow looks whether another process has written since, or a transaction has failed.
// If so, what is in memory may be kept or overtaken, and the journal says what is left.
func (e *sqlite) follow(t *sqliteTx, c *cut) error {
	j := &e.journal
	var err error
	if c.version, err = databaseVersion(t.ctx, t); err != nil || c.version == j.version {
		return err
	}
	j.forget()
	c.fresh = true
	return t.each(journalRows, nil, func(row scanner) error {
		var p partition
		var place int64
		var entry string
		if err := row.Scan(&place, &p.ws, &p.mode, &entry); err != nil {
			return err
		}
		w, err := e.notary.keep(p, entry)
		c.batch = append(c.batch, w)
		j.next = max(j.next, place+1)
		return err
	})
}

// databaseVersion is another one, in a transaction, once another process has written.
func databaseVersion(ctx context.Context, q querier) (version int64, err error) {
	err = q.QueryRowContext(ctx, `pragma data_version`).Scan(&version)
	return version, err
}

// forget leaves it to the journal to say what was promised.
func (j *journal) forget() { j.lanes, j.version = map[partition]*lane{}, unknown }

// drop forgets what was read of workspaces that are about to change. Nothing is
// promised to them.
func (j *journal) drop(scope hodl.WorkspaceID) {
	in := within(scope)
	maps.DeleteFunc(j.lanes, func(p partition, _ *lane) bool { return in(p) })
}

// plan tells apart the writes of the batch and chooses the lanes to empty; also names
// further ones.
func (j *journal) plan(c *cut, batch []*write, also func(partition) bool) {
	c.found = len(c.batch)
	c.batch = append(c.batch, batch...)
	c.rows, c.light, c.due = newRows(), map[partition]int{}, map[partition]bool{}
	for _, w := range c.batch {
		if w.lane == nil {
			c.rows.ask(w)
		}
	}
	c.read = c.rows.partitions()
	for _, w := range c.batch {
		if w.lane != nil {
			c.rows.ask(w)
			c.light[*w.lane]++
		}
	}
	for p := range c.read {
		delete(c.light, p) // it waits for nothing then
	}
	j.choose(c, also)
}

// choose picks lanes: those that are asked for, the full, the old, and so many others
// that not too much is left. It takes about twice as much as comes in, so that no batch
// waits for all.
func (j *journal) choose(c *cut, also func(partition) bool) {
	most := 2 * (laneFull + len(c.batch))
	total := 0
	for p, n := range c.light {
		all := n + j.lanes[p].records()
		if n < laneShare && (all < laneFull || most <= 0) {
			total += n
			continue
		}
		c.due[p] = true
		most -= all
	}
	var rest []partition
	j.remembered = 0
	for p, l := range j.lanes {
		j.remembered += l.size()
		switch {
		case c.due[p] || c.read[p] || l.records() == 0:
		case also(p) || l.first+promisedAge < j.next:
			c.due[p] = true
		default:
			total += l.records()
			rest = append(rest, p)
		}
	}
	if total <= promisedMost {
		return
	}
	slices.SortFunc(rest, func(a, b partition) int { return cmp.Compare(j.lanes[a].first, j.lanes[b].first) })
	for _, p := range rest {
		if total <= promisedMost {
			return
		}
		c.due[p] = true
		total -= j.lanes[p].records()
	}
}

// transact commits a batch, and what of the lanes is due or asked for.
//
// It begins and ends its transaction by statements: those of database/sql would
// prepare every other statement anew each time.
func (e *sqlite) transact(ctx context.Context, batch []*write, also func(partition) bool) error {
	t := &sqliteTx{ctx, e.stmts}
	e.log.between()
	if err := t.exec(sqliteBegin); err != nil {
		return lost(err)
	}
	committed := false
	defer func() {
		if !committed {
			e.journal.forget()
			_ = t.exec(sqliteRollback) // it fails when SQLite has done so itself
		}
	}()
	c := &cut{}
	err := e.follow(t, c)
	if err == nil {
		e.journal.plan(c, batch, also)
		err = e.decide(t, c)
	}
	if err == nil {
		err = t.saveJournal(&e.journal, c)
	}
	if err == nil {
		err = t.exec(sqliteCommit)
	}
	if committed = err == nil; committed {
		e.journal.committed(c)
	}
	return lost(err)
}

// decide saves all but what is promised. The heads are signed while the rest is saved.
func (e *sqlite) decide(t *sqliteTx, c *cut) error {
	for p := range c.read {
		if l := e.journal.lanes[p]; l.records() > 0 {
			if err := t.save(l.rows); err != nil {
				return err
			}
		}
	}
	for p := range c.light {
		if l := e.journal.lanes[p]; l != nil {
			l.resume(c.rows, p)
		}
	}
	if err := t.load(c.rows); err != nil {
		return err
	}
	if err := e.notary.check(c.rows); err != nil {
		return err
	}
	decideAll(c.rows, c.batch)
	for _, w := range c.batch[:c.found] {
		if w.err != nil {
			return w.err
		}
	}
	signed := e.notary.sign(c.rows)
	e.journal.sort(c)
	err := t.saveAll(c.saved)
	signed()
	for _, r := range c.saved {
		if err == nil {
			err = t.saveLogs(r)
		}
	}
	return err
}

// sort takes what the batch did apart: what is promised, and what goes to the tables,
// with the lanes that are due.
func (j *journal) sort(c *cut) {
	c.promised = c.rows.part(c.light)
	for p := range c.due {
		l := j.lanes[p]
		switch did := c.promised[p]; {
		case did == nil: // all were refused, or there were none
		case l == nil:
			l = &lane{rows: did}
			j.lanes[p] = l
		default:
			l.take(did)
		}
		if l.records() > 0 {
			c.saved = append(c.saved, l.rows)
		}
		delete(c.promised, p)
	}
	c.saved = append(c.saved, c.rows)
}

func (t *sqliteTx) saveAll(list []*rows) error {
	for _, r := range list {
		if err := t.saveRows(r); err != nil {
			return err
		}
	}
	return nil
}

// saveJournal adds what is promised and takes away what is kept.
func (t *sqliteTx) saveJournal(j *journal, c *cut) error {
	place := j.next
	c.oldest = place
	for p, l := range j.lanes {
		if !c.due[p] && !c.read[p] && l.records() > 0 {
			c.oldest = min(c.oldest, l.first)
		}
	}
	if c.fresh || c.oldest >= j.first+laneFull || c.oldest == place && place > j.first {
		if err := t.exec(sqliteKept, c.oldest); err != nil {
			return wrap(err, "clear the journal")
		}
	} else {
		c.oldest = j.first
	}
	for p, r := range c.promised {
		entry, err := promiseOf(r, p)
		if err == nil {
			err = t.exec(sqlitePromise, place, string(p.ws), string(p.mode), string(entry))
		}
		if err != nil {
			return wrap(err, "save in the journal")
		}
		place++
	}
	return nil
}

// committed brings what is in memory to where the database is.
func (j *journal) committed(c *cut) {
	j.version, j.first = c.version, c.oldest
	for p := range c.due {
		if l := j.lanes[p]; l != nil {
			l.empty()
		}
	}
	for p := range c.read {
		delete(j.lanes, p)
	}
	for p, r := range c.promised {
		l := j.lanes[p]
		switch {
		case l == nil:
			j.lanes[p] = &lane{r, j.next}
		case l.records() == 0:
			l.first = j.next
			fallthrough
		default:
			l.take(r)
		}
	}
	j.next += int64(len(c.promised))
	j.tell(c)
	if j.remembered > rememberedMost {
		maps.DeleteFunc(j.lanes, func(_ partition, l *lane) bool { return l.records() == 0 })
	}
}

// tell has readers know what is owed now.
func (j *journal) tell(c *cut) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if c.fresh {
		clear(j.owed)
	}
	for p := range c.due {
		delete(j.owed, p)
	}
	for p := range c.read {
		delete(j.owed, p)
	}
	for p := range c.promised {
		j.owed[p] = true
	}
}

const (
	journalRows   = `select place, workspace, mode, entry from journal order by place`
	sqlitePromise = `insert into journal (place, workspace, mode, entry) values ($1, $2, $3, $4)`
	sqliteKept    = `delete from journal where place < $1` // every workspace's: what is before it is in the tables
)
