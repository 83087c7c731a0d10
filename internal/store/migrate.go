package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
)

// migrations are applied in order of their number. A file that only one engine
// needs carries its name: 0002_guards.postgres.sql.
//
//go:embed migrations/*.sql
var migrations embed.FS

type migration struct {
	number int
	name   string
	text   string
}

// migrationsFor lists what an engine applies, in order.
func migrationsFor(engine string) ([]migration, error) {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	var out []migration
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(file, "migrations/"), ".sql")
		base, only, twin := strings.Cut(name, ".")
		if twin && only != engine {
			continue
		}
		number, err := strconv.Atoi(base[:4])
		if err != nil {
			return nil, fmt.Errorf("migration %s: %w", file, err)
		}
		text, err := migrations.ReadFile(file)
		if err != nil {
			return nil, err
		}
		out = append(out, migration{number, base, forEngine(string(text), engine)})
	}
	return out, nil
}

// forEngine opens the comments that are meant for one engine: /*sqlite: … */.
func forEngine(text, engine string) string {
	return regexp.MustCompile(`/\*`+engine+`: (.*?) \*/`).ReplaceAllString(text, "$1")
}

// migrate brings the tables up to date, each migration in a transaction of its
// own. lock, if any, keeps other servers from doing the same at once. A database
// that is newer than this binary is refused: going back loses what it does not
// know.
func migrate(ctx context.Context, db *sql.DB, engine string, lock func(*sql.Tx) error) error {
	list, err := migrationsFor(engine)
	if err != nil {
		return err
	}
	newest := list[len(list)-1].number
	if err := refuseNewer(ctx, db, newest); err != nil {
		return err
	}
	for _, m := range list {
		if err := inTx(ctx, db, func(tx *sql.Tx) error { return apply(ctx, tx, m, lock) }); err != nil {
			return fmt.Errorf("migration %s: %w", m.name, err)
		}
	}
	return refuseNewer(ctx, db, newest) // somebody newer may have migrated meanwhile
}

// refuseNewer looks before anything is touched. A database without the table of
// versions is empty: the first migration makes it, or says what is wrong.
func refuseNewer(ctx context.Context, db *sql.DB, newest int) error {
	if at, err := schemaVersion(ctx, db); err == nil && at > newest {
		return fmt.Errorf("the database is at version %d and this hodl knows %d: run the newer hodl, or restore a backup of its time", at, newest)
	}
	return nil
}

func apply(ctx context.Context, tx *sql.Tx, m migration, lock func(*sql.Tx) error) error {
	if lock != nil {
		if err := lock(tx); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, `create table if not exists schema_versions (number bigint not null primary key)`); err != nil {
		return err
	}
	var done int
	if err := tx.QueryRowContext(ctx, `select count(*) from schema_versions where number = $1`, m.number).Scan(&done); err != nil || done > 0 {
		return err
	}
	if _, err := tx.ExecContext(ctx, m.text); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `insert into schema_versions (number) values ($1)`, m.number)
	return err
}

func schemaVersion(ctx context.Context, db *sql.DB) (int, error) {
	var at int
	err := db.QueryRowContext(ctx, `select coalesce(max(number), 0) from schema_versions`).Scan(&at)
	return at, err
}
