package capture

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"hodl"
	"hodl/internal/fingerprint"
	"hodl/internal/store"
)

// A SessionCapture is a draft and how to take it.
type SessionCapture struct {
	Draft   hodl.SessionDraft
	Mend    bool   // drop bad node references instead of refusing them
	IfMatch string // the fingerprint the session must stand at, [hodl.AnyVersion], or "" for any and none
}

// Captured tells what became of a capture.
type Captured struct {
	ID          hodl.SessionID
	Fingerprint string
	CapturedAt  time.Time
	Created     bool
	Warnings    []string
}

// Session captures a whole session: it creates it, or replaces what was captured
// of it before. Notes and nodes that agents wrote survive. It refuses with
// [hodl.ValidationFailed], [hodl.Forbidden] when a capture-only key names what may
// exist, [hodl.Conflict] when the id is another user's,
// [hodl.InvalidTransition] when the session is archived, and [hodl.Stale] when
// IfMatch no longer holds.
func (s *Service) Session(ctx context.Context, p *hodl.Principal, c SessionCapture) (*Captured, error) {
	out := &Captured{}
	if err := namesNothing(p, given{"session_id", c.Draft.ID != ""}, given{"hodl_ids", len(c.Draft.HodlIDs) > 0}, given{"If-Match", c.IfMatch != ""}); err != nil {
		return nil, err
	}
	if c.Mend {
		c.Draft.Thread, out.Warnings = hodl.MendThread(c.Draft.Thread)
	}
	if err := c.Draft.Check(); err != nil {
		return nil, err
	}
	fresh := c.Draft.ID == ""
	if fresh {
		c.Draft.ID = s.store.NewID("ses")
	}
	out.ID = hodl.SessionID(c.Draft.ID)
	err := again(c.IfMatch, func() error { return s.captureOnce(ctx, p, &c, fresh, out) })
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (s *Service) captureOnce(ctx context.Context, p *hodl.Principal, c *SessionCapture, fresh bool, out *Captured) error {
	var old *store.VersionBody
	var standing *store.SessionState
	var err error
	if !fresh {
		if standing, old, err = s.current(ctx, p, out.ID); err != nil {
			return err
		}
	}
	if c.IfMatch != "" && (standing == nil || c.IfMatch != hodl.AnyVersion && c.IfMatch != standing.Fingerprint) {
		return hodl.Errorf(hodl.Stale, "session %s does not stand at the fingerprint in If-Match", out.ID).WithHint("read the session again and repeat the change on the new version")
	}
	w := store.SessionWrite{
		Workspace: p.Workspace, Mode: p.Mode, User: p.User, ID: out.ID, Op: hodl.OpCapture,
		At: s.store.Now(), Author: string(p.User),
	}
	if c.Draft.State == hodl.Open {
		w.Op = hodl.OpUpdate
	}
	if w.Body, err = s.merge(ctx, p, &c.Draft, old, w.At, fresh); err != nil {
		return err
	}
	if w.Fingerprint, err = fingerprint.Of(w.Body.Salt, &w.Body.Content); err != nil {
		return err
	}
	out.Fingerprint, out.CapturedAt, out.Created = w.Fingerprint, w.At, standing == nil
	if standing != nil {
		w.Expect = standing.Fingerprint
		if w.Expect == w.Fingerprint {
			out.CapturedAt = standing.CapturedAt
		} else {
			w.Body.Numbers = s.numbers(ctx, p, old, old.Salt)
		}
	}
	store.Result(ctx, out)
	err = s.store.PutSession(ctx, w)
	if err == nil && s.Captured != nil {
		s.Captured(w.Workspace, w.ID, &w.Body.Content)
	}
	return err
}

// numbers are those that placeholders keep after a version.
func (s *Service) numbers(ctx context.Context, p *hodl.Principal, old *store.VersionBody, salt []byte) map[string][]uint64 {
	if s.Number == nil {
		return nil
	}
	return s.Number(ctx, p.Workspace, p.Mode, old, salt)
}

// authorOf is who wrote what p captures now.
func authorOf(p *hodl.Principal, now time.Time) hodl.Provenance {
	trust := hodl.TrustUser
	if p.CaptureOnly() {
		trust = hodl.TrustPage
	}
	return hodl.Provenance{Author: string(p.User), CreatedAt: now, Trust: trust}
}

// A given field is one that may name what exists.
type given struct {
	field string
	is    bool
}

// namesNothing refuses a capture-only key that names something, before anybody
// looks whether it is there.
func namesNothing(p *hodl.Principal, fields ...given) error {
	for _, g := range fields {
		if p.CaptureOnly() && g.is {
			return hodl.Errorf(hodl.Forbidden, "a capture-only key names nothing that may be there: leave out %s", g.field).WithHint("the server makes the ids, or use another key")
		}
	}
	return nil
}

// current returns where a session stands and what it holds, both nil when there is
// none. An id that another user of the workspace took is a [hodl.Conflict].
func (s *Service) current(ctx context.Context, p *hodl.Principal, id hodl.SessionID) (*store.SessionState, *store.VersionBody, error) {
	standing, err := s.store.SessionStanding(ctx, p.Workspace, p.Mode, id)
	if err != nil || standing == nil {
		return nil, nil, err
	}
	if standing.User != p.User {
		return nil, nil, hodl.Errorf(hodl.Conflict, "the id %s is taken", id).WithHint("choose another session_id, or leave it out and the server makes one")
	}
	body, err := s.store.Version(ctx, p.Workspace, p.Mode, id, standing.Fingerprint)
	if hodl.CodeOf(err) == hodl.NotFound {
		// Deleted or moved on between the two reads.
		return nil, nil, hodl.Errorf(hodl.Stale, "session %s has changed meanwhile", id)
	}
	return standing, body, err
}

// merge builds the next version from a draft and the one before.
func (s *Service) merge(ctx context.Context, p *hodl.Principal, d *hodl.SessionDraft, old *store.VersionBody, now time.Time, fresh bool) (store.VersionBody, error) {
	hodls, err := s.embedded(ctx, p, d, fresh)
	if err != nil {
		return store.VersionBody{}, err
	}
	if old == nil {
		old = &store.VersionBody{Salt: newSalt()}
	}
	next := store.VersionBody{Salt: old.Salt, LastNote: old.LastNote, Content: hodl.Content{
		Title: d.Title, Summary: d.Summary, Tabs: d.Tabs, Media: d.Media, Tags: d.Tags, Hodls: hodls,
	}}
	next.Content.Notes = mergeNotes(d.Notes, &old.Content, &next.LastNote, authorOf(p, now))
	mergeThread(&next.Content, d.Thread, &old.Content, authorOf(p, now))
	return next, nil
}

func newSalt() []byte {
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // never fails: it ends the program instead
	return salt
}

// embedded returns the hodls a version holds: those the draft names, and those
// that name the session.
func (s *Service) embedded(ctx context.Context, p *hodl.Principal, d *hodl.SessionDraft, fresh bool) ([]hodl.Hodl, error) {
	out := []hodl.Hodl{}
	seen := map[hodl.HodlID]bool{}
	if len(d.HodlIDs) > 0 {
		list, err := s.store.HodlsByID(ctx, p.Workspace, p.Mode, p.User, d.HodlIDs)
		if err != nil {
			return nil, err
		}
		named := make(map[hodl.HodlID]*hodl.Hodl, len(list))
		for _, h := range list {
			named[h.ID] = h
		}
		for i, id := range d.HodlIDs {
			h := named[id]
			if h == nil {
				return nil, hodl.Invalid(fmt.Sprintf("hodl_ids[%d]", i), fmt.Sprintf("names no hodl %q of yours", id))
			}
			if !seen[id] {
				out = append(out, *withLink(*h))
			}
			seen[id] = true
		}
	}
	if fresh {
		return out, nil // nothing can name a session whose id was just made
	}
	naming, err := s.store.SessionHodls(ctx, p.Workspace, p.Mode, p.User, hodl.SessionID(d.ID))
	for _, h := range naming {
		if !seen[h.ID] {
			out = append(out, *withLink(*h))
		}
	}
	if err == nil && len(out) > hodl.MaxItems {
		err = hodl.Invalid("hodl_ids", fmt.Sprintf("and the hodls that name the session are %d together; at most %d are allowed", len(out), hodl.MaxItems))
	}
	return out, err
}
