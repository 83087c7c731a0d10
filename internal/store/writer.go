package store

import (
	"context"
	"database/sql"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"hodl"
)

// An engine is what differs between SQLite and PostgreSQL.
type engine interface {
	name() string
	// commit runs a batch in one transaction: it locks and loads the rows the
	// writes need, lets each decide, saves and commits. When it returns nil, each
	// write's err is its own verdict. When it returns an error nothing was saved,
	// or, with an error that is [hodl.Unavailable], it is not known.
	commit(ctx context.Context, batch []*write) error
	view(ctx context.Context, ws hodl.WorkspaceID, read func(querier) error) error
	// outside reads what is known before any workspace is.
	outside(ctx context.Context, read func(querier) error) error
	// across reads past the borders of workspaces, as the role that owns the tables.
	across(ctx context.Context, read func(querier) error) error
	change(ctx context.Context, w *writer, ws hodl.WorkspaceID, write func(*sql.Tx) error) error
	// owes reports whether something that was promised to a workspace of scope, which is
	// several between commas or "" for all, is not in its tables yet. owing lists those,
	// and settle sees to it.
	owes(scope hodl.WorkspaceID) bool
	owing() []hodl.WorkspaceID
	settle(ctx context.Context, scope hodl.WorkspaceID) error
	hodlEngine
	close() error
}

// A write is one command to the writer. need names the rows it wants; decide sees
// them locked and either changes them or refuses, changing nothing. Both may run
// again if the batch fails for another write's sake, and may run after the caller
// has gone: what they tell the caller is read only when do returned nil.
type write struct {
	need   func(*rows)
	decide func(*rows) error
	lane   *partition                      // of one that appends to this log, counts for it, and does nothing else
	seals  []dataKeyRef                    // what the sealed values it saves were sealed with
	alone  func(ctx context.Context) error // instead of both: a transaction of its own
	ctx    context.Context                 // the caller's: a write whose caller left before its turn is not made
	err    error
	done   chan struct{}
}

// decideAll lets each write decide in order of arrival, on the rows as the writes
// before it left them.
func decideAll(r *rows, batch []*write) {
	for _, w := range batch {
		if w.err = r.refuseRetired(w.seals); w.err == nil {
			w.err = w.decide(r)
		}
	}
}

// writer gathers writes into batches. One goroutine commits them one after the
// other, so a batch is as large as what arrived while the last one was committed.
type writer struct {
	engine   engine
	maxBatch int
	queue    chan *write
	quit     chan struct{}
	idle     chan struct{}
	once     sync.Once

	// Only the goroutine touches these.
	expected int           // how many writes the next batch may wait for
	pace     time.Duration // moving average of the time a commit takes
	timer    *time.Timer
	stuck    bool // what was promised could not be kept, and nothing has happened since
}

func newWriter(e engine, maxBatch, queue int) *writer {
	w := &writer{
		engine: e, maxBatch: maxBatch, queue: make(chan *write, queue),
		quit: make(chan struct{}), idle: make(chan struct{}), timer: time.NewTimer(time.Hour),
	}
	go w.run()
	return w
}

// do submits a write and waits for its verdict. A full queue refuses at once: a
// caller told to come back in a second does less harm than one who waits.
//
// When ctx ends while the write is being committed, do returns at once and the
// write may yet be saved.
func (w *writer) do(ctx context.Context, x *write) error {
	if err := w.submit(ctx, x); err != nil {
		return err
	}
	return w.await(ctx, x)
}

func (w *writer) submit(ctx context.Context, x *write) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	x.ctx, x.done = ctx, make(chan struct{})
	select {
	case <-w.quit:
		return unavailable(nil, "the server is stopping")
	default:
	}
	select {
	case w.queue <- x:
		return nil
	default:
		return unavailable(nil, "too many writes are waiting")
	}
}

func (w *writer) await(ctx context.Context, x *write) error {
	var other error
	select {
	case <-x.done:
		return x.err
	case <-ctx.Done():
		other = ctx.Err()
	case <-w.idle: // it came after the last batch
		other = unavailable(nil, "the server is stopping")
	}
	// Several may be true at once; a verdict, once given, is what counts.
	select {
	case <-x.done:
		return x.err
	default:
		return other
	}
}

// together is how many writes of one caller wait at once, so that others find room
// between them.
const together = 256

// doAll submits many writes, in order, and waits for all verdicts.
func (w *writer) doAll(ctx context.Context, all []*write) []error {
	errs := make([]error, len(all))
	for start := 0; start < len(all); start += together {
		end := min(start+together, len(all))
		for i := start; i < end; i++ {
			errs[i] = w.submit(ctx, all[i])
		}
		for i := start; i < end; i++ {
			if errs[i] == nil {
				errs[i] = w.await(ctx, all[i])
			}
		}
	}
	return errs
}

// settle waits until what was promised to scope is in its tables. A full queue only
// delays it: to refuse a read for the writes would be odd.
func (w *writer) settle(ctx context.Context, scope hodl.WorkspaceID) error {
	if !w.engine.owes(scope) {
		return nil
	}
	x := &write{ctx: ctx, done: make(chan struct{}), alone: func(ctx context.Context) error { return w.engine.settle(ctx, scope) }}
	select {
	case w.queue <- x:
		return w.await(ctx, x)
	case <-ctx.Done():
		return ctx.Err()
	case <-w.quit:
		return unavailable(nil, "the server is stopping")
	}
}

// close lets the queue run empty and stops the goroutine.
func (w *writer) close() {
	w.once.Do(func() { close(w.quit) })
	<-w.idle
}

func (w *writer) run() {
	defer close(w.idle)
	var batch []*write
	for {
		batch = w.collect(batch[:0])
		if len(batch) == 0 {
			return
		}
		start := time.Now()
		w.commit(batch)
		w.stuck = false
		w.pace = (7*w.pace + time.Since(start)) / 8
		w.expected = min(len(batch)+len(w.queue), w.maxBatch)
		clear(batch) // holds on to no content until the next large batch
	}
}

// collect waits for a first write, takes what else is there, and then lingers for
// as many as the last batch led it to expect, at most a tenth of a commit's time.
// Without the linger, callers that answer each other's commits settle at batches
// of half their number.
func (w *writer) collect(batch []*write) []*write {
	for len(batch) == 0 {
		select {
		case x := <-w.queue:
			batch = append(batch, x)
		case <-w.quit:
			return w.drain(batch)
		case <-w.quiet(): // the next write, or who anchors, says why not
			w.stuck = guard(func() error { return w.engine.settle(context.Background(), "") }) != nil
		}
	}
	batch = w.drain(batch)
	if len(batch) >= w.expected {
		return batch
	}
	w.timer.Reset(w.pace / 10)
	defer w.timer.Stop()
	for len(batch) < w.expected {
		select {
		case x := <-w.queue:
			batch = append(batch, x)
		case <-w.timer.C:
			return batch
		}
	}
	return batch
}

// rest is how long nobody writes until what was promised is kept.
const rest = 50 * time.Millisecond

// quiet ends when there was no write for a while and there is something to do.
func (w *writer) quiet() <-chan time.Time {
	if w.stuck || !w.engine.owes("") {
		return nil
	}
	w.timer.Reset(rest)
	return w.timer.C
}

func (w *writer) drain(batch []*write) []*write {
	for len(batch) < w.maxBatch {
		select {
		case x := <-w.queue:
			batch = append(batch, x)
		default:
			return batch
		}
	}
	return batch
}

// commit commits runs of ordinary writes together and the others by themselves,
// and tells each its verdict.
func (w *writer) commit(batch []*write) {
	batch = dropAbandoned(batch)
	start := 0
	for i, x := range batch {
		if x.alone == nil {
			continue
		}
		w.commitTogether(batch[start:i])
		settle(x, guard(func() error { return x.alone(context.Background()) }))
		start = i + 1
	}
	w.commitTogether(batch[start:])
}

// dropAbandoned leaves out the writes whose callers no longer wait.
func dropAbandoned(batch []*write) []*write {
	kept := batch[:0]
	for _, x := range batch {
		if err := x.ctx.Err(); err != nil {
			settle(x, err)
			continue
		}
		kept = append(kept, x)
	}
	return kept
}

func (w *writer) commitTogether(batch []*write) {
	if len(batch) == 0 {
		return
	}
	err := w.tryCommit(batch)
	for range 2 {
		if !passing(err) {
			break
		}
		err = w.tryCommit(batch)
	}
	switch {
	case err == nil:
		for _, x := range batch {
			close(x.done)
		}
	case len(batch) > 1 && hodl.CodeOf(err) != hodl.Unavailable:
		// Something in the batch cannot be saved. Halving finds it in few commits,
		// and alone it fails alone.
		half := len(batch) / 2
		w.commitTogether(batch[:half])
		w.commitTogether(batch[half:])
	default:
		for _, x := range batch {
			settle(x, err)
		}
	}
}

func (w *writer) tryCommit(batch []*write) error {
	return guard(func() error { return w.engine.commit(context.Background(), batch) })
}

// guard turns a panic into an error: one bad write must not end the goroutine
// that serves all others.
func guard(run func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a write: %v\n%s", p, debug.Stack())
		}
	}()
	return run()
}

func settle(x *write, err error) {
	x.err = err
	close(x.done)
}

func unavailable(cause error, why string) error {
	e := hodl.Errorf(hodl.Unavailable, "%s", why).WithHint("send the request again after the time in Retry-After")
	e.RetryAfter, e.Cause = time.Second, cause
	return e
}
