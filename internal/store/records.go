package store

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"hodl"
	"hodl/internal/ledger"
)

// A RecordFilter picks access records.
type RecordFilter struct {
	User    hodl.UserID // empty for any, which is for admins, as the next four
	Session hodl.SessionID
	JTI     hodl.TokenID
	Actor   string
	Kind    hodl.RecordKind
	Until   time.Time // none at or after it; zero for no end
	Page
	BeforeSeq int64 // of anybody's: the last record of the page before; 0 for the first page
}

func scanRecord(row scanner) (*hodl.Record, error) {
	var body string
	if err := row.Scan(&body); err != nil {
		return nil, err
	}
	r := &hodl.Record{}
	return r, wrap(json.Unmarshal([]byte(body), r), "read access record")
}

// Records lists access records, newest first. Ids sort by time, so a page ends at its
// least id; within a page records stand by their place in the log.
func (s *Store) Records(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, f RecordFilter) ([]*hodl.Record, error) {
	query := `select body from access_records where workspace = $1 and mode = $2`
	args := []any{ws, m}
	and := func(condition string, given bool, value any) {
		if given {
			args = append(args, value)
			query += " and " + condition + " $" + strconv.Itoa(len(args))
		}
	}
	and("member =", f.User != "", f.User)
	and("session =", f.Session != "", f.Session)
	and("jti =", f.JTI != "", f.JTI)
	and("actor =", f.Actor != "", f.Actor)
	and("kind =", f.Kind != "", f.Kind)
	and("at >=", !f.Since.IsZero(), micros(f.Since))
	and("at <", !f.Until.IsZero(), micros(f.Until))
	and("id <", f.BeforeID != "", f.BeforeID)
	and("seq <", f.BeforeSeq > 0, f.BeforeSeq)
	order := " order by id desc limit $"
	if f.User == "" {
		order = " order by seq desc limit $" // the order in which a log lies
	}
	args = append(args, f.Limit)
	query += order + strconv.Itoa(len(args))
	var out []*hodl.Record
	err := s.view(ctx, ws, func(q querier) (err error) {
		out, err = rowsOf(ctx, q, func(row *sql.Rows) (*hodl.Record, error) { return scanRecord(row) }, query, args...)
		return err
	})
	slices.SortFunc(out, func(a, b *hodl.Record) int { return cmp.Compare(b.Seq, a.Seq) })
	return out, err
}

// Record returns an access record of user, of anybody if user is empty.
func (s *Store) Record(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, id hodl.RecordID) (*hodl.Record, error) {
	var out *hodl.Record
	err := s.view(ctx, ws, func(q querier) (err error) {
		out, err = scanRecord(q.QueryRowContext(ctx, `select body from access_records
			where workspace = $1 and mode = $2 and id = $3
			and member in (select id from members where workspace = $1 and ($4 = '' or id = $4))`, ws, m, id, user))
		return err
	})
	return out, missing(err, "access record", id)
}

// Used returns the hydrations of a workspace in a month, as counted against its
// quota.
func (s *Store) Used(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, month string) (int64, error) {
	var used int64
	err := s.view(ctx, ws, func(q querier) error {
		_, err := found(q.QueryRowContext(ctx, sqliteLoadUsage, ws, m, month).Scan(&used))
		return err
	})
	return used, err
}

// A LogRow is a record as its log has it.
type LogRow struct {
	Seq        int64
	Commitment []byte
	Body       string // canonical JSON; "" for another person's
	Salt       []byte // nil for another person's, and when it was erased
	Misfiled   string // the column that says otherwise than the body, "" when none does
}

// LogRows reads a part of a log in its order, with the records of user, of
// everybody if user is empty.
func (s *Store) LogRows(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, span ledger.Span) ([]LogRow, error) {
	return s.logRows(ctx, ws, m, user, `r.seq >= $3 and r.seq < $4`, span.From, span.To)
}

// StrayLogRows reads the records that the head of their log does not count: nobody
// makes one but past hodl.
func (s *Store) StrayLogRows(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID) ([]LogRow, error) {
	return s.logRows(ctx, ws, m, user, `(r.seq < 0 or r.seq >= (select h.size from log_heads h where h.workspace = r.workspace and h.mode = r.mode))`)
}

func (s *Store) logRows(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, where string, args ...any) ([]LogRow, error) {
	var out []LogRow
	err := s.view(ctx, ws, func(q querier) (err error) {
		out, err = rowsOf(ctx, q, func(row *sql.Rows) (r LogRow, err error) {
			var filed hodl.Record
			var at int64
			err = row.Scan(&r.Seq, &filed.ID, &filed.Kind, &filed.User, &filed.Session, &filed.JTI, &filed.Actor, &at, &r.Commitment, &r.Body, &r.Salt)
			if err == nil && user != "" && filed.User != user {
				return LogRow{Seq: r.Seq, Commitment: r.Commitment}, nil
			}
			filed.At = timeOf(at)
			r.Misfiled = misfiled(&filed, r.Body)
			return r, err
		}, `select r.seq, r.id, r.kind, r.member, r.session, r.jti, r.actor, r.at, r.commitment, r.body, d.salt from access_records r
			left join access_details d on d.workspace = r.workspace and d.mode = r.mode and d.seq = r.seq
			where r.workspace = $1 and r.mode = $2 and `+where+` order by r.seq`, append([]any{ws, m}, args...)...)
		return err
	})
	return out, err
}

// misfiled returns the column by which a record is found elsewhere than its body
// says. What the body is itself is for its commitment to tell.
func misfiled(filed *hodl.Record, body string) string {
	var said hodl.Record
	if json.Unmarshal([]byte(body), &said) != nil {
		return ""
	}
	for _, c := range []struct {
		column string
		same   bool
	}{
		{"id", filed.ID == said.ID},
		{"kind", filed.Kind == said.Kind},
		{"member", filed.User == said.User},
		{"session", filed.Session == said.Session},
		{"jti", filed.JTI == said.JTI},
		{"actor", filed.Actor == said.Actor},
		{"at", filed.At.Equal(said.At)},
	} {
		if !c.same {
			return c.column
		}
	}
	return ""
}
