package resume

import (
	"context"
	"slices"
	"strconv"

	"hodl"
	"hodl/internal/redact"
	"hodl/internal/render"
	"hodl/internal/store"
)

// An Ask is what an agent wants of a session.
type Ask struct {
	Format    render.Format
	MaxTokens int           // the most tokens of what is returned; 0 for all there is
	Include   []string      // handles of what a hydration left out: no other is begun
	Since     hodl.RecordID // an earlier hydration: only what changed after it; "" for all there is
}

// mostHandles may be asked for at once: more than one hydration leaves out.
const mostHandles = 16

func (a *Ask) check() error {
	switch {
	case len(a.Include) > mostHandles:
		return hodl.Invalid("include", "may hold "+strconv.Itoa(mostHandles)+" handles at most")
	case len(a.Include) > 0 && a.Since != "":
		return hodl.Invalid("since", "cannot be asked for together with include")
	}
	return render.CheckTokens(a.MaxTokens)
}

// want is an ask as it is carried out: since is the hydration it refers to, nil for
// none, or for one that nothing may be left out for.
type want struct {
	Ask
	since *hodl.Record
	admit func(store.Admission) error
}

// fingerprint is what the earlier hydration handed over.
func (w *want) fingerprint() string {
	if w.since == nil {
		return ""
	}
	return w.since.Fingerprint
}

// under forgets the earlier hydration if other policies, or other versions of them,
// applied to it.
func (w want) under(p *redact.Policy) want {
	if w.since != nil && !slices.Equal(w.since.Policies, p.Uses()) {
		w.since = nil
	}
	return w
}

// since finds an earlier hydration of the same credential and session, under the
// same scopes. After any other nothing is known of what the caller has,
// and it gets all there is.
func (s *Service) since(ctx context.Context, u *use, id hodl.RecordID) (*hodl.Record, error) {
	rec, err := s.own(ctx, u, id)
	if err != nil || rec == nil || rec.Kind != hodl.KindHydrate && rec.Kind != hodl.KindUnchanged {
		return nil, err
	}
	return rec, nil
}

// own returns a record of what this credential was handed of the session before,
// nil when there is none or its scopes were others.
func (s *Service) own(ctx context.Context, u *use, id hodl.RecordID) (*hodl.Record, error) {
	_, user := u.claims.Owner()
	rec, err := s.store.Record(ctx, u.rows.Workspace, u.rows.Mode, user, id)
	if hodl.CodeOf(err) == hodl.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	now := u.record(id, rec.Kind)
	if rec.JTI != now.JTI || rec.Actor != now.Actor || rec.Audience != now.Audience || rec.Session != now.Session {
		return nil, nil
	}
	if !slices.Equal(rec.Scopes, now.Scopes) {
		return nil, nil
	}
	return rec, nil
}

// refuseAsked records a refusal of the credential, not a fault of what was asked.
func (s *Service) refuseAsked(ctx context.Context, u *use, err error) error {
	switch hodl.CodeOf(err) {
	case hodl.ValidationFailed, hodl.Gone:
		return err
	}
	return s.refuse(ctx, u, err)
}
