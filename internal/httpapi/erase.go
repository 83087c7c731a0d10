package httpapi

import (
	"context"
	"time"

	"hodl"
	"hodl/internal/store"
)

type erasedReply struct {
	Body struct {
		User     hodl.UserID `json:"user_id" doc:"The person"`
		DryRun   bool        `json:"dry_run" doc:"Whether nothing was erased"`
		Sessions int64       `json:"sessions" doc:"Sessions with all their versions"`
		Hodls    int64       `json:"hodls" doc:"Hodls"`
		Details  int64       `json:"details" doc:"Access records that lose address, user agent and salt"`
		Records  int64       `json:"records" doc:"Access records that stay, as the log's proofs need them; they name the person by id alone"`
		Remains  []string    `json:"remains" doc:"Where else there may still be something of the person, and until when"`
	}
}

// remains is what an erasure cannot reach.
var remains = []string{
	"backups written before: until they are deleted; to restore one brings the person back, and the log's next checkpoint tells of a rollback",
	"answers kept for Idempotency-Key: sealed, for 24 hours",
	"the database's own files: until it has used the space again (SQLite: vacuum; PostgreSQL: vacuum, and its write-ahead log)",
	"what agents received: the access records tell which",
}

func (s *server) memberErase(ctx context.Context, in *struct {
	MemberPath
	Body struct {
		DryRun *bool  `json:"dry_run,omitempty" doc:"false to erase; when true or absent, the answer tells what would go"`
		Reason string `json:"reason,omitempty" doc:"Why; it stands in the access record, so name nobody"`
	}
},
) (*erasedReply, error) {
	p, err := adminOf(ctx)
	if err == nil {
		err = hodl.CheckReason(in.Body.Reason)
	}
	if err == nil && p.Mode != hodl.Live {
		err = hodl.Errorf(hodl.Forbidden, "a sandbox key erases nobody").WithHint("use an admin's live key")
	}
	if err != nil {
		return nil, err
	}
	now, key := s.Store.Now().Truncate(time.Microsecond), string(p.Key)
	e := store.Erasure{
		Workspace: p.Workspace, User: in.ID, Dry: in.Body.DryRun == nil || *in.Body.DryRun, Detail: detail(ctx),
		Record: func(m hodl.Mode) *hodl.Record {
			return &hodl.Record{ID: hodl.RecordID(s.Store.NewID("acr")), Kind: hodl.KindErased, At: now, Actor: key, Reason: in.Body.Reason, Workspace: p.Workspace, Mode: m, User: in.ID}
		},
	}
	// A repetition finds nothing left to erase, and says so.
	gone, err := s.Store.EraseUser(store.WithOnce(ctx, nil), e)
	return answer(ctx, func(x *store.Erased) *erasedReply {
		out := &erasedReply{}
		b := &out.Body
		b.User, b.DryRun, b.Remains = in.ID, e.Dry, remains
		b.Sessions, b.Hodls, b.Details, b.Records = x.Sessions, x.Hodls, x.Details, x.Records
		return out
	})(gone, err)
}
