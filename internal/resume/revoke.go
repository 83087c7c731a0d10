package resume

import (
	"context"

	"hodl"
	"hodl/internal/store"
)

// RevokeAll ends every token of a subject that was minted before, and all that came
// from them, in the caller's mode, or the key's when a key is the subject. A session
// must be the caller's own, a key or a user the caller's own too; an admin may name
// any of the workspace, and the workspace itself. It refuses with
// [hodl.ValidationFailed], [hodl.NotFound] and [hodl.Forbidden].
func (s *Service) RevokeAll(ctx context.Context, c Caller, v hodl.Revocation) (*hodl.Record, error) {
	if err := v.Check(); err != nil {
		return nil, err
	}
	mode, member, err := s.mayRevoke(ctx, c, v)
	if err != nil {
		return nil, err
	}
	rec := &hodl.Record{
		ID: hodl.RecordID(s.store.NewID("acr")), Kind: hodl.KindRevoke, At: s.store.Now(), Actor: string(c.Key), Reason: v.Reason, Subject: v.Subject,
		Workspace: c.Workspace, Mode: mode, User: c.User,
	}
	if v.Kind == hodl.OfSession {
		rec.Session = hodl.SessionID(v.Subject)
	}
	store.Result(ctx, rec)
	return rec, s.store.RevokeAll(ctx, mode, member, v, rec, c.Detail)
}

// mayRevoke returns the mode it is in, and whose session it must be, "" for
// anybody's.
func (s *Service) mayRevoke(ctx context.Context, c Caller, v hodl.Revocation) (hodl.Mode, hodl.UserID, error) {
	admin := c.Role == hodl.Admin
	switch v.Kind {
	case hodl.OfSession:
		if admin {
			return c.Mode, "", nil
		}
	case hodl.OfKey:
		k, err := s.store.Key(ctx, c.Workspace, hodl.KeyID(v.Subject))
		if err != nil {
			return "", "", err
		}
		if k.User != c.User && !admin || k.Mode == hodl.Live && c.Mode != hodl.Live {
			return "", "", noSuch("key", v.Subject)
		}
		return k.Mode, "", nil
	case hodl.OfUser:
		return c.Mode, c.User, s.mayEnd(ctx, c, hodl.UserID(v.Subject))
	case hodl.OfWorkspace:
		if !admin {
			return "", "", hodl.Errorf(hodl.Forbidden, "all tokens of a workspace are revoked by an admin's key only").WithHint("revoke your own with user_id, or ask an admin")
		}
	}
	return c.Mode, c.User, nil
}

// mayEnd refuses to end the tokens of others, unless an admin names a member, who may
// have been removed.
func (s *Service) mayEnd(ctx context.Context, c Caller, user hodl.UserID) error {
	switch {
	case user == c.User:
		return nil
	case c.Role != hodl.Admin:
		return noSuch("user", string(user))
	}
	_, err := s.store.Member(ctx, c.Workspace, user)
	if hodl.CodeOf(err) == hodl.NotFound {
		return hodl.Invalid("user_id", "names nobody who is or was a member of this workspace")
	}
	return err
}

// EndKey ends the tokens that a revoked API key minted: whoever took the key may
// have minted some. That the caller may end the key has been settled.
func (s *Service) EndKey(ctx context.Context, c Caller, id hodl.KeyID) error {
	_, err := s.RevokeAll(ctx, c, hodl.Revocation{Kind: hodl.OfKey, Subject: string(id), Reason: "API key revoked"})
	return err
}

// EndMember ends every token of a member's sessions, in both modes. That the caller
// may has been settled.
func (s *Service) EndMember(ctx context.Context, c Caller, user hodl.UserID) error {
	p := *c.Principal
	c.Principal = &p
	for _, p.Mode = range []hodl.Mode{hodl.Live, hodl.Sandbox} {
		if _, err := s.RevokeAll(ctx, c, hodl.Revocation{Kind: hodl.OfUser, Subject: string(user), Reason: "member removed"}); err != nil {
			return err
		}
	}
	return nil
}

func noSuch(what, id string) error {
	return hodl.Errorf(hodl.NotFound, "no %s %s", what, id).WithHint("check the id; list yours to see what there is")
}
