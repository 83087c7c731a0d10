package resume

import (
	"context"
	"errors"
	"log/slog"

	"hodl"
	"hodl/internal/redact"
	"hodl/internal/render"
	"hodl/internal/store"
)

// A Hydration is one hand-off: what an agent receives.
type Hydration struct {
	ID          hodl.RecordID
	Fingerprint string
	Rendering   render.Rendering
	Receipt     string   // "" for a token of a workspace that allows it none
	Omitted     []string // handles of what was left out for its size

	bounded bool // in tokens
}

// Body returns the bytes that go out.
func (h *Hydration) Body() []byte { return h.Rendering.Seal(h.ID, h.enclosed()) }

// Quoted is Body as a JSON string.
func (h *Hydration) Quoted() []byte { return h.Rendering.SealQuoted(h.ID, h.enclosed()) }

// enclosed is the receipt that goes into the body.
func (h *Hydration) enclosed() string {
	if h.bounded {
		return "" // tokens that a receipt takes were not counted
	}
	return h.Receipt
}

// errMoved tells that the session got another version between rendering and
// commit.
type errMoved struct{ store.SessionState }

func (*errMoved) Error() string { return "the session moved" }

// attempts is how often a hydration is rendered anew because the session changed
// under it. Each failure means that somebody else's write succeeded.
const attempts = 16

// Hydrate hands a session to an agent: it admits the token, renders what its scopes
// grant under the policy of the moment, and commits the use, the quota, the record
// and the event before it returns. A warm call reads nothing: it guesses the
// version from the last one and the commit tells whether the guess still holds.
func (s *Service) Hydrate(ctx context.Context, c Call, a Ask) (*Hydration, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	u, err := s.begin(ctx, c, needs(hodl.ReadContext, hodl.ReadReasoning))
	if err != nil {
		return nil, s.refuse(ctx, u, err)
	}
	if len(a.Include) > 0 {
		h, err := s.continued(ctx, u, a)
		return h, s.refuseAsked(ctx, u, err)
	}
	w := want{Ask: a, admit: u.admitHydration}
	if a.Since != "" {
		if w.since, err = s.since(ctx, u, a.Since); err != nil {
			return nil, err
		}
	}
	if w.since != nil {
		w.admit = u.admit // if nothing changed, none of its hydrations is taken
	}
	h, err := s.hydrate(ctx, u, w)
	return h, s.refuseAsked(ctx, u, err)
}

func (s *Service) hydrate(ctx context.Context, u *use, w want) (h *Hydration, err error) {
	at, view := s.warm(u, w)
	if view == nil {
		if at, err = s.look(ctx, u, w.admit); err != nil {
			return nil, err
		}
	}
	for range attempts {
		h, err = s.hydrateAt(ctx, u, at, view, w)
		moved, again := errors.AsType[*errMoved](err)
		if !again {
			return h, err
		}
		at, view = moved.SessionState, nil
		s.cache.stands(u.rows, at)
	}
	return nil, hodl.Errorf(hodl.Unavailable, "the session changes faster than it can be read").WithHint("try again")
}

// warm returns where the session stood last and the rendering of that version, if it
// is kept: then nothing has to be read before the commit makes its checks.
func (s *Service) warm(u *use, w want) (store.SessionState, *rendered) {
	at, known := s.cache.standing(u.rows)
	if !known {
		return at, nil
	}
	f, known := s.cache.policies.GetIfPresent(policyKeyOf(u, at))
	if !known {
		return at, nil
	}
	policy, name := f.at(u.rows.At)
	view, _ := s.cache.rendering(keyOf(u, at, name, w.under(policy)))
	return at, view
}

// look makes every check on rows as they stand, so that nothing of the session is
// read for a token that would be refused.
func (s *Service) look(ctx context.Context, u *use, admit func(store.Admission) error) (store.SessionState, error) {
	a, err := s.admission(ctx, u)
	if err == nil {
		err = admit(a)
	}
	if err != nil {
		return store.SessionState{}, err
	}
	s.cache.stands(u.rows, *a.Session)
	return *a.Session, nil
}

// hydrateAt commits a hydration of the version the session stands at, in the rendering
// view, or in one made now when that is nil.
func (s *Service) hydrateAt(ctx context.Context, u *use, at store.SessionState, view *rendered, w want) (_ *Hydration, err error) {
	if view == nil {
		view, err = s.rendered(ctx, u, at, w)
	}
	if hodl.CodeOf(err) == hodl.NotFound || errors.Is(err, errPoliciesMoved) {
		return nil, s.movedSince(ctx, u, w.admit) // the version was erased or replaced meanwhile, or a policy changed
	}
	if err != nil {
		return nil, err
	}
	kind, commit, admit := hodl.KindHydrate, s.store.Hydrate, u.admitHydration
	if view.unchanged {
		kind, commit, admit = hodl.KindUnchanged, s.store.Read, u.admit
		if limit, ok := s.pollers.Take(u.credential(), u.rows.At); !ok {
			return nil, hodl.TooFast(limit, "nothing has changed, and it is asked for too often")
		}
	}
	rec := u.record(hodl.RecordID(s.store.NewID("acr")), kind)
	rec.Fingerprint = at.Fingerprint
	if view.delta {
		rec.Hydration = w.since.ID
	}
	h, err := s.note(rec, rec, u, view)
	if err != nil {
		return nil, err
	}
	receipts, place, use := false, &store.Place{}, u.rows
	use.Place = place
	err = commit(ctx, use, func(a store.Admission) error {
		s.pace.learn(u.rows.Workspace, a.Plan)
		receipts = a.Receipts
		if err := admit(a); err != nil {
			return err
		}
		if a.Session.Fingerprint != at.Fingerprint || !a.Session.CapturedAt.Equal(at.CapturedAt) || a.Session.Policy != at.Policy {
			return &errMoved{*a.Session}
		}
		return nil
	}, rec, u.Detail)
	if err != nil {
		return nil, err
	}
	if receipts || u.Key != nil {
		h.Receipt, h.bounded = s.receipt(ctx, rec, place, u.Key != nil), w.MaxTokens > 0
	}
	return h, nil
}

// note writes into rec what is returned, which is of the hydration of.
func (s *Service) note(rec, of *hodl.Record, u *use, view *rendered) (*Hydration, error) {
	rec.Policies, rec.Redactions = view.policies, view.uses
	h := &Hydration{ID: rec.ID, Fingerprint: rec.Fingerprint}
	var err error
	h.Rendering, err = view.fitted.Render(func(p render.Part) string {
		handle := s.handle(u, of, p)
		h.Omitted = append(h.Omitted, handle)
		return handle
	})
	if err != nil {
		return nil, err
	}
	rec.Returned = h.Rendering.Returned()
	return h, nil
}

// receipt proves a record that is in its log already. When that fails, the hydration
// has taken place all the same: it can be proven later. The salt is for those who may
// read the record.
func (s *Service) receipt(ctx context.Context, rec *hodl.Record, at *store.Place, salted bool) string {
	r, err := at.Receipt()
	if err != nil {
		s.options.Log.ErrorContext(ctx, "a hydration went out without its receipt", slog.String("record", string(rec.ID)), slog.Any("error", err))
		return ""
	}
	if !salted {
		r.Extra = nil
	}
	return r.String()
}

// movedSince finds where the session stands after a version was not there.
func (s *Service) movedSince(ctx context.Context, u *use, admit func(store.Admission) error) error {
	at, err := s.look(ctx, u, admit)
	if err != nil {
		return err
	}
	return &errMoved{at}
}

// rendered returns the rendering of a version for the token's scopes: kept, or made
// by load → redact → render.
func (s *Service) rendered(ctx context.Context, u *use, at store.SessionState, w want) (*rendered, error) {
	f, err := s.inForce(ctx, policyKeyOf(u, at))
	if err != nil {
		return nil, err
	}
	policy, name := f.at(u.rows.At)
	w = w.under(policy)
	key := keyOf(u, at, name, w)
	if r, ok := s.cache.rendering(key); ok {
		return r, nil
	}
	view, cleaned, err := s.view(ctx, u, policy, at)
	if err != nil {
		return nil, err
	}
	if w.since != nil {
		old, _, err := s.view(ctx, u, policy, store.SessionState{Fingerprint: w.since.Fingerprint, CapturedAt: at.CapturedAt})
		switch {
		case err == nil:
			view = view.Since(old)
		case hodl.CodeOf(err) != hodl.NotFound: // without the old version all of the new one is news
			return nil, err
		}
	}
	fitted, err := view.Fit(render.Options{Format: w.Format, MaxTokens: w.MaxTokens})
	if err != nil {
		return nil, err
	}
	r := &rendered{fitted: fitted, delta: view.Resume().Delta != nil, unchanged: view.Unchanged(), policies: cleaned.Policies(), uses: cleaned.Uses()}
	s.cache.keep(key, r)
	return r, nil
}

// view is what the token's scopes grant of a version, redacted.
func (s *Service) view(ctx context.Context, u *use, policy *redact.Policy, at store.SessionState) (render.View, redact.Redacted, error) {
	body, err := s.store.Version(ctx, u.rows.Workspace, u.rows.Mode, u.rows.Session, at.Fingerprint)
	if err != nil {
		return render.View{}, redact.Redacted{}, err
	}
	cleaned, err := s.redacted(policy, u.rows.Workspace, u.rows.Session, at, body)
	if err != nil {
		return render.View{}, redact.Redacted{}, err
	}
	return render.Context(cleaned, u.claims.Scopes), cleaned, nil
}
