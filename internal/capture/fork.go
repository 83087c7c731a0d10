package capture

import (
	"context"

	"hodl"
	"hodl/internal/fingerprint"
	"hodl/internal/store"
)

// Fork captures a version of a session of the caller's own as a new session. Notes
// and nodes keep their numbers, authors and times, and so do placeholders, which agents'
// notes may speak of; the old session stays as it is, and may be archived. The new one
// has a salt of its own: nobody learns from its fingerprint which session it came from.
// It refuses with [hodl.NotFound], and with [hodl.ValidationFailed] when there is no such
// version.
func (s *Service) Fork(ctx context.Context, p *hodl.Principal, id hodl.SessionID, d hodl.ForkDraft) (*Captured, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	old, err := s.store.Session(ctx, p.Workspace, p.Mode, p.User, id)
	if err != nil {
		return nil, err
	}
	if d.From == "" {
		d.From = old.Fingerprint
	}
	body, err := s.store.Version(ctx, p.Workspace, p.Mode, id, d.From)
	if hodl.CodeOf(err) == hodl.NotFound {
		err = hodl.Invalid("from", "names no version of this session")
	}
	if err != nil {
		return nil, err
	}
	salt := newSalt()
	body.Numbers, body.Salt = s.numbers(ctx, p, body, salt), salt
	if d.Title != "" {
		body.Content.Title = d.Title
	}
	return s.put(ctx, p, body)
}

// put saves body as the first version of a new session.
func (s *Service) put(ctx context.Context, p *hodl.Principal, body *store.VersionBody) (*Captured, error) {
	w := store.SessionWrite{
		Workspace: p.Workspace, Mode: p.Mode, User: p.User, ID: hodl.SessionID(s.store.NewID("ses")), Op: hodl.OpCapture,
		Body: *body, At: s.store.Now(), Author: string(p.User),
	}
	var err error
	if w.Fingerprint, err = fingerprint.Of(body.Salt, &body.Content); err != nil {
		return nil, err
	}
	out := &Captured{ID: w.ID, Fingerprint: w.Fingerprint, CapturedAt: w.At, Created: true}
	store.Result(ctx, out)
	return out, s.store.PutSession(ctx, w)
}
