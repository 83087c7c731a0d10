package client

import (
	"context"
	"time"

	"hodl"
)

// RecordPage is a page of access records. Next is empty at the end of the list.
type RecordPage struct {
	Records []hodl.Record `json:"access_records"`
	Next    string        `json:"next_cursor"`
}

// RecordFilter picks access records; a zero field picks all.
type RecordFilter struct {
	Page
	Session hodl.SessionID
	Token   hodl.TokenID
	Actor   string // a key, a user or an audience
	Kind    hodl.RecordKind
	Until   time.Time // only what came before
}

// Records lists access records: GET /v1/access_records.
func (c *Client) Records(ctx context.Context, f RecordFilter) (*RecordPage, error) {
	out, q := &RecordPage{}, f.query()
	set(q, "session_id", f.Session)
	set(q, "jti", f.Token)
	set(q, "actor", f.Actor)
	set(q, "kind", f.Kind)
	setTime(q, "until", f.Until)
	return out, c.do(ctx, call{method: "GET", path: "/v1/access_records", query: q}, out)
}

// Record returns an access record: GET /v1/access_records/{id}.
func (c *Client) Record(ctx context.Context, id hodl.RecordID) (*hodl.Record, error) {
	out := &hodl.Record{}
	return out, c.do(ctx, call{method: "GET", path: "/v1/access_records/" + segment(id)}, out)
}
