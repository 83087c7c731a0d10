// Package store keeps everything, on SQLite or PostgreSQL.
//
// Reads and rare writes are one SQL text for both engines, through database/sql.
// The hot writes (captures, mints, hydrations, typed writes) pass through one
// [writer] that puts many of them into one transaction; what each may do is
// decided in Go, on locked rows, by code both engines share. Only how rows are
// locked and saved is native: see sqlite.go and postgres.go.
//
// Every method takes a workspace, and every statement names it first.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"hodl"
	"hodl/internal/ledger"
	"hodl/internal/seal"
)

// Options says which database to open.
type Options struct {
	Dir      string       // a folder for SQLite; used when Database is empty
	Database string       // a PostgreSQL URL of the role the server works as
	Admin    string       // a PostgreSQL URL of the role that owns the tables; Database when empty
	Master   *seal.Master // wraps the data keys
	Now      func() time.Time
	Log      *slog.Logger
	MaxBatch int // writes in one transaction; 512 when 0
	Queue    int // writes waiting before new ones are refused; 4096 when 0

	tracer pgx.QueryTracer // sees every statement on PostgreSQL; for tests
}

// A Store is safe for concurrent use.
type Store struct {
	reads      *sql.DB
	writer     *writer
	engine     engine
	notary     *notary
	ring       *seal.Ring
	master     *seal.Master
	ids        *hodl.IDs
	now        func() time.Time
	log        *slog.Logger
	used       sync.Map       // hodl.KeyID -> time.Time: when its last use was last written down
	answering  sync.Map       // onceKey -> true: requests that are being answered
	background sync.WaitGroup // work that outlives its request
	closing    sync.Once
	closed     error // what Close returns
}

// Open opens the database, brings its tables up to date and starts the writer.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.MaxBatch == 0 {
		o.MaxBatch = 512
	}
	if o.Queue == 0 {
		o.Queue = 4096
	}
	s := &Store{ids: &hodl.IDs{}, log: o.Log, notary: &notary{roots: map[partition]ledger.Hash{}}, now: func() time.Time { return o.Now().UTC().Truncate(time.Microsecond) }}
	var err error
	if o.Database != "" {
		s.engine, s.reads, err = openPostgres(ctx, o, s.notary)
	} else {
		s.engine, s.reads, err = openSQLite(ctx, o.Dir, s.notary)
	}
	if err != nil {
		return nil, err
	}
	s.master = o.Master
	s.ring = seal.NewRing(o.Master, s)
	s.writer = newWriter(s.engine, o.MaxBatch, o.Queue)
	return s, nil
}

// Close waits for the writes that were accepted and closes the database. To close
// twice is no error.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.background.Wait()
		s.writer.close()
		s.closed = s.engine.close()
	})
	return s.closed
}

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	return s.reads.PingContext(ctx)
}

// Engine names the database: sqlite or postgres.
func (s *Store) Engine() string { return s.engine.name() }

// Backlog returns how many writes are waiting, and how many may.
func (s *Store) Backlog() (waiting, most int) { return len(s.writer.queue), cap(s.writer.queue) }

// Busy reports whether more than half as many writes are waiting as may: then the
// larger plans go first.
func (s *Store) Busy() bool {
	waiting, most := s.Backlog()
	return waiting > most/2
}

// A querier reads: the read pool of SQLite, or a transaction of PostgreSQL that
// sees one workspace.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// view reads as workspace ws, whose promises are kept before.
func (s *Store) view(ctx context.Context, ws hodl.WorkspaceID, read func(querier) error) error {
	if err := s.writer.settle(ctx, ws); err != nil {
		return err
	}
	return s.glance(ctx, ws, read)
}

// Settle puts everything that was promised, by this process or another, into its tables:
// for who reads the database past the store.
func (s *Store) Settle(ctx context.Context) error {
	return s.writer.do(ctx, &write{alone: func(ctx context.Context) error { return s.engine.settle(ctx, "") }})
}

// glance reads what no promise changes, or what may be a moment old.
func (s *Store) glance(ctx context.Context, ws hodl.WorkspaceID, read func(querier) error) error {
	return rereading(func() error { return s.engine.view(ctx, ws, read) })
}

// change runs a rare write as workspace ws in a transaction of its own, which no
// batch shares. It takes none of the rows that batches lock.
func (s *Store) change(ctx context.Context, ws hodl.WorkspaceID, write func(*sql.Tx) error) error {
	if o := OnceOf(ctx); o != nil {
		return s.changeOnce(ctx, o, ws, write)
	}
	return s.engine.change(ctx, s.writer, ws, write)
}

// rowsOf runs a query and scans each row.
func rowsOf[T any](ctx context.Context, q querier, scan func(*sql.Rows) (T, error), query string, args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		x, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, rows.Err()
}

// missing turns the absence of a row into a refusal that does not tell whether
// the thing is somebody else's or was never there.
func missing(err error, what string, id any) error {
	if errors.Is(err, sql.ErrNoRows) {
		return hodl.Errorf(hodl.NotFound, "no %s %v", what, id).WithHint("check the id; list yours to see what there is")
	}
	return err
}

// affected reports sql.ErrNoRows when a statement changed nothing.
func affected(r sql.Result, err error) error {
	if err != nil {
		return err
	}
	if n, err := r.RowsAffected(); err != nil || n > 0 {
		return err
	}
	return sql.ErrNoRows
}

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func timeOf(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

func joinScopes(scopes []hodl.Scope) string {
	parts := make([]string, len(scopes))
	for i, s := range scopes {
		parts[i] = string(s)
	}
	return strings.Join(parts, " ")
}

func splitScopes(s string) []hodl.Scope {
	var out []hodl.Scope
	for part := range strings.FieldsSeq(s) {
		out = append(out, hodl.Scope(part))
	}
	return out
}

func joinIDs(ids []hodl.TokenID) string {
	parts := make([]string, len(ids))
	for i, id := range ids {
		parts[i] = string(id)
	}
	return strings.Join(parts, " ")
}

func splitIDs(s string) []hodl.TokenID {
	var out []hodl.TokenID
	for part := range strings.FieldsSeq(s) {
		out = append(out, hodl.TokenID(part))
	}
	return out
}

func wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}
