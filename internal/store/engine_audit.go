package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/jackc/pgx/v5"
)

// SQLiteState is what SQLite says of its own file.
type SQLiteState struct {
	Faults  []string // of integrity_check and foreign_key_check; none is well
	Journal string   // wal
}

// SQLiteState reads the whole file.
func (s *Snapshot) SQLiteState(ctx context.Context) (*SQLiteState, error) {
	out := &SQLiteState{}
	faults, err := rowsOf(ctx, s.tx, scanText, `select integrity_check from pragma_integrity_check where integrity_check <> 'ok'`)
	if err != nil {
		return nil, wrap(err, "check the file")
	}
	orphans, err := rowsOf(ctx, s.tx, scanText, `select 'a row of ' || "table" || ' names one of ' || parent || ' that is not there' from pragma_foreign_key_check limit 20`)
	if err != nil {
		return nil, wrap(err, "check the rows")
	}
	out.Faults = append(faults, orphans...)
	return out, s.tx.QueryRowContext(ctx, `pragma journal_mode`).Scan(&out.Journal)
}

func scanText(row *sql.Rows) (text string, err error) { return text, row.Scan(&text) }

// PostgresState is what PostgreSQL says of itself, and of the role the server works
// as.
type PostgresState struct {
	Version    int // 150004 is 15.4
	Fsync      string
	FullPages  string // full_page_writes
	Role       string
	Bypasses   bool     // row-level security does not bind the role
	Owns       bool     // the role owns the tables: one role for both
	MayRewrite bool     // the role may change or delete access records
	Open       []string // tables of workspaces without forced row-level security, or without a policy
	Guards     int      // triggers that keep access records as they are
	Now        time.Time
}

// RecordGuards is how many of those triggers there are when none is missing.
const RecordGuards = 4

// PostgresState looks at the server and at the role that o.Database names.
func (s *Snapshot) PostgresState(ctx context.Context, o Options) (*PostgresState, error) {
	config, err := pgx.ParseConfig(o.Database)
	if err != nil {
		return nil, wrap(err, "read --database")
	}
	out := &PostgresState{Role: config.User}
	err = s.tx.QueryRowContext(ctx, `select current_setting('server_version_num')::int, current_setting('fsync'), current_setting('full_page_writes'), clock_timestamp(),
			r.rolsuper or r.rolbypassrls, pg_has_role(r.oid, c.relowner, 'usage'),
			has_table_privilege(r.oid, c.oid, 'update') or has_table_privilege(r.oid, c.oid, 'delete') or has_table_privilege(r.oid, c.oid, 'truncate'),
			(select count(*) from pg_trigger t where t.tgrelid in (c.oid, to_regclass('access_details')) and t.tgenabled <> 'D' and not t.tgisinternal)
		from pg_roles r, pg_class c where r.rolname = $1 and c.oid = to_regclass('access_records')`, config.User).
		Scan(&out.Version, &out.Fsync, &out.FullPages, &out.Now, &out.Bypasses, &out.Owns, &out.MayRewrite, &out.Guards)
	if err != nil {
		return nil, wrap(err, "look at the role %s", config.User)
	}
	// hodl_words does not force its policy upon its owner: see its migration.
	out.Open, err = rowsOf(ctx, s.tx, scanText, `select c.relname::text from pg_class c
		join pg_attribute a on a.attrelid = c.oid and a.attname = 'workspace' and not a.attisdropped
		where c.relkind in ('r', 'p') and c.relnamespace = (select relnamespace from pg_class where oid = to_regclass('workspaces'))
		and not (c.relrowsecurity and (c.relforcerowsecurity or c.relname = 'hodl_words') and exists (select 1 from pg_policy p where p.polrelid = c.oid))
		order by 1`)
	return out, wrap(err, "look at row-level security")
}

// SQLiteGuards returns how many triggers keep access records as they are.
func (s *Snapshot) SQLiteGuards(ctx context.Context) (n int, err error) {
	err = s.tx.QueryRowContext(ctx, `select count(*) from sqlite_schema where type = 'trigger' and tbl_name in ('access_records', 'access_details')`).Scan(&n)
	return n, err
}
