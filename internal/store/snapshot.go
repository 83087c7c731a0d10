package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"hodl"
)

// A Snapshot is a database as it was at one moment, whatever is written meanwhile,
// for the operator's commands: it is read past the workspaces' borders and never
// changed, not even by a migration. It is one transaction, so it is for one goroutine
// and one query at a time.
type Snapshot struct {
	db    *sql.DB
	tx    *sql.Tx
	pg    bool
	scope string // what row-level security lets through
}

// ErrNoDatabase tells that there is nothing to look at yet.
var ErrNoDatabase = errors.New("there is no database yet")

// OpenSnapshot opens the database of o. The error is [ErrNoDatabase] when it was
// never used. On PostgreSQL the role must own the tables, for no other can tell
// which workspaces there are.
func OpenSnapshot(ctx context.Context, o Options) (*Snapshot, error) {
	s := &Snapshot{pg: o.Database != ""}
	var err error
	if s.pg {
		s.db, err = sql.Open("pgx", ownerOf(o))
	} else {
		s.db, err = openExisting(o.Dir)
	}
	if err != nil {
		return nil, err
	}
	if err := s.begin(ctx, o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// ownerOf is the address of the role that owns the tables.
func ownerOf(o Options) string {
	if o.Admin != "" {
		return o.Admin
	}
	return o.Database
}

func openExisting(dir string) (*sql.DB, error) {
	file := fileOf(dir)
	if (Options{Dir: dir}).Absent() {
		return nil, fmt.Errorf("%s: %w", file, ErrNoDatabase)
	}
	return sql.Open("sqlite", strings.Replace(sqliteURL(file, "query_only(1)"), "_txlock=immediate", "_txlock=deferred", 1)+"&mode=rw")
}

func (s *Snapshot) begin(ctx context.Context, o Options) (err error) {
	options := &sql.TxOptions{}
	if s.pg {
		options = &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
	}
	if s.tx, err = s.db.BeginTx(ctx, options); err != nil {
		if s.pg {
			return unreachable(ownerOf(o), err)
		}
		return err
	}
	var there int
	tables := `select count(*) from sqlite_schema where name = 'schema_versions'`
	if s.pg {
		tables = `select count(*) from pg_class where oid = to_regclass('schema_versions')`
	}
	// This first read fixes the moment.
	if err := s.tx.QueryRowContext(ctx, tables).Scan(&there); err != nil {
		return err
	}
	if there == 0 {
		return ErrNoDatabase
	}
	if s.pg {
		return refuseStranger(ctx, s.tx)
	}
	return nil
}

// refuseStranger refuses a role that would see no workspace.
func refuseStranger(ctx context.Context, tx *sql.Tx) error {
	var owner bool
	err := tx.QueryRowContext(ctx, `select pg_has_role(current_user, relowner, 'usage') from pg_class where oid = to_regclass('workspaces')`).Scan(&owner)
	if err == nil && !owner {
		return errors.New("the role of --database does not own the tables, so it cannot tell which workspaces there are: name the one that does in --database-admin")
	}
	return err
}

// Close gives the database up.
func (s *Snapshot) Close() error {
	if s.tx != nil {
		_ = s.tx.Rollback() // nothing was written
	}
	return s.db.Close()
}

// Engine names the database: sqlite or postgres.
func (s *Snapshot) Engine() string {
	if s.pg {
		return "postgres"
	}
	return "sqlite"
}

// Schema returns the version the tables are at, and the one this program brings
// them to.
func (s *Snapshot) Schema(ctx context.Context) (at, newest int, err error) {
	list, err := migrationsFor(s.Engine())
	if err != nil {
		return 0, 0, err
	}
	err = s.tx.QueryRowContext(ctx, `select coalesce(max(number), 0) from schema_versions`).Scan(&at)
	return at, list[len(list)-1].number, err
}

// Workspaces lists every workspace.
func (s *Snapshot) Workspaces(ctx context.Context) ([]hodl.WorkspaceID, error) {
	if !s.pg {
		return everyWorkspace(ctx, s.tx)
	}
	if _, err := s.tx.ExecContext(ctx, setOperator, "on"); err != nil {
		return nil, err
	}
	list, err := everyWorkspace(ctx, s.tx)
	if err == nil {
		_, err = s.tx.ExecContext(ctx, setOperator, "")
	}
	return list, err
}

// setOperator lets the role that owns the tables see every workspace's name, until
// the transaction ends.
const setOperator = `select set_config('hodl.operator', $1, true)`

func everyWorkspace(ctx context.Context, q querier) ([]hodl.WorkspaceID, error) {
	list, err := rowsOf(ctx, q, func(row *sql.Rows) (id hodl.WorkspaceID, err error) { return id, row.Scan(&id) },
		`select workspace from workspaces order by workspace`)
	return list, wrap(err, "list the workspaces")
}

// within lets the next queries see some workspaces.
func (s *Snapshot) within(ctx context.Context, list ...hodl.WorkspaceID) error {
	if !s.pg {
		return nil
	}
	names := make([]string, len(list))
	for i, ws := range list {
		names[i] = string(ws)
	}
	scope := strings.Join(names, ",")
	if scope == s.scope {
		return nil
	}
	s.scope = scope
	_, err := s.tx.ExecContext(ctx, setScope, scope)
	return err
}

// each runs a query that names the workspace as $1 and hands every row to take.
func (s *Snapshot) each(ctx context.Context, ws hodl.WorkspaceID, take func(scanner) error, query string, args ...any) error {
	if err := s.within(ctx, ws); err != nil {
		return err
	}
	rows, err := s.tx.QueryContext(ctx, query, append([]any{ws}, args...)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := take(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
