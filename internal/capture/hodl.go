package capture

import (
	"context"
	"slices"
	"time"

	"hodl"
	"hodl/internal/fingerprint"
	"hodl/internal/store"
)

// Hodl captures one unit of work. With a session_id it joins that session, which
// gets its next version in the same transaction.
func (s *Service) Hodl(ctx context.Context, p *hodl.Principal, d hodl.HodlDraft) (*hodl.Hodl, error) {
	h, err := s.newHodl(p, &d)
	if err != nil {
		return nil, err
	}
	err = again("", func() error {
		sessions, err := s.rehold(ctx, p, h.ID, "", h.SessionID, h)
		if err != nil {
			return err
		}
		store.Result(ctx, h)
		return s.store.PutHodl(ctx, store.HodlWrite{Workspace: p.Workspace, Mode: p.Mode, User: p.User, Hodl: *h, Sessions: sessions})
	})
	if err != nil {
		return nil, err
	}
	return h, nil
}

// newHodl makes a hodl of a draft, or says what is wrong with it.
func (s *Service) newHodl(p *hodl.Principal, d *hodl.HodlDraft) (*hodl.Hodl, error) {
	if err := namesNothing(p, given{"session_id", d.SessionID != ""}); err != nil {
		return nil, err
	}
	if d.Source == "" {
		d.Source = "rest"
	}
	if err := d.Check(); err != nil {
		return nil, err
	}
	now := s.store.Now()
	h := hodlOf(d)
	h.ID, h.CreatedAt, h.UpdatedAt = hodl.HodlID(s.store.NewID("hdl")), now, now
	return withLink(h), nil
}

func hodlOf(d *hodl.HodlDraft) hodl.Hodl {
	return hodl.Hodl{
		URL: d.URL, Title: d.Title, Note: d.Note, Tags: orEmpty(d.Tags), Source: d.Source, Location: d.Location, SessionID: d.SessionID,
	}
}

// ChangeHodl updates the fields of a hodl that the change names. With ifMatch it
// refuses with [hodl.Stale] when that is no longer the hodl's revision.
func (s *Service) ChangeHodl(ctx context.Context, p *hodl.Principal, id hodl.HodlID, change hodl.HodlChange, ifMatch string) (*hodl.Hodl, error) {
	var out *hodl.Hodl
	err := s.onHodl(ctx, p, id, ifMatch, func(old *hodl.Hodl) (*store.HodlWrite, error) {
		d := change.Apply(old)
		if err := d.Check(); err != nil {
			return nil, err
		}
		next := hodlOf(&d)
		next.ID, next.CreatedAt, next.UpdatedAt = id, old.CreatedAt, s.store.Now()
		out = withLink(next)
		store.Result(ctx, out)
		sessions, err := s.rehold(ctx, p, id, old.SessionID, d.SessionID, out)
		return &store.HodlWrite{Hodl: *out, Sessions: sessions}, err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// DeleteHodl takes a hodl out of every list and of the session it names. It can be
// restored for [hodl.Undoable].
func (s *Service) DeleteHodl(ctx context.Context, p *hodl.Principal, id hodl.HodlID, ifMatch string) error {
	return s.onHodl(ctx, p, id, ifMatch, func(old *hodl.Hodl) (*store.HodlWrite, error) {
		gone := *old
		gone.UpdatedAt = s.store.Now()
		gone.DeletedAt = gone.UpdatedAt
		sessions, err := s.rehold(ctx, p, id, old.SessionID, "")
		return &store.HodlWrite{Hodl: gone, Sessions: sessions}, err
	})
}

// RestoreHodl takes a deletion back. The hodl joins its session again, if that is
// still there. One that is not deleted stays as it is.
func (s *Service) RestoreHodl(ctx context.Context, p *hodl.Principal, id hodl.HodlID) (*hodl.Hodl, error) {
	var out *hodl.Hodl
	err := again("", func() error {
		old, err := s.store.DeletedHodl(ctx, p.Workspace, p.Mode, p.User, id)
		if err != nil {
			return err
		}
		if out = withLink(*old); old.DeletedAt.IsZero() {
			return nil
		}
		out.DeletedAt, out.UpdatedAt = time.Time{}, s.store.Now()
		sessions, err := s.rehold(ctx, p, id, "", old.SessionID, out)
		if hodl.CodeOf(err) == hodl.ValidationFailed {
			out.SessionID, err = "", nil
		}
		if err != nil {
			return err
		}
		store.Result(ctx, out)
		w := store.HodlWrite{Workspace: p.Workspace, Mode: p.Mode, User: p.User, Hodl: *out, Expect: old.UpdatedAt, Restore: true, Sessions: sessions}
		return s.store.PutHodl(ctx, w)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// onHodl reads a hodl, lets next decide what becomes of it and saves that, anew
// whenever somebody else was faster.
func (s *Service) onHodl(ctx context.Context, p *hodl.Principal, id hodl.HodlID, ifMatch string, next func(old *hodl.Hodl) (*store.HodlWrite, error)) error {
	return again(ifMatch, func() error {
		old, err := s.store.Hodl(ctx, p.Workspace, p.Mode, p.User, id)
		if err != nil {
			return err
		}
		if ifMatch != "" && ifMatch != old.Revision() {
			return hodl.Errorf(hodl.Stale, "hodl %s is no longer what If-Match names", id).WithHint("read the hodl again and repeat the change")
		}
		w, err := next(old)
		if err != nil {
			return err
		}
		w.Workspace, w.Mode, w.User, w.Expect = p.Workspace, p.Mode, p.User, old.UpdatedAt
		return s.store.PutHodl(ctx, *w)
	})
}

// rehold returns the next versions of the sessions a hodl leaves and joins; with is
// the hodl, and others that join with it, as they become.
func (s *Service) rehold(ctx context.Context, p *hodl.Principal, id hodl.HodlID, leaves, joins hodl.SessionID, with ...*hodl.Hodl) ([]*store.SessionWrite, error) {
	var out []*store.SessionWrite
	if leaves != "" && leaves != joins {
		w, err := s.withHodls(ctx, p, leaves, func(list []hodl.Hodl) []hodl.Hodl { return without(list, id) })
		if err != nil {
			return nil, err
		}
		if w != nil {
			out = append(out, w)
		}
	}
	if joins == "" {
		return out, nil
	}
	w, err := s.withHodls(ctx, p, joins, func(list []hodl.Hodl) []hodl.Hodl {
		list = without(list, id)
		for _, h := range with {
			list = append(list, *h)
		}
		return list
	})
	switch {
	case err != nil:
		return nil, err
	case w == nil:
		return nil, hodl.Invalid("session_id", "names no session of yours")
	case len(w.Body.Content.Hodls) > hodl.MaxItems:
		return nil, hodl.Invalid("session_id", "names a session that is full: it holds at most 1,000 hodls")
	}
	return append(out, w), nil
}

// withHodls returns the version of a session with its hodls changed, nil when the
// user has no such session.
func (s *Service) withHodls(ctx context.Context, p *hodl.Principal, id hodl.SessionID, change func([]hodl.Hodl) []hodl.Hodl) (*store.SessionWrite, error) {
	standing, body, err := s.current(ctx, p, id)
	if hodl.CodeOf(err) == hodl.Conflict || err == nil && standing == nil {
		return nil, nil // another user's session looks like none
	}
	if err != nil {
		return nil, err
	}
	next := *body
	next.Content.Hodls = change(slices.Clone(body.Content.Hodls))
	w := &store.SessionWrite{
		Workspace: p.Workspace, Mode: p.Mode, User: p.User, ID: id, Op: hodl.OpWrite, Expect: standing.Fingerprint,
		Body: next, At: s.store.Now(), Author: string(p.User),
	}
	w.Fingerprint, err = fingerprint.Of(next.Salt, &next.Content)
	return w, err
}

func without(list []hodl.Hodl, id hodl.HodlID) []hodl.Hodl {
	return slices.DeleteFunc(list, func(h hodl.Hodl) bool { return h.ID == id })
}

func orEmpty(tags []string) []string {
	if tags == nil {
		return []string{}
	}
	return tags
}
