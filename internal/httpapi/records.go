package httpapi

import (
	"cmp"
	"context"
	"slices"

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
	Kind    hodl.RecordKind `query:"kind" enum:"mint,exchange,hydrate,write,resume,revoke,denied,hand_off" doc:"Only this kind"`
	Until   string          `query:"until" doc:"Only what came before this time (RFC 3339)"`
}

func (q *RecordQuery) filter(user hodl.UserID) (store.RecordFilter, error) {
	f := store.RecordFilter{User: user, Session: q.Session, JTI: q.JTI, Actor: q.Actor, Kind: q.Kind}
	f.Limit = q.limit()
	var err error
	if f.Since, err = q.since(); err != nil {
		return f, err
	}
	if f.Until, err = parseTime("until", q.Until); err != nil || q.Cursor == "" {
		return f, err
	}
	parts, err := decodeCursor(q.Cursor, 1)
	if err == nil {
		f.BeforeID = parts[0]
	}
	return f, err
}

func (s *server) recordList(ctx context.Context, in *RecordQuery) (*recordListReply, error) {
	p := principal(ctx)
	f, err := in.filter(p.User)
	if err != nil {
		return nil, err
	}
	list, err := s.Store.Records(ctx, p.Workspace, p.Mode, f)
	out := &recordListReply{}
	out.Body.Records = list
	out.Body.Next = more(list, f.Limit, func(*hodl.Record) string {
		return encodeCursor(string(slices.MinFunc(list, func(a, b *hodl.Record) int { return cmp.Compare(a.ID, b.ID) }).ID))
	})
	return out, err
}

func (s *server) recordGet(ctx context.Context, in *struct {
	ID hodl.RecordID `path:"id" doc:"The record's id"`
},
) (*struct{ Body *hodl.Record }, error) {
	p := principal(ctx)
	r, err := s.Store.Record(ctx, p.Workspace, p.Mode, p.User, in.ID)
	return &struct{ Body *hodl.Record }{r}, err
}
