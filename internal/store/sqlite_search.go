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

// placeAt is the first place of the millisecond of a time: see migration 0003.
func placeAt(t time.Time) int64 { return t.UnixMilli() << 20 }

func (e *sqlite) words(d *query.Document) []string {
	out := make([]string, query.Fields)
	for i, words := range d.Words {
		out[i] = strings.Join(words, " ")
	}
	out[query.Text-1] = strings.Join(append([]string{strings.Join(d.Keys, " "), query.Blank}, d.Words[query.Text-1]...), " ")
	return out
}

// The columns of hodl_words by field.
var sqliteFields = map[query.Field]string{query.URL: "url : ", query.Repository: "repository : ", query.File: "file : ", query.Text: "text : "}

// match is a query in the language of FTS5. Whatever it holds stands in double
// quotes, and no word holds one. NOT has two sides there, so all that is not wanted
// is taken from all that is the owner's, the first clause.
func (e *sqlite) match(q *query.Query) string {
	owner := `"` + q.Clauses[0][0].Words[0] + `"`
	return expression(q, " AND ", " OR ", "("+owner+" NOT ", func(t query.Term) string {
		return sqliteFields[t.Field] + `"` + strings.Join(t.Words, " ") + `"`
	})
}

// search walks the index from the newest place down, and stops when it has enough.
func (e *sqlite) search(f *HodlFilter) (string, []any) {
	from, to := int64(0), endOfTime
	if !f.Since.IsZero() {
		from = placeAt(f.Since)
	}
	if !f.Until.IsZero() {
		to = placeAt(f.Until.Add(time.Millisecond))
	}
	text := `select ` + hodlColumns + ` from hodl_words w cross join hodls h on h.place = w.rowid
		where hodl_words match $1 and w.rowid >= $2 and w.rowid < $3
		and w.rowid < coalesce((select place from hodls where workspace = $4 and mode = $5 and member = $6 and id = $7), $3)
		and h.workspace = $4 and h.mode = $5 and h.member = $6 and h.created_at >= $8 and h.created_at < $9`
	args := []any{e.match(&f.Query), from, to, f.Workspace, f.Mode, f.User, f.Before, micros(f.Since), f.until()}
	if f.Session != "" {
		args = append(args, f.Session)
		text += ` and h.session = $` + strconv.Itoa(len(args))
	}
	args = append(args, micros(f.deletedAfter))
	if f.Query.Deleted {
		text += ` and h.deleted_at > $` + strconv.Itoa(len(args))
	} else {
		text += ` and h.deleted_at = $` + strconv.Itoa(len(args))
	}
	args = append(args, f.Limit)
	return text + ` order by w.rowid desc limit $` + strconv.Itoa(len(args)), args
}

func (e *sqlite) purge(ctx context.Context, tx *sql.Tx, ws hodl.WorkspaceID, before time.Time, most int) (int, error) {
	const expired = ` in (select place from hodls where workspace = $1 and deleted_at > 0 and deleted_at < $2 order by deleted_at, place limit $3)`
	if _, err := tx.ExecContext(ctx, `delete from hodl_words where rowid`+expired, ws, micros(before), most); err != nil {
		return 0, err
	}
	r, err := tx.ExecContext(ctx, `delete from hodls where place`+expired, ws, micros(before), most)
	if err != nil {
		return 0, err
	}
	n, err := r.RowsAffected()
	return int(n), err
}

func (e *sqlite) empty() string { return `x''` }

func (e *sqlite) chores(ctx context.Context, q querier, before time.Time) ([]hodl.WorkspaceID, error) {
	return rowsOf(ctx, q, scanWorkspaceID, `select workspace from hodls where deleted_at > 0 and deleted_at < $1
		union select workspace from hodls where known = x''`, micros(before))
}
