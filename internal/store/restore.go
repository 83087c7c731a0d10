package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5"
)

// A Restoration fills a new database with what a backup holds.
type Restoration struct {
	Schema int                                    // the version the backup's tables are at
	Load   func(context.Context, *Loader) error   // adds every row
	Verify func(context.Context, *Snapshot) error // looks at the result before it is kept
}

// Restore makes the database of o, which must not be there yet: the tables as they
// were at r.Schema, the rows, then the migrations since. On PostgreSQL all of it is
// one transaction; on SQLite o.Dir holds half a database when it fails, so the caller
// restores into a folder of its own and moves it.
func Restore(ctx context.Context, o Options, r Restoration) error {
	list, err := migrationsFor(engineOf(o))
	if err != nil {
		return err
	}
	if newest := list[len(list)-1].number; r.Schema > newest {
		return fmt.Errorf("the backup is of version %d and this hodl knows %d: restore it with the newer hodl", r.Schema, newest)
	}
	if o.Database != "" {
		return restorePostgres(ctx, o, r, list)
	}
	return restoreSQLite(ctx, o, r, list)
}

func engineOf(o Options) string {
	if o.Database != "" {
		return "postgres"
	}
	return "sqlite"
}

// restoreSQLite waits for the disk once, at its end: until then there is nothing to
// keep.
func restoreSQLite(ctx context.Context, o Options, r Restoration, list []migration) (err error) {
	file, err := privateFile(o.Dir)
	if err != nil {
		return err
	}
	q := url.Values{"_txlock": {"immediate"}, "_pragma": {"journal_mode(WAL)", "synchronous(OFF)"}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: file}).EscapedPath(), RawQuery: q.Encode()}).String())
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	err = inTx(ctx, db, func(tx *sql.Tx) error {
		_, err := r.fill(ctx, tx, false, list)
		return err
	})
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	if err := keepAll(ctx, o, nil); err != nil {
		return err
	}
	return flushFile(file)
}

func flushFile(file string) error {
	f, err := os.OpenFile(filepath.Clean(file), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func restorePostgres(ctx context.Context, o Options, r Restoration, list []migration) error {
	config, err := pgx.ParseConfig(o.Database)
	if err != nil {
		return wrap(err, "read --database")
	}
	db, err := sql.Open("pgx", ownerOf(o))
	if err != nil {
		return wrap(err, "read --database-admin")
	}
	defer func() { _ = db.Close() }() // what was committed is kept
	if err := db.PingContext(ctx); err != nil {
		return unreachable(ownerOf(o), err)
	}
	var promises []restoredPromise
	err = inTx(ctx, db, func(tx *sql.Tx) (err error) {
		if err := oneAtATime(ctx)(tx); err != nil {
			return err
		}
		var there bool
		if err := tx.QueryRowContext(ctx, `select to_regclass('schema_versions') is not null`).Scan(&there); err != nil {
			return err
		}
		if there {
			return errors.New("there is a hodl database already: restore into an empty one")
		}
		promises, err = r.fill(ctx, tx, true, list)
		return err
	})
	if err != nil {
		return err
	}
	if err := grant(ctx, db, config.User); err != nil {
		return err
	}
	if err := keepAll(ctx, o, promises); err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, `truncate journal`)
	return wrap(err, "clear the journal")
}

// A promise of the journal that a backup holds.
type restoredPromise struct {
	partition
	entry string
}

func scanPromise(row *sql.Rows) (x restoredPromise, err error) {
	var place int64
	return x, row.Scan(&place, &x.ws, &x.mode, &x.entry)
}

// keepAll puts what SQLite had only promised when it was backed up into the tables.
func keepAll(ctx context.Context, o Options, promises []restoredPromise) (err error) {
	s, err := Open(ctx, o) // which SQLite takes for the occasion to do it
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, x := range promises {
		w, err := s.notary.keep(x.partition, x.entry)
		if err == nil {
			err = s.writer.do(ctx, w)
		}
		if err != nil {
			return wrap(err, "keep what the journal promises")
		}
	}
	return nil
}

// fill makes the tables, fills them and brings them up to date. It returns what SQLite
// had promised and not kept.
func (r Restoration) fill(ctx context.Context, tx *sql.Tx, pg bool, list []migration) (promises []restoredPromise, err error) {
	if err := applyAll(ctx, tx, list, func(m migration) bool { return m.number <= r.Schema }); err != nil {
		return nil, err
	}
	bound, err := boundTables(ctx, tx, pg)
	if err != nil {
		return nil, err
	}
	if err := alterAll(ctx, tx, bound, "no force row level security"); err != nil {
		return nil, err
	}
	tables, err := tablesOf(ctx, tx, pg)
	if err != nil {
		return nil, err
	}
	l := &Loader{tx: tx, tables: map[string]Table{}}
	for _, t := range tables {
		l.tables[t.Name] = t
	}
	if err := errors.Join(r.Load(ctx, l), l.flush(ctx)); err != nil {
		return nil, err
	}
	if _, there := l.tables["journal"]; there {
		if promises, err = rowsOf(ctx, tx, scanPromise, journalRows); err != nil {
			return nil, err
		}
	}
	if err := alterAll(ctx, tx, bound, "force row level security"); err != nil {
		return nil, err
	}
	if err := applyAll(ctx, tx, list, func(m migration) bool { return m.number > r.Schema }); err != nil {
		return nil, err
	}
	return promises, r.Verify(ctx, &Snapshot{tx: tx, pg: pg})
}

func applyAll(ctx context.Context, tx *sql.Tx, list []migration, wanted func(migration) bool) error {
	for _, m := range list {
		if !wanted(m) {
			continue
		}
		if err := apply(ctx, tx, m, nil); err != nil {
			return fmt.Errorf("migration %s: %w", m.name, err)
		}
	}
	return nil
}

// boundTables lists those whose row-level security binds even their owner. It is lifted
// while rows of every workspace are put in.
func boundTables(ctx context.Context, tx *sql.Tx, pg bool) ([]string, error) {
	if !pg {
		return nil, nil
	}
	return rowsOf(ctx, tx, scanText, `select oid::regclass::text from pg_class
		where relforcerowsecurity and relnamespace = (select relnamespace from pg_class where oid = to_regclass('workspaces'))`)
}

func alterAll(ctx context.Context, tx *sql.Tx, tables []string, what string) error {
	for _, t := range tables {
		if _, err := tx.ExecContext(ctx, `alter table `+t+` `+what); err != nil {
			return wrap(err, "%s of %s", what, t)
		}
	}
	return nil
}
