package store_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hodl/internal/store"
)

// A database of every version there was, with rows in its tables, is brought forward
// by one, and no row is lost or changed. On SQLite, where some tables are made anew.
func TestMigrationsKeepRows(t *testing.T) {
	full := newSQLite(t).Options
	x := open(t, full)
	for _, token := range x.manyTokens(t, 20, 3) {
		must(t, x.hydrateFull(token))
		must(t, x.PutHodl(t.Context(), x.prose("some words")))
	}
	must(t, x.Close())
	through, err := store.MigrateSQLite(t.Context(), emptySQLite(t), 1<<30)
	must(t, err)
	moved := 0
	for i, next := range through[1:] {
		db := emptySQLite(t)
		_, err := store.MigrateSQLite(t.Context(), db, through[i])
		must(t, err)
		fillFrom(t, db, full.Dir)
		before := columnsOf(t, db)
		held := map[string][]string{}
		for table := range before {
			held[table] = rowsOf(t, db, table, before[table])
			moved += len(held[table])
		}
		_, err = store.MigrateSQLite(t.Context(), db, next)
		must(t, err)
		for table, columns := range before {
			if diff := cmp.Diff(held[table], rowsOf(t, db, table, columns)); diff != "" {
				t.Errorf("version %d, %s (-before +after):\n%s", next, table, diff)
			}
		}
		must(t, db.Close())
	}
	if moved < 100*len(through) {
		t.Errorf("%d rows in all %d versions: what was to be kept?", moved, len(through))
	}
}

func emptySQLite(t *testing.T) *sql.DB {
	t.Helper()
	db := raw(t, t.TempDir())
	db.SetMaxOpenConns(1) // an attached database is its connection's
	return db
}

// fillFrom copies what the tables of db can hold of the database in dir.
func fillFrom(t *testing.T, db *sql.DB, dir string) {
	t.Helper()
	_, err := db.Exec(`attach ? as newest`, filepath.Join(dir, "hodl.db"))
	must(t, err)
	for table, columns := range columnsOf(t, db) {
		columns = slices.DeleteFunc(columns, func(c string) bool {
			var n int
			must(t, db.QueryRow(`select count(*) from newest.pragma_table_info(?) where name = ?`, table, c).Scan(&n))
			return n == 0
		})
		if len(columns) > 0 {
			list := strings.Join(columns, ", ")
			_, err := db.Exec(fmt.Sprintf(`insert or ignore into main.%s (%s) select %s from newest.%s`, table, list, list, table))
			must(t, err)
		}
	}
	_, err = db.Exec(`detach newest`)
	must(t, err)
}

// columnsOf lists the columns of each table that holds what nobody could make again:
// the index of words and what finds a hodl again are made from the hodls.
func columnsOf(t *testing.T, db *sql.DB) map[string][]string {
	t.Helper()
	list, err := db.Query(`select t.name, c.name from main.sqlite_schema t join pragma_table_info(t.name) c
		where t.type = 'table' and t.name not like 'hodl!_%' escape '!' and t.name not in ('schema_versions', 'sqlite_sequence', 'sqlite_stat1') and c.name <> 'known'
		order by t.name, c.cid`)
	must(t, err)
	defer list.Close()
	out := map[string][]string{}
	for list.Next() {
		var table, column string
		must(t, list.Scan(&table, &column))
		out[table] = append(out[table], column)
	}
	must(t, list.Err())
	return out
}

// rowsOf reads the rows of a table in one order, whatever that of the table is.
func rowsOf(t *testing.T, db *sql.DB, table string, columns []string) (out []string) {
	t.Helper()
	list, err := db.Query(`select json_array(` + "quote(" + strings.Join(columns, "), quote(") + ")" + `) as whole from ` + table + ` order by whole`)
	must(t, err)
	defer list.Close()
	for list.Next() {
		var row string
		must(t, list.Scan(&row))
		out = append(out, row)
	}
	must(t, list.Err())
	return out
}
