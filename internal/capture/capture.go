// Package capture turns what clients send into hodls and session versions: it
// checks a draft, merges it with what must survive, names the result by its
// fingerprint and hands it to the store.
package capture

import (
	"context"
	"errors"
	"time"

	"hodl"
	"hodl/internal/store"
)

// Store is what capturing needs of storage.
type Store interface {
	Session(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, id hodl.SessionID) (*hodl.Session, error)
	SessionStanding(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, id hodl.SessionID) (*store.SessionState, error)
	Version(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, id hodl.SessionID, fingerprint string) (*store.VersionBody, error)
	PutSession(ctx context.Context, w store.SessionWrite) error
	MoveSession(ctx context.Context, t store.Transition) error
	DeleteSession(ctx context.Context, t store.Transition) error
	Hodl(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, id hodl.HodlID) (*hodl.Hodl, error)
	HodlsByID(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, ids []hodl.HodlID) ([]*hodl.Hodl, error)
	SessionHodls(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, id hodl.SessionID) ([]*hodl.Hodl, error)
	PutHodl(ctx context.Context, w store.HodlWrite) error
	PutHodls(ctx context.Context, list []store.HodlWrite) []error
	DeletedHodl(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, id hodl.HodlID) (*hodl.Hodl, error)
	HodlsThere(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, all []hodl.Hodl) ([]bool, error)
	Now() time.Time
	NewID(prefix string) string
}

// A Service captures. It is safe for concurrent use.
type Service struct {
	// Captured, if there is one, is told of every version of a session that was
	// captured, once it is kept. It must not wait, nor change the content.
	Captured func(ws hodl.WorkspaceID, id hodl.SessionID, c *hodl.Content)
	// Number, if there is one, tells the numbers that placeholders keep after a version,
	// hashed under salt, for the version after it.
	Number func(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, old *store.VersionBody, salt []byte) map[string][]uint64

	store Store
	ids   hodl.IDs // for what was captured long ago
}

// New returns a Service over a store.
func New(s Store) *Service { return &Service{store: s} }

// attempts is how often a capture is merged anew when the session changes under
// it. Each failure means that somebody else's write succeeded.
const attempts = 16

// again runs try until it no longer fails for staleness. A caller who named the
// version it expects is told at once instead.
func again(ifMatch string, try func() error) error {
	var err error
	for range attempts {
		if err = try(); ifMatch != "" && ifMatch != hodl.AnyVersion || !errors.Is(err, &hodl.Error{Code: hodl.Stale}) {
			return err
		}
	}
	return err
}

// Who did it and from where, for the access record of an operation that leaves one.
type Caller struct {
	*hodl.Principal
	Detail hodl.RecordDetail
}

// Move makes a transition of a session and returns the session after it. Those that
// concern agents leave an access record: a person's resume, and the archiving that
// ends tokens.
func (s *Service) Move(ctx context.Context, c Caller, id hodl.SessionID, op hodl.Operation) (*hodl.Session, error) {
	var out *hodl.Session
	err := again("", func() (err error) {
		if out, err = s.store.Session(ctx, c.Workspace, c.Mode, c.User, id); err != nil {
			return err
		}
		out.State = op.Reaches()
		store.Result(ctx, out)
		return s.store.MoveSession(ctx, s.moving(c, out, op))
	})
	return out, err
}

func (s *Service) moving(c Caller, x *hodl.Session, op hodl.Operation) store.Transition {
	t := s.transition(c, x.ID, op)
	t.Expect = x.Fingerprint
	switch op {
	case hodl.OpResume:
		t.Record = s.record(c, &t, hodl.KindResume, "")
	case hodl.OpArchive:
		t.Record = s.record(c, &t, hodl.KindRevoke, "session archived")
	}
	return t
}

// Delete erases a session's content and ends its tokens; its access records stay.
func (s *Service) Delete(ctx context.Context, c Caller, id hodl.SessionID) error {
	t := s.transition(c, id, "delete")
	t.Record = s.record(c, &t, hodl.KindRevoke, "session deleted")
	return s.store.DeleteSession(ctx, t)
}

func (s *Service) transition(c Caller, id hodl.SessionID, op hodl.Operation) store.Transition {
	return store.Transition{Workspace: c.Workspace, Mode: c.Mode, User: c.User, ID: id, Op: op, At: s.store.Now(), Detail: c.Detail}
}

func (s *Service) record(c Caller, t *store.Transition, kind hodl.RecordKind, reason string) *hodl.Record {
	return &hodl.Record{
		ID: hodl.RecordID(s.store.NewID("acr")), Kind: kind, At: t.At, Actor: string(c.Key), Reason: reason,
		Workspace: c.Workspace, Mode: c.Mode, User: c.User, Session: t.ID,
	}
}
