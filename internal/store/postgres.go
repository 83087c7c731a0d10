package store

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
)

// postgres is the shared engine: many servers over one database. Each has one
// writer, which sends a batch in two round trips: lock and load, then save and
// commit.
type postgres struct {
	writes *pgxpool.Pool // one connection, so that the writer never queues behind readers
	reads  *pgxpool.Pool
	db     *sql.DB // over reads, for the SQL both engines share
	notary *notary
	owner  string // address of the role that owns the tables, for the operator's commands
}

const (
	migrationLock = 0x686f646c // "hodl": the advisory lock that one migrating server holds
	commitTimeout = 15 * time.Second
)

func openPostgres(ctx context.Context, o Options, n *notary) (engine, *sql.DB, error) {
	config, err := pgxpool.ParseConfig(o.Database)
	if err != nil {
		return nil, nil, fmt.Errorf("read --database: %w", err)
	}
	// A commit is on the disk before anyone is told of it, whatever the server's default.
	config.ConnConfig.RuntimeParams["synchronous_commit"] = "on"
	config.ConnConfig.RuntimeParams["application_name"] = "hodl"
	config.ConnConfig.Tracer = o.tracer
	config.MaxConns = max(config.MaxConns, 8)
	// A prepared statement keeps the plan that was right for its tables when they
	// were small. Connections that live for minutes are soon planned anew.
	config.MaxConnLifetime, config.MaxConnLifetimeJitter = 2*time.Minute, 30*time.Second
	reads, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, nil, fmt.Errorf("open PostgreSQL: %w", err)
	}
	if err := prepareDatabase(ctx, o, reads); err != nil {
		reads.Close()
		return nil, nil, err
	}
	single := config.Copy()
	// The writer looks up keys and nothing else: a table is never worth reading whole.
	single.ConnConfig.RuntimeParams["enable_seqscan"] = "off"
	// Its statements have one good plan each, whatever the batch. To look for a better
	// one took PostgreSQL longer than to run them.
	single.ConnConfig.RuntimeParams["plan_cache_mode"] = "force_generic_plan"
	single.MaxConns, single.MinConns, single.MinIdleConns = 1, 0, 0
	single.AfterConnect = packing
	writes, err := pgxpool.NewWithConfig(ctx, single)
	if err != nil {
		reads.Close()
		return nil, nil, fmt.Errorf("open PostgreSQL: %w", err)
	}
	db := stdlib.OpenDBFromPool(reads)
	return &postgres{writes, reads, db, n, ownerOf(o)}, db, nil
}

// prepareDatabase refuses the role before it touches anything in its name.
func prepareDatabase(ctx context.Context, o Options, pool *pgxpool.Pool) error {
	if err := refuseBypass(ctx, pool); err != nil {
		return err
	}
	return migratePostgres(ctx, o, pool.Config().ConnConfig.User)
}

// migratePostgres applies the migrations as the owner and grants the role the
// server works as what it needs and no more.
func migratePostgres(ctx context.Context, o Options, role string) error {
	admin := o.Admin
	if admin == "" {
		admin = o.Database
	}
	db, err := sql.Open("pgx", admin)
	if err != nil {
		return fmt.Errorf("read --database-admin: %w", err)
	}
	defer db.Close()
	if err := db.PingContext(ctx); err != nil {
		return unreachable(admin, err)
	}
	if o.Admin == "" && upToDate(ctx, db) {
		return nil
	}
	if err := migrate(ctx, db, "postgres", oneAtATime(ctx)); err != nil {
		return fmt.Errorf("%w (migrations run under --database-admin, a role that may create tables in this database)", err)
	}
	return grant(ctx, db, role)
}

// oneAtATime makes the transactions of servers that start together wait for each
// other.
func oneAtATime(ctx context.Context) func(*sql.Tx) error {
	return func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `select pg_advisory_xact_lock($1)`, migrationLock)
		return err
	}
}

func upToDate(ctx context.Context, db *sql.DB) bool {
	list, err := migrationsFor("postgres")
	if err != nil {
		return false
	}
	at, err := schemaVersion(ctx, db)
	return err == nil && at == list[len(list)-1].number
}

// grant lets role read and write rows, but neither change access records nor the
// tables themselves.
func grant(ctx context.Context, db *sql.DB, role string) error {
	name := pgx.Identifier{role}.Sanitize()
	text := strings.ReplaceAll(`
		grant usage on schema public to ROLE;
		grant select, insert, update, delete on all tables in schema public to ROLE;
		revoke update, delete, truncate on access_records, access_details from ROLE;
		grant delete on access_details to ROLE;
		revoke delete, truncate on log_heads, log_tiles, log_keys, global_log, global_entries, global_tiles from ROLE;
		revoke all on schema_versions from ROLE;
		grant select on schema_versions to ROLE;
		revoke execute on function hodl_credential(bytea), hodl_workspace_named(text), hodl_workspaces_of(text) from public;
		grant execute on function hodl_search(text, text, text, tsquery, text, text, bigint, bigint, text, bigint, bigint), hodl_chores(bigint), hodl_logs(), hodl_logs_ahead(bigint) to ROLE;
		grant execute on function hodl_credential(bytea), hodl_workspace_named(text), hodl_workspaces_of(text) to ROLE;`, "ROLE", name)
	return inTx(ctx, db, func(tx *sql.Tx) error {
		if err := oneAtATime(ctx)(tx); err != nil {
			return err
		}
		var owner bool
		if err := tx.QueryRowContext(ctx, `select current_user = $1`, role).Scan(&owner); err != nil || owner {
			return err // one role for both: it owns the tables already
		}
		_, err := tx.ExecContext(ctx, text)
		return wrap(err, "grant rights to the role %s of --database", role)
	})
}

// refuseBypass keeps the second lock real: row-level security does not bind a
// superuser or a role with BYPASSRLS.
func refuseBypass(ctx context.Context, pool *pgxpool.Pool) error {
	var role string
	var bypass bool
	err := pool.QueryRow(ctx, `select rolname, rolsuper or rolbypassrls from pg_roles where rolname = current_user`).Scan(&role, &bypass)
	if err != nil {
		return unreachable(pool.Config().ConnString(), err)
	}
	if bypass {
		return fmt.Errorf("the role %q of --database bypasses row-level security (superuser or BYPASSRLS): name an ordinary role there, and this one in --database-admin", role)
	}
	return nil
}

// unreachable says once why no connection was made: the driver tries an address with
// and without TLS, and tells of each try on a line.
func unreachable(url string, err error) error {
	tries := slices.Compact(strings.Split(err.Error(), "\n\t"))
	if len(tries) > 1 {
		tries = tries[1:] // the first repeats the URL
	}
	return fmt.Errorf("reach PostgreSQL at %s: %s", redactURL(url), strings.Join(tries, "; "))
}

// redactURL shows no password: not that of an URL, nor of any other form.
func redactURL(s string) string {
	if u, err := url.Parse(s); err == nil && strings.HasPrefix(u.Scheme, "postgres") {
		return u.Redacted()
	}
	return "the address given"
}
