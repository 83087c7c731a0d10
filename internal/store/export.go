package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hodl"
)

// A Table is one that holds what a backup must hold: not what the engine derives
// from others, such as an index of words.
type Table struct {
	Name    string   `json:"name"`
	Columns []Column `json:"columns"`
}

// A Column of a table. Kind is text, integer, real or bytes, whatever the engine.
type Column struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
}

var kinds = map[string]string{
	"text": "text", "bigint": "integer", "integer": "integer", "bytea": "bytes", "blob": "bytes", "double precision": "real", "real": "real",
}

// derived is what the server makes anew of the rest (see [Store.Chores]), each engine in
// its own way: of a table, the columns, or all of it.
var derived = map[string][]string{"hodl_words": {"*"}, "hodl_tags": {"*"}, "hodls": {"place", "known"}, "outbox": {"place"}}

func isDerived(table, column string) bool { return slices.Contains(derived[table], column) }

// migrationTable is made by the migrations themselves.
const migrationTable = "schema_versions"

// Tables lists every table, those that others refer to before those.
func (s *Snapshot) Tables(ctx context.Context) ([]Table, error) { return tablesOf(ctx, s.tx, s.pg) }

// A table is made after those it refers to, so the order of making is the one.
func tablesOf(ctx context.Context, q querier, pg bool) ([]Table, error) {
	list := `select t.name from pragma_table_list t join sqlite_schema s on s.name = t.name
		where t.schema = 'main' and t.type = 'table' and t.name not like 'sqlite\_%' escape '\' and s.type = 'table' order by s.rowid`
	columns := `select name, lower(type) from pragma_table_xinfo($1) where hidden = 0 order by cid`
	if pg {
		list = `select relname::text from pg_class where relkind = 'r' and relnamespace = (select relnamespace from pg_class where oid = to_regclass('workspaces')) order by oid`
		columns = `select attname::text, format_type(atttypid, null) from pg_attribute
			where attrelid = to_regclass($1) and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`
	}
	names, err := rowsOf(ctx, q, scanText, list)
	if err != nil {
		return nil, wrap(err, "list the tables")
	}
	var out []Table
	for _, name := range names {
		if name == migrationTable || isDerived(name, "*") {
			continue
		}
		t := Table{Name: name}
		t.Columns, err = rowsOf(ctx, q, func(row *sql.Rows) (Column, error) {
			var c Column
			var declared string
			err := row.Scan(&c.Name, &declared)
			if c.Kind = kinds[declared]; err == nil && c.Kind == "" && !isDerived(name, c.Name) {
				err = fmt.Errorf("%s.%s is of type %s, which a backup cannot hold", name, c.Name, declared)
			}
			return c, err
		}, columns, name)
		if err != nil {
			return nil, err
		}
		t.Columns = slices.DeleteFunc(t.Columns, func(c Column) bool { return isDerived(name, c.Name) })
		out = append(out, t)
	}
	return out, nil
}

func (t *Table) names() string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = `"` + c.Name + `"`
	}
	return strings.Join(names, ", ")
}

func (t *Table) has(column string) bool {
	return slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Name == column })
}

// EachRow hands over every row of a table: string, int64, float64, []byte or nil for
// each column. The slice is used again for the next row.
func (s *Snapshot) EachRow(ctx context.Context, t Table, take func(row []any) error) error {
	query := `select ` + t.names() + ` from "` + t.Name + `"`
	if !s.pg || !t.has("workspace") {
		return s.rows(ctx, t, take, query)
	}
	all, err := s.Workspaces(ctx)
	if err != nil {
		return err
	}
	const most = 100
	for some := range slices.Chunk(all, most) {
		if err := s.within(ctx, some...); err != nil {
			return err
		}
		if err := s.rows(ctx, t, take, query+` where workspace = any ($1)`, texts(some)); err != nil {
			return err
		}
	}
	return nil
}

func texts(list []hodl.WorkspaceID) []string {
	out := make([]string, len(list))
	for i, ws := range list {
		out[i] = string(ws)
	}
	return out
}

func (s *Snapshot) rows(ctx context.Context, t Table, take func([]any) error, query string, args ...any) error {
	rows, err := s.tx.QueryContext(ctx, query, args...)
	if err != nil {
		return wrap(err, "read %s", t.Name)
	}
	defer rows.Close()
	values, places := make([]any, len(t.Columns)), make([]any, len(t.Columns))
	for i := range values {
		places[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			return wrap(err, "read %s", t.Name)
		}
		if err := take(values); err != nil {
			return err
		}
	}
	return wrap(rows.Err(), "read %s", t.Name)
}

// A Loader fills the tables of a database that is being restored.
type Loader struct {
	tx     *sql.Tx
	tables map[string]Table
	table  Table
	wait   []any // values of rows not yet written
}

// most is how many values one statement takes.
const loadMost = 900

// Add adds a row, whose values stand in the order of t's columns. Rows of one table
// follow each other.
func (l *Loader) Add(ctx context.Context, t Table, row []any) error {
	if l.table.Name != t.Name {
		if err := l.begin(ctx, t); err != nil {
			return err
		}
	}
	l.wait = append(l.wait, row...)
	if len(l.wait)+len(row) > loadMost {
		return l.flush(ctx)
	}
	return nil
}

// begin refuses what this database has no place for.
func (l *Loader) begin(ctx context.Context, t Table) error {
	if err := l.flush(ctx); err != nil {
		return err
	}
	there, ok := l.tables[t.Name]
	if !ok {
		return fmt.Errorf("there is no table %s here", t.Name)
	}
	for _, c := range t.Columns {
		if !slices.Contains(there.Columns, c) {
			return fmt.Errorf("%s has no column %s of kind %s here", t.Name, c.Name, c.Kind)
		}
	}
	l.table = t
	return nil
}

func (l *Loader) flush(ctx context.Context) error {
	if len(l.wait) == 0 {
		return nil
	}
	width := len(l.table.Columns)
	var b strings.Builder
	b.WriteString(`insert into "` + l.table.Name + `" (` + l.table.names() + `) values `)
	for i := range l.wait {
		switch {
		case i == 0:
			b.WriteString("(")
		case i%width == 0:
			b.WriteString("), (")
		default:
			b.WriteString(", ")
		}
		b.WriteString("$" + strconv.Itoa(i+1))
	}
	b.WriteString(")")
	_, err := l.tx.ExecContext(ctx, b.String(), l.wait...)
	clear(l.wait)
	l.wait = l.wait[:0]
	return wrap(err, "fill %s", l.table.Name)
}
