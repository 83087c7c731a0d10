package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"hodl"
	"hodl/internal/query"
)

// hodlEngine is what the engines do differently about hodls.
type hodlEngine interface {
	// words writes a document as the engine indexes it: one text for each column.
	words(d *query.Document) []string
	// search lists what fits the words of a query, newest first. It returns the
	// statement and its arguments.
	search(f *HodlFilter) (string, []any)
	// purge erases up to most hodls of a workspace that were deleted before a time.
	purge(ctx context.Context, tx *sql.Tx, ws hodl.WorkspaceID, before time.Time, most int) (int, error)
	// empty is how the engine writes a value of no bytes.
	empty() string
	// chores lists the workspaces with hodls to purge or to index.
	chores(ctx context.Context, q querier, before time.Time) ([]hodl.WorkspaceID, error)
}

// A HodlFilter asks for a part of the hodls of one user.
type HodlFilter struct {
	Workspace hodl.WorkspaceID
	Mode      hodl.Mode
	User      hodl.UserID
	Query     query.Query // the zero value finds all
	Session   hodl.SessionID
	Since     time.Time // none before it; zero for all
	Until     time.Time // none at or after it; zero for all
	Before    hodl.HodlID
	Limit     int

	deletedAfter time.Time // set with Query.Deleted
}

// Hodls lists hodls, newest first. Ids sort by time, so the cursor is an id.
func (s *Store) Hodls(ctx context.Context, f HodlFilter) ([]*hodl.Hodl, error) {
	f.Before = cmp.Or(f.Before, lastHodl)
	if f.Since = later(f.Since, f.Query.After); !f.Query.Before.IsZero() && (f.Until.IsZero() || f.Query.Before.Before(f.Until)) {
		f.Until = f.Query.Before
	}
	if f.Query.Deleted {
		f.deletedAfter = s.undoable()
	}
	if f.Query.Empty() {
		text, args := f.list()
		return s.hodls(ctx, f.Workspace, f.Mode, text, args...)
	}
	f.Query.Clauses = f.Query.Of(query.OwnerKey(f.Workspace, f.Mode, f.User))
	text, args := s.engine.search(&f)
	return s.hodls(ctx, f.Workspace, f.Mode, text, args...)
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// until is Until as the engines compare it.
func (f *HodlFilter) until() int64 {
	if f.Until.IsZero() {
		return endOfTime
	}
	return micros(f.Until)
}

// from and to are the bounds in time as bounds of the id, so that an index skips what
// is outside. They are a minute wider, for an id may be a little older than the time.
func (f *HodlFilter) from() hodl.HodlID {
	if f.Since.IsZero() {
		return "hdl_"
	}
	return hodl.HodlID(hodl.LowestID("hdl", f.Since.Add(-time.Minute)))
}

func (f *HodlFilter) to() hodl.HodlID {
	if f.Until.IsZero() {
		return lastHodl
	}
	return hodl.HodlID(hodl.LowestID("hdl", f.Until.Add(time.Minute)))
}

// lastHodl sorts after every id the server makes, in any collation.
const lastHodl = "hdl_z"

// list is the query for hodls whose words do not matter. It names no bound that was
// not asked for: PostgreSQL, which does not look at the values of a plan that it
// keeps, would take two bounds for a small part, and sort all there is for a page.
func (f *HodlFilter) list() (string, []any) {
	text := `select ` + hodlColumns + ` from hodls h where workspace = $1 and mode = $2 and member = $3`
	args := []any{f.Workspace, f.Mode, f.User}
	where := func(condition string, value any) {
		args = append(args, value)
		text += fmt.Sprintf(condition, len(args))
	}
	if !f.Since.IsZero() {
		where(` and id >= $%d`, f.from())
		where(` and created_at >= $%d`, micros(f.Since))
	}
	if !f.Until.IsZero() {
		where(` and created_at < $%d`, f.until())
	}
	if before := min(f.Before, f.to()); before != lastHodl {
		where(` and id < $%d`, before)
	}
	if f.Session != "" {
		where(` and session = $%d and session <> ''`, f.Session)
	}
	if f.Query.Deleted {
		where(` and deleted_at > 0 and deleted_at > $%d`, micros(f.deletedAfter))
	} else {
		text += ` and deleted_at = 0`
	}
	where(` order by id desc limit $%d`, f.Limit)
	return text, args
}

// A Tag is a label and how many hodls of one user carry it.
type Tag struct {
	Tag   string `json:"tag" doc:"The label, as it is written"`
	Hodls int64  `json:"hodls" doc:"How many hodls carry it"`
}

// Tags lists the tags of user that begin with prefix and come after a tag, in the
// order of their bytes.
func (s *Store) Tags(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, prefix, after string, limit int) ([]Tag, error) {
	var out []Tag
	err := s.glance(ctx, ws, func(q querier) (err error) {
		out, err = rowsOf(ctx, q, func(row *sql.Rows) (t Tag, err error) { return t, row.Scan(&t.Tag, &t.Hodls) },
			`select tag, hodls from hodl_tags where workspace = $1 and mode = $2 and member = $3 and tag >= $4 and tag < $5 and tag > $6 and hodls > 0
			order by tag limit $7`, ws, m, user, prefix, prefix+string(utf8.MaxRune), after, limit)
		return err
	})
	return out, err
}

// expression joins the clauses of a query: all, any and not are how the engine
// writes them, spell how it writes a term.
func expression(q *query.Query, all, any, not string, spell func(query.Term) string) string {
	clauses := make([]string, len(q.Clauses))
	for i, c := range q.Clauses {
		terms := make([]string, len(c))
		for j, t := range c {
			if terms[j] = spell(t); t.Not {
				terms[j] = not + terms[j] + ")"
			}
		}
		clauses[i] = "(" + strings.Join(terms, any) + ")"
	}
	return strings.Join(clauses, all)
}
