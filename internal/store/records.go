package store

import (
	"context"
	"database/sql"

	"github.com/go-json-experiment/json"

	"hodl"
)

// A RecordFilter picks access records of one user.
type RecordFilter struct {
	User    hodl.UserID
	Session hodl.SessionID // empty for any, as the next three
	JTI     hodl.TokenID
	Actor   string
	Kind    hodl.RecordKind
	Page           // BeforeSeq stands in for its cursor
	Until   int64  // Unix microseconds; 0 for no end
	Before  *int64 // seq of the last record of the page before
}

func scanRecord(row scanner) (*hodl.Record, error) {
	var body string
	if err := row.Scan(&body); err != nil {
		return nil, err
	}
	r := &hodl.Record{}
	return r, wrap(json.Unmarshal([]byte(body), r), "read access record")
}

// Records lists access records, newest first.
func (s *Store) Records(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, f RecordFilter) ([]*hodl.Record, error) {
	before, until := endOfTime, endOfTime
	if f.Before != nil {
		before = *f.Before
	}
	if f.Until != 0 {
		until = f.Until
	}
	var out []*hodl.Record
	err := s.view(ctx, ws, func(q querier) (err error) {
		out, err = rowsOf(ctx, q, func(row *sql.Rows) (*hodl.Record, error) { return scanRecord(row) },
			`select body from access_records where workspace = $1 and mode = $2 and member = $3 and seq < $4
			and ($5 = '' or session = $5) and ($6 = '' or jti = $6) and ($7 = '' or actor = $7) and ($8 = '' or kind = $8)
			and at >= $9 and at < $10 order by seq desc limit $11`,
			ws, m, f.User, before, f.Session, f.JTI, f.Actor, f.Kind, micros(f.Since), until, f.Limit)
		return err
	})
	return out, err
}

// Record returns an access record of user.
func (s *Store) Record(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, id hodl.RecordID) (*hodl.Record, error) {
	var out *hodl.Record
	err := s.view(ctx, ws, func(q querier) (err error) {
		out, err = scanRecord(q.QueryRowContext(ctx, `select body from access_records
			where workspace = $1 and mode = $2 and id = $3 and member = $4`, ws, m, id, user))
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
