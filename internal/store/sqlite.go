package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver; pure Go, so the binary stays static

	"hodl"
)

// sqliteReaders is how many connections read at once; the writer has its own.
const sqliteReaders = 4

// sqlite is the embedded engine. One connection writes, owned by the writer's
// goroutine; the others are read-only. WAL with synchronous=FULL: a commit is on
// the disk before anyone is told of it.
type sqlite struct {
	db     *sql.DB // holds the one writing connection
	conn   *sql.Conn
	reads  *sql.DB
	stmts  *sqliteStatements
	notary *notary
	log    *checkpointer

	journal journal
}

func openSQLite(ctx context.Context, dir string, n *notary) (engine, *sql.DB, error) {
	file, err := privateFile(dir)
	if err != nil {
		return nil, nil, err
	}
	db, err := sql.Open("sqlite", sqliteURL(file, "synchronous(FULL)"))
	if err != nil {
		return nil, nil, fmt.Errorf("open %s: %w", file, err)
	}
	db.SetMaxOpenConns(1)
	if err := migrate(ctx, db, "sqlite", nil); err != nil {
		db.Close()
		return nil, nil, fmt.Errorf("open %s: %w", file, err)
	}
	reads, err := sql.Open("sqlite", sqliteURL(file, "query_only(1)"))
	if err != nil {
		db.Close()
		return nil, nil, err
	}
	reads.SetMaxOpenConns(sqliteReaders)
	reads.SetMaxIdleConns(sqliteReaders)
	e := &sqlite{db: db, reads: reads, notary: n, journal: journal{version: unknown, owed: map[partition]bool{}}}
	if e.conn, err = db.Conn(ctx); err != nil {
		return nil, nil, errors.Join(err, db.Close(), reads.Close())
	}
	if e.log, err = newCheckpointer(file, e.conn); err != nil {
		return nil, nil, errors.Join(err, e.conn.Close(), db.Close(), reads.Close())
	}
	e.stmts = &sqliteStatements{e.conn, map[string]*sql.Stmt{}}
	if err := e.commit(ctx, nil); err != nil { // what a crash left in the journal
		return nil, nil, errors.Join(err, e.close())
	}
	return e, reads, nil
}

func fileOf(dir string) string { return filepath.Join(dir, "hodl.db") }

// Absent reports whether there is no database yet, and [Open] would make one.
func (o Options) Absent() bool {
	_, err := os.Stat(fileOf(o.Dir))
	return o.Database == "" && errors.Is(err, os.ErrNotExist)
}

// privateFile makes the database file before SQLite does: the log and the index
// that SQLite puts beside it take its mode.
func privateFile(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the data folder: %w", err)
	}
	file := fileOf(dir)
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		err = errors.Join(f.Chmod(0o600), f.Close())
	}
	if err != nil {
		return "", fmt.Errorf("make %s private: %w", file, err)
	}
	return file, nil
}

func sqliteURL(file, pragma string) string {
	q := url.Values{"_txlock": {"immediate"}, "_pragma": {
		"busy_timeout(10000)", "journal_mode(WAL)", "foreign_keys(1)", "cache_size(-8192)", fmt.Sprintf("wal_autocheckpoint(%d)", checkpointLate), pragma,
	}}
	return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: file}).EscapedPath(), RawQuery: q.Encode()}).String()
}

func (e *sqlite) name() string { return "sqlite" }

func (e *sqlite) close() error {
	var err error
	if e.owes("") {
		err = e.settle(context.Background(), "")
	}
	e.stmts.close()
	return errors.Join(err, e.log.close(), e.reads.Close(), e.conn.Close(), e.db.Close())
}

func (e *sqlite) view(_ context.Context, _ hodl.WorkspaceID, read func(querier) error) error {
	return read(e.reads)
}

func (e *sqlite) outside(_ context.Context, read func(querier) error) error {
	return lost(read(e.reads))
}

func (e *sqlite) across(_ context.Context, read func(querier) error) error {
	return lost(read(e.reads))
}

// change waits for its turn with the writer: nobody else may write. What was promised
// to the workspace, here or by another process, is kept before. The transaction is the
// writer's, not the caller's: were it to end with the caller's context, database/sql
// might close the one connection that writes.
func (e *sqlite) change(ctx context.Context, w *writer, ws hodl.WorkspaceID, run func(*sql.Tx) error) error {
	return w.do(ctx, &write{alone: func(ctx context.Context) error {
		overtaken := e.owes(ws)
		for {
			if overtaken {
				if err := e.settle(ctx, ws); err != nil {
					return err
				}
			}
			e.journal.drop(ws)
			err := inTx(ctx, e.conn, func(tx *sql.Tx) error {
				version, err := databaseVersion(ctx, tx)
				if overtaken = version != e.journal.version; err != nil || overtaken {
					return err
				}
				return run(tx)
			})
			if err != nil || !overtaken {
				return lost(err)
			}
		}
	}})
}

// beginner is a *sql.DB or *sql.Conn.
type beginner interface {
	BeginTx(context.Context, *sql.TxOptions) (*sql.Tx, error)
}

// inTx runs a write and commits it if it returns nil.
func inTx(ctx context.Context, db beginner, run func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after a commit it does nothing
	if err := run(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// commit runs a batch with what is due of the journal.
func (e *sqlite) commit(ctx context.Context, batch []*write) error {
	return e.transact(ctx, batch, func(partition) bool { return false })
}
