package httpapi

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"hodl"
	"hodl/internal/store"
)

type recordListReply struct {
	Body struct {
		Records []*hodl.Record `json:"access_records" doc:"A page of access records"`
		Next    *string        `json:"next_cursor" doc:"Cursor of the next page; null at the end"`
	}
}

type RecordQuery struct {
	Paging
	Session hodl.SessionID  `query:"session_id" doc:"Only records of this session"`
	JTI     hodl.TokenID    `query:"jti" doc:"Only records of this token"`
	Actor   string          `query:"actor" doc:"Only what this key or audience did"`
	Kind    hodl.RecordKind `query:"kind" enum:"mint,exchange,hydrate,continue,unchanged,preview,write,resume,revoke,denied,hand_off,erased" doc:"Only this kind"`
	User    string          `query:"user" doc:"With an admin's key: records of this user's sessions, or all; your own when absent"`
	Until   string          `query:"until" doc:"Only what came before this time (RFC 3339)"`
}

func (q *RecordQuery) filter(p *hodl.Principal) (store.RecordFilter, error) {
	f := store.RecordFilter{Session: q.Session, JTI: q.JTI, Actor: q.Actor, Kind: q.Kind}
	f.Limit = q.limit()
	var err error
	if f.User, err = whose(p, q.User); err != nil {
		return f, err
	}
	if f.Since, err = q.since(); err != nil {
		return f, err
	}
	if f.Until, err = parseTime("until", q.Until); err != nil || q.Cursor == "" {
		return f, err
	}
	parts, err := decodeCursor(q.Cursor, 1)
	switch {
	case err != nil:
	case f.User == "":
		f.BeforeSeq, err = decodeSeq(parts[0])
	default:
		f.BeforeID = parts[0]
	}
	return f, err
}

// decodeSeq reads a place in a log that has records before it.
func decodeSeq(s string) (int64, error) {
	seq, err := strconv.ParseInt(s, 10, 64)
	if err != nil || seq <= 0 {
		return 0, hodl.Invalid("cursor", "is not a next_cursor of this list")
	}
	return seq, nil
}

// nextRecords is the cursor behind a page. A log is paged by place when it is
// everybody's, and by id when it is one user's.
func nextRecords(list []*hodl.Record, f store.RecordFilter) *string {
	if f.User != "" {
		return more(list, f.Limit, func(*hodl.Record) string {
			return encodeCursor(string(slices.MinFunc(list, func(a, b *hodl.Record) int { return cmp.Compare(a.ID, b.ID) }).ID))
		})
	}
	if len(list) > 0 && list[len(list)-1].Seq == 0 {
		return nil
	}
	return more(list, f.Limit, func(r *hodl.Record) string { return encodeCursor(strconv.FormatInt(r.Seq, 10)) })
}

func (s *server) recordList(ctx context.Context, in *RecordQuery) (*recordListReply, error) {
	p := principal(ctx)
	f, err := in.filter(p)
	if err != nil {
		return nil, err
	}
	list, err := s.Store.Records(ctx, p.Workspace, p.Mode, f)
	out := &recordListReply{}
	out.Body.Records = list
	out.Body.Next = nextRecords(list, f)
	return out, err
}

// RecordPath names an access record.
type RecordPath struct {
	ID hodl.RecordID `path:"id" doc:"The record's id"`
}

// recordOf returns a record that the caller may see.
func (s *server) recordOf(ctx context.Context, in *RecordPath) (*hodl.Record, error) {
	p := principal(ctx)
	user := p.User
	if p.Role == hodl.Admin {
		user = "" // a record holds no content
	}
	return s.Store.Record(ctx, p.Workspace, p.Mode, user, in.ID)
}

type recordReply struct {
	Receipt string `header:"Hodl-Receipt" doc:"Proof that the record is in the log (c2sp.org/tlog-proof), in base64url"`
	Body    *hodl.Record
}

func (s *server) recordGet(ctx context.Context, in *RecordPath) (*recordReply, error) {
	r, err := s.recordOf(ctx, in)
	if err != nil {
		return nil, err
	}
	receipt, err := s.Store.Receipt(ctx, r.Workspace, r.Mode, r.Seq)
	if err != nil {
		return nil, err
	}
	return &recordReply{asHeader(receipt.String()), r}, nil
}
