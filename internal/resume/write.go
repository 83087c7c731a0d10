package resume

import (
	"context"
	"errors"
	"slices"
	"time"

	"hodl"
	"hodl/internal/fingerprint"
	"hodl/internal/store"
)

// A Written tells what a typed write left behind.
type Written struct {
	Note        int64 // its number, of a note
	Fingerprint string
	At          time.Time
}

// Note appends a note by the agent.
func (s *Service) Note(ctx context.Context, c Call, body, ifMatch string) (Written, error) {
	return s.write(ctx, c, hodl.WriteNotes, ifMatch, func(v *store.VersionBody, u *use) error {
		if err := hodl.CheckNote(body); err != nil {
			return err
		}
		if len(v.Content.Notes) >= hodl.MaxItems {
			return hodl.Invalid("body", "cannot be added: the session has 1,000 notes")
		}
		v.LastNote++
		v.Content.Notes = append(slices.Clone(v.Content.Notes), hodl.Note{
			ID: v.LastNote, Body: body, Author: u.author(), Trust: hodl.TrustAgent, CreatedAt: u.rows.At,
		})
		return nil
	})
}

// Node appends a typed node by the agent.
func (s *Service) Node(ctx context.Context, c Call, n hodl.Node, ifMatch string) (Written, error) {
	return s.write(ctx, c, hodl.WriteNextStep, ifMatch, func(v *store.VersionBody, u *use) error {
		return u.addNode(v, n)
	})
}

// ProposedStep is the id of the node that holds the next step an agent proposes.
// There is one: a later proposal replaces it.
const ProposedStep = "proposed_next_step"

// NextStep proposes the next step.
func (s *Service) NextStep(ctx context.Context, c Call, n hodl.Node, ifMatch string) (Written, error) {
	n.ID, n.Kind = ProposedStep, hodl.NextStep
	return s.write(ctx, c, hodl.WriteNextStep, ifMatch, func(v *store.VersionBody, u *use) error {
		if v.Content.Provenance[ProposedStep].Trust == hodl.TrustAgent {
			v.Content.Thread = slices.DeleteFunc(slices.Clone(v.Content.Thread), func(old hodl.Node) bool { return old.ID == ProposedStep })
		}
		return u.addNode(v, n)
	})
}

func (u *use) addNode(v *store.VersionBody, n hodl.Node) error {
	if err := hodl.CheckNode(&n, v.Content.Thread); err != nil {
		return err
	}
	if len(v.Content.Thread) >= hodl.MaxItems {
		return hodl.Invalid("id", "cannot be added: the thread has 1,000 nodes")
	}
	v.Content.Thread = append(slices.Clone(v.Content.Thread), n)
	by := make(map[string]hodl.Provenance, len(v.Content.Provenance)+1)
	for id, p := range v.Content.Provenance {
		by[id] = p
	}
	by[n.ID] = hodl.Provenance{Author: u.author(), CreatedAt: u.rows.At, Trust: hodl.TrustAgent}
	v.Content.Provenance = by
	return nil
}

func (u *use) author() string { return "agent:" + u.claims.Audience }

// write makes a new version of the session by the agent's hand. It uses up no
// hydration. With ifMatch the session must stand at that fingerprint; without, the
// change is made on whatever version there is.
func (s *Service) write(ctx context.Context, c Call, scope hodl.Scope, ifMatch string, change func(*store.VersionBody, *use) error) (Written, error) {
	u, err := s.begin(ctx, c, needs(scope))
	if err == nil {
		err = u.asWriter(scope)
	}
	if err != nil {
		return Written{}, s.refuse(ctx, u, err)
	}
	end, err := s.once(ctx, u)
	if err != nil {
		return Written{}, s.refuseWrite(ctx, u, err)
	}
	defer end()
	for range attempts {
		var w Written
		if w, err = s.writeOnce(ctx, u, ifMatch, change); err == nil {
			return w, nil
		}
		if ifMatch != "" || !errors.Is(err, &hodl.Error{Code: hodl.Stale}) {
			break
		}
	}
	return Written{}, s.refuseWrite(ctx, u, err)
}

// once begins a write under an idempotency key: a token that may no longer write
// gets no answer of a write it once made.
func (s *Service) once(ctx context.Context, u *use) (end func(), err error) {
	if store.OnceOf(ctx) == nil {
		return func() {}, nil
	}
	a, err := s.store.Admission(ctx, u.rows)
	if err == nil {
		err = u.admit(a)
	}
	if err != nil {
		return nil, err
	}
	return s.store.Once(ctx, u.rows.Workspace, u.rows.Mode, u.credential())
}

// refuseWrite records a refusal of the token, not a fault of what was to be written.
// An answer that is told again uses up the proof it was asked for with.
func (s *Service) refuseWrite(ctx context.Context, u *use, err error) error {
	if _, again := errors.AsType[*store.Repeat](err); again {
		if spent := s.spend(ctx, u); spent != nil {
			return s.refuse(ctx, u, spent)
		}
		return err
	}
	switch hodl.CodeOf(err) {
	case hodl.ValidationFailed, hodl.Stale, hodl.Conflict, hodl.IdempotencyMismatch:
		return err
	}
	return s.refuse(ctx, u, err)
}

func (s *Service) writeOnce(ctx context.Context, u *use, ifMatch string, change func(*store.VersionBody, *use) error) (Written, error) {
	a, err := s.admission(ctx, u)
	if err == nil {
		err = u.admit(a)
	}
	if err != nil {
		return Written{}, err
	}
	at := a.Session
	if ifMatch != "" && ifMatch != at.Fingerprint {
		return Written{}, hodl.Errorf(hodl.Stale, "session %s does not stand at the fingerprint in If-Match", u.rows.Session).WithHint("hydrate it again and repeat the change on the new version")
	}
	body, err := s.store.Version(ctx, u.rows.Workspace, u.rows.Mode, u.rows.Session, at.Fingerprint)
	if err != nil {
		return Written{}, err
	}
	body.Numbers = s.numbered(ctx, u, *at, body)
	if err := change(body, u); err != nil {
		return Written{}, err
	}
	name, err := fingerprint.Of(body.Salt, &body.Content)
	if err != nil {
		return Written{}, err
	}
	rec := u.record(hodl.RecordID(s.store.NewID("acr")), hodl.KindWrite)
	rec.Fingerprint = name
	_, user := u.claims.Owner()
	out := Written{Note: body.LastNote, Fingerprint: name, At: u.rows.At}
	store.Result(ctx, out)
	return out, s.store.PutSession(ctx, store.SessionWrite{
		Workspace: u.rows.Workspace, Mode: u.rows.Mode, User: user, ID: u.rows.Session, Op: hodl.OpWrite, Expect: at.Fingerprint,
		Body: *body, Fingerprint: name, At: u.rows.At, Author: u.author(),
		Token: u.rows.Token, Admit: u.admit, Proof: u.rows.Proof, Record: rec, Detail: u.Detail,
	})
}

// numbered is what placeholders keep after the version that an agent writes upon.
func (s *Service) numbered(ctx context.Context, u *use, at store.SessionState, body *store.VersionBody) map[string][]uint64 {
	f, err := s.inForce(ctx, policyKey{u.rows.Workspace, u.rows.Mode, at.Policy, "", false})
	if err != nil {
		return s.unnumbered(ctx, err, body, body.Salt)
	}
	p, _ := f.at(u.rows.At)
	return s.number(ctx, p, u.rows.Workspace, body, body.Salt)
}
