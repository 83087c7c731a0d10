package capture

import (
	"context"
	"slices"

	"hodl"
	"hodl/internal/fingerprint"
	"hodl/internal/store"
)

// Hodl captures one unit of work. With a session_id it joins that session, which
// gets its next version in the same transaction.
func (s *Service) Hodl(ctx context.Context, p *hodl.Principal, d hodl.HodlDraft) (*hodl.Hodl, error) {
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
	h := withLink(hodl.Hodl{
		ID: hodl.HodlID(s.store.NewID("hdl")), URL: d.URL, Title: d.Title, Note: d.Note, Tags: orEmpty(d.Tags), Source: d.Source,
		Location: d.Location, SessionID: d.SessionID, CreatedAt: now, UpdatedAt: now,
	})
	err := again("", func() error {
		sessions, err := s.rehold(ctx, p, &h, "", d.SessionID)
		if err != nil {
			return err
		}
		return s.store.PutHodl(ctx, store.HodlWrite{Workspace: p.Workspace, Mode: p.Mode, User: p.User, Hodl: h, Sessions: sessions})
	})
	if err != nil {
		return nil, err
	}
	return &h, nil
}

// ChangeHodl updates the fields of a hodl that the change names.
func (s *Service) ChangeHodl(ctx context.Context, p *hodl.Principal, id hodl.HodlID, change hodl.HodlChange) (*hodl.Hodl, error) {
	var out hodl.Hodl
	err := again("", func() error {
		old, err := s.store.Hodl(ctx, p.Workspace, p.Mode, p.User, id)
		if err != nil {
			return err
		}
		d := change.Apply(old)
		if err := d.Check(); err != nil {
			return err
		}
		out = withLink(hodl.Hodl{
			ID: id, URL: d.URL, Title: d.Title, Note: d.Note, Tags: orEmpty(d.Tags), Source: d.Source,
			Location: d.Location, SessionID: d.SessionID, CreatedAt: old.CreatedAt, UpdatedAt: s.store.Now(),
		})
		sessions, err := s.rehold(ctx, p, &out, old.SessionID, d.SessionID)
		if err != nil {
			return err
		}
		return s.store.PutHodl(ctx, store.HodlWrite{Workspace: p.Workspace, Mode: p.Mode, User: p.User, Hodl: out, Expect: old.UpdatedAt, Sessions: sessions})
	})
	if err != nil {
		return nil, err
	}
	return &out, nil
}

// DeleteHodl takes a hodl out of every list and of the session it names.
func (s *Service) DeleteHodl(ctx context.Context, p *hodl.Principal, id hodl.HodlID) error {
	return again("", func() error {
		old, err := s.store.Hodl(ctx, p.Workspace, p.Mode, p.User, id)
		if err != nil {
			return err
		}
		gone, before := *old, old.UpdatedAt
		gone.UpdatedAt = s.store.Now()
		sessions, err := s.rehold(ctx, p, &gone, old.SessionID, "")
		if err != nil {
			return err
		}
		return s.store.PutHodl(ctx, store.HodlWrite{Workspace: p.Workspace, Mode: p.Mode, User: p.User, Hodl: gone, Expect: before, Delete: true, Sessions: sessions})
	})
}

// rehold returns the next versions of the sessions a hodl leaves and joins.
func (s *Service) rehold(ctx context.Context, p *hodl.Principal, h *hodl.Hodl, leaves, joins hodl.SessionID) ([]*store.SessionWrite, error) {
	var out []*store.SessionWrite
	if leaves != "" && leaves != joins {
		w, err := s.withHodls(ctx, p, leaves, func(list []hodl.Hodl) []hodl.Hodl { return without(list, h.ID) })
		if err != nil {
			return nil, err
		}
		if w != nil {
			out = append(out, w)
		}
	}
	if joins != "" {
		w, err := s.withHodls(ctx, p, joins, func(list []hodl.Hodl) []hodl.Hodl { return append(without(list, h.ID), *h) })
		if err != nil {
			return nil, err
		}
		if w == nil {
			return nil, hodl.Invalid("session_id", "names no session of yours")
		}
		out = append(out, w)
	}
	return out, nil
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
