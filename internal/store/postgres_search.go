package store

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
	"time"

	"hodl"
	"hodl/internal/query"
)

// The weights of hodl_words by field.
var postgresFields = map[query.Field]string{query.URL: "A", query.Repository: "B", query.File: "C", query.Text: "D"}

// words writes a tsvector with its places: the cutting is done, and PostgreSQL's own
// parser would find other words than SQLite's.
func (e *postgres) words(d *query.Document) []string {
	places := map[string][]string{}
	at := 0
	for i, words := range d.Words {
		weight := postgresFields[query.Field(i+1)]
		for _, w := range words {
			if at++; w != query.Blank {
				places[w] = append(places[w], strconv.Itoa(at)+weight)
			}
		}
		at++ // no phrase crosses from field to field
	}
	var b strings.Builder
	for _, k := range d.Keys {
		b.WriteString("'" + k + "' ")
	}
	for w, at := range places {
		b.WriteString("'" + w + "':" + strings.Join(at, ",") + " ")
	}
	return []string{b.String()}
}

// match is a query as a tsquery. Whatever it holds stands in quotes, and no word
// holds one.
func (e *postgres) match(q *query.Query) string {
	return expression(q, " & ", " | ", "!(", func(t query.Term) string {
		weight := ""
		if t.Field != query.Any {
			weight = ":" + postgresFields[t.Field]
		}
		words := make([]string, len(t.Words))
		for i, w := range t.Words {
			words[i] = "'" + w + "'" + weight
		}
		return "(" + strings.Join(words, " <-> ") + ")"
	})
}

func (e *postgres) search(f *HodlFilter) (string, []any) {
	return `select ` + hodlColumns + ` from hodl_search($1, $2, $3, $4::tsquery, $5, $6, $7, $8, $9, $10, $11) found (id)
			cross join lateral (select * from hodls h where h.workspace = $1 and h.mode = $2 and h.member = $3 and h.id = found.id offset 0) h
			order by h.id desc`,
		[]any{f.Workspace, f.Mode, f.User, e.match(&f.Query), f.from(), min(f.Before, f.to()), micros(f.Since), f.until(), f.Session, micros(f.deletedAfter), f.Limit}
}

func (e *postgres) purge(ctx context.Context, tx *sql.Tx, ws hodl.WorkspaceID, before time.Time, most int) (int, error) {
	r, err := tx.ExecContext(ctx, `with expired as (
			select workspace, mode, member, id from hodls where workspace = $1 and deleted_at > 0 and deleted_at < $2
			order by deleted_at limit $3 for update skip locked),
		words as (delete from hodl_words w using expired x where w.workspace = x.workspace and w.mode = x.mode and w.member = x.member and w.hodl = x.id)
		delete from hodls h using expired x where h.workspace = x.workspace and h.mode = x.mode and h.member = x.member and h.id = x.id`, ws, micros(before), most)
	if err != nil {
		return 0, err
	}
	n, err := r.RowsAffected()
	return int(n), err
}

func (e *postgres) empty() string { return `''::bytea` }

func (e *postgres) chores(ctx context.Context, q querier, before time.Time) ([]hodl.WorkspaceID, error) {
	return rowsOf(ctx, q, scanWorkspaceID, `select hodl_chores($1)`, micros(before))
}
