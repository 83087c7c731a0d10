package store

import (
	"context"
	"database/sql"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"hodl"
)

// Watched returns o for a store whose statements on PostgreSQL t sees.
func (o Options) Watched(t pgx.QueryTracer) Options {
	o.tracer = t
	return o
}

// Packing teaches a connection to send again what a tracer has seen.
var Packing = packing

// Hold keeps the writer busy until release is called, so that a test can fill one
// batch. It returns once the writer is held.
func (s *Store) Hold() (release func()) {
	entered, free := make(chan struct{}), make(chan struct{})
	go func() {
		_ = s.writer.do(context.Background(), &write{alone: func(context.Context) error {
			close(entered)
			<-free
			return nil
		}})
	}()
	<-entered
	return func() { close(free) }
}

// Panic submits a write whose decision panics.
func (s *Store) Panic(ctx context.Context) error {
	return s.writer.do(ctx, &write{need: func(*rows) {}, decide: func(*rows) error { panic("planted") }})
}

// PanicAlone submits a rare write that panics.
func (s *Store) PanicAlone(ctx context.Context) error {
	return s.writer.do(ctx, &write{alone: func(context.Context) error { panic("planted") }})
}

// AppendTwice submits a write that appends one record in two places, which no
// engine can save: the id of a record is unique.
func (s *Store) AppendTwice(ctx context.Context, rec *hodl.Record) error {
	prepared, err := prepare(rec, hodl.RecordDetail{})
	if err != nil {
		return err
	}
	p := partition{rec.Workspace, rec.Mode}
	return s.writer.do(ctx, &write{
		need:   func(r *rows) { r.wantLog(p) },
		decide: func(r *rows) error { r.append(p, prepared); r.append(p, prepared); return nil },
	})
}

// Batches returns how many writes lay in each batch the engine was given since the
// call. It replaces the engine, so it is called before the first write.
func (s *Store) Batches() func() []int {
	c := &counting{engine: s.writer.engine}
	s.writer.engine = c
	return func() []int { return slices.Clone(c.sizes) }
}

type counting struct {
	engine
	sizes []int // touched by the writer's goroutine alone
}

func (c *counting) commit(ctx context.Context, batch []*write) error {
	c.sizes = append(c.sizes, len(batch))
	return c.engine.commit(ctx, batch)
}

// SealedColumns lists the columns that hold sealed values, as table.column.
func SealedColumns() (out []string) {
	for _, c := range sealedColumns {
		out = append(out, c.table+"."+c.column)
	}
	for _, c := range serverColumns {
		out = append(out, c.table+"."+c.column)
	}
	return out
}

// CommitRecords commits records of one log in one transaction, past the writer:
// grown, or plainly, as rows from that place on.
func (s *Store) CommitRecords(ctx context.Context, recs []*hodl.Record, plainFrom int64) error {
	batch := make([]*write, len(recs))
	for i, rec := range recs {
		prepared, err := prepare(rec, hodl.RecordDetail{Address: "192.0.2.7", UserAgent: "bench"})
		if err != nil {
			return err
		}
		p := partition{rec.Workspace, rec.Mode}
		batch[i] = &write{
			need:   func(r *rows) { r.wantLog(p) },
			decide: func(r *rows) error { r.append(p, prepared); return nil },
		}
		if plainFrom >= 0 {
			batch[i].decide = func(r *rows) error {
				r.records = append(r.records, prepared.at(p, plainFrom+int64(i)))
				r.logs[p].dirty = true // the head is a row as well
				return nil
			}
		}
	}
	return s.writer.engine.commit(ctx, batch)
}

// MigrateSQLite brings a database to a version, or as far as the last; it returns the
// versions it went through.
func MigrateSQLite(ctx context.Context, db *sql.DB, last int) (through []int, err error) {
	list, err := migrationsFor("sqlite")
	for _, m := range list {
		if err == nil && m.number <= last {
			err = inTx(ctx, db, func(tx *sql.Tx) error { return apply(ctx, tx, m, nil) })
			through = append(through, m.number)
		}
	}
	return through, err
}

// Bound lets the file of SQLite grow by so many pages and no further, as a full disk
// does.
func (s *Store) Bound(ctx context.Context, pages int) error {
	return s.writer.do(ctx, &write{alone: func(ctx context.Context) error {
		conn := s.engine.(*sqlite).conn
		var now, most int
		err := conn.QueryRowContext(ctx, `pragma page_count`).Scan(&now)
		if err == nil {
			err = conn.QueryRowContext(ctx, `pragma max_page_count = `+strconv.Itoa(now+pages)).Scan(&most)
		}
		return err
	}})
}
