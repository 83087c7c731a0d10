package store

import (
	"context"
	"database/sql"
	"fmt"
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
	change(ctx context.Context, w *writer, ws hodl.WorkspaceID, write func(*sql.Tx) error) error
	close() error
}

// A write is one command to the writer. need names the rows it wants; decide sees
// them locked and either changes them or refuses, changing nothing. Both may run
// again if the batch fails for another write's sake.
type write struct {
	need   func(*rows)
	decide func(*rows) error
	alone  func(ctx context.Context) error // instead of both: a transaction of its own
	err    error
	done   chan struct{}
}

// decideAll lets each write decide in order of arrival, on the rows as the writes
// before it left them.
func decideAll(r *rows, batch []*write) {
	for _, w := range batch {
		w.err = w.decide(r)
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
func (w *writer) do(ctx context.Context, x *write) error {
	x.done = make(chan struct{})
	select {
	case <-w.quit:
		return unavailable(nil, "the server is stopping")
	default:
	}
	select {
	case w.queue <- x:
	default:
		return unavailable(nil, "too many writes are waiting")
	}
	select {
	case <-x.done:
		return x.err
	case <-ctx.Done():
		return ctx.Err() // it may yet be committed
	case <-w.idle:
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
		w.pace = (7*w.pace + time.Since(start)) / 8
		w.expected = min(len(batch)+len(w.queue), w.maxBatch)
	}
}

// collect waits for a first write, takes what else is there, and then lingers for
// as many as the last batch led it to expect, at most a tenth of a commit's time.
// Without the linger, callers that answer each other's commits settle at batches
// of half their number.
func (w *writer) collect(batch []*write) []*write {
	select {
	case x := <-w.queue:
		batch = append(batch, x)
	case <-w.quit:
		return w.drain(batch)
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
	start := 0
	for i, x := range batch {
		if x.alone == nil {
			continue
		}
		w.commitTogether(batch[start:i])
		w.settle(x, x.alone(context.Background()))
		start = i + 1
	}
	w.commitTogether(batch[start:])
}

func (w *writer) commitTogether(batch []*write) {
	if len(batch) == 0 {
		return
	}
	err := w.tryCommit(batch)
	for range 2 {
		if !passing(err) || len(batch) > 1 {
			break
		}
		err = w.tryCommit(batch)
	}
	if err != nil && len(batch) > 1 && hodl.CodeOf(err) != hodl.Unavailable {
		// Something in the batch could not be saved. One by one, it fails alone.
		for i := range batch {
			w.commitTogether(batch[i : i+1])
		}
		return
	}
	for _, x := range batch {
		if err != nil {
			x.err = err
		}
		close(x.done)
	}
}

// tryCommit turns a panic in a decision into an error: one bad write must not end
// the goroutine that serves all others.
func (w *writer) tryCommit(batch []*write) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a write: %v", p)
		}
	}()
	return w.engine.commit(context.Background(), batch)
}

func (w *writer) settle(x *write, err error) {
	x.err = err
	close(x.done)
}

func unavailable(cause error, why string) error {
	e := hodl.Errorf(hodl.Unavailable, "%s", why).WithHint("send the request again after the time in Retry-After")
	e.RetryAfter, e.Cause = time.Second, cause
	return e
}
