package resume

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"hodl"
	"hodl/internal/render"
	"hodl/internal/store"
)

// A handle names a part of what one hydration did not hand over. It is the letters of
// the hydration's id, a tag and the part:
//
//	01JD8Z6T3YQ4XW5V7B9C2K1MHN Z0l7cD8GkG0fNq1y2b3c4w e12
//
// without the blanks. The tag is made of all that the hydration depended on, so that
// a handle works for that token, session, version, policies and scopes alone. It says
// nothing: the record of the hydration does.
const (
	idSize     = 26
	tagSize    = 16 // bytes; [idSize] and this as base64 come before the part
	tagEnd     = idSize + 22
	handlesFor = 15 * time.Minute
)

// purposeHandle separates the tags of handles from all others.
const purposeHandle = "hydrate-handle"

var tagText = base64.RawURLEncoding.Strict()

func (s *Service) handle(u *use, of *hodl.Record, p render.Part) string {
	tag := s.store.Tag(purposeHandle, sealed(u, of, p))[:tagSize]
	return strings.TrimPrefix(string(of.ID), "acr_") + tagText.EncodeToString(tag) + p.String()
}

// sealed is what a tag vouches for, each thing in quotes.
func sealed(u *use, of *hodl.Record, p render.Part) []byte {
	return fmt.Appendf(nil, "%q %q %q %q %q %q %q %q %q", u.rows.Workspace, u.rows.Mode, u.credential(), u.claims.Audience, u.rows.Session,
		of.ID, of.Fingerprint, p.String(), fmt.Sprint(of.Policies, of.Scopes))
}

// opened is what handles name.
type opened struct {
	of    *hodl.Record // the hydration
	parts []render.Part
}

// open reads handles, all of one hydration, and finds it.
func (s *Service) open(ctx context.Context, u *use, handles []string) (opened, error) {
	var out opened
	for i, h := range handles {
		field := "include[" + strconv.Itoa(i) + "]"
		if len(h) <= tagEnd {
			return out, hodl.Invalid(field, "is no handle: take it from omitted")
		}
		part, known := render.ParsePart(h[tagEnd:])
		tag, err := tagText.DecodeString(h[idSize:tagEnd])
		if !known || err != nil {
			return out, hodl.Invalid(field, "is no handle: take it from omitted")
		}
		if i > 0 && h[:idSize] != handles[0][:idSize] {
			return out, hodl.Invalid(field, "is of another hydration: ask for each by itself")
		}
		if out.of == nil {
			if out.of, err = s.continuable(ctx, u, hodl.RecordID("acr_"+h[:idSize])); err != nil {
				return out, err
			}
		}
		if !s.store.Tagged(purposeHandle, sealed(u, out.of, part), tag) {
			return out, hodl.Invalid(field, "is no handle: take it from omitted")
		}
		out.parts = append(out.parts, part)
	}
	return out, nil
}

// continuable finds a hydration that may still be continued.
func (s *Service) continuable(ctx context.Context, u *use, id hodl.RecordID) (*hodl.Record, error) {
	rec, err := s.own(ctx, u, id)
	if err != nil {
		return nil, err
	}
	if rec == nil || rec.Kind != hodl.KindHydrate && rec.Kind != hodl.KindUnchanged || u.rows.At.Sub(rec.At) > handlesFor {
		return nil, gone()
	}
	return rec, nil
}

func gone() error {
	return hodl.Errorf(hodl.Gone, "these handles are not good, or no longer").WithHint("they work for a quarter of an hour, for the token they were given to and under the same policy; hydrate again")
}

const tooSmall = "is too small for the next item: ask for more, or leave it out"

// TooSmall reports whether a continuation was refused because its bound holds none of
// what is left.
func TooSmall(err error) bool {
	e, ok := errors.AsType[*hodl.Error](err)
	return ok && len(e.Fields) == 1 && e.Fields[0].Message == tooSmall
}

func policyMoved() error {
	return hodl.Errorf(hodl.Unavailable, "a redaction policy was changed meanwhile").WithHint("try again")
}

// continued hands over what a hydration left out for its size: the version it was
// of, under every check of a hydration but those of what is left to take, for it
// takes nothing. It is recorded as such.
func (s *Service) continued(ctx context.Context, u *use, a Ask) (*Hydration, error) {
	at, err := s.look(ctx, u, u.admit)
	if err != nil {
		return nil, err
	}
	o, err := s.open(ctx, u, a.Include)
	if err != nil {
		return nil, err
	}
	view, err := s.rest(ctx, u, at, o, a)
	if errors.Is(err, errPoliciesMoved) {
		return nil, policyMoved()
	}
	if hodl.CodeOf(err) == hodl.NotFound {
		return nil, gone() // the version was erased
	}
	if err != nil {
		return nil, err
	}
	rec := u.record(hodl.RecordID(s.store.NewID("acr")), hodl.KindContinue)
	rec.Fingerprint, rec.Hydration = o.of.Fingerprint, o.of.ID
	h, err := s.note(rec, o.of, u, view)
	if err != nil {
		return nil, err
	}
	err = s.store.Read(ctx, u.rows, func(a store.Admission) error {
		if err := u.admit(a); err != nil {
			return err
		}
		if a.Session.Policy != at.Policy {
			return policyMoved()
		}
		return nil
	}, rec, u.Detail)
	if err != nil {
		return nil, err
	}
	return h, nil
}

// rest renders the parts of what a hydration was of.
func (s *Service) rest(ctx context.Context, u *use, at store.SessionState, o opened, a Ask) (*rendered, error) {
	f, err := s.inForce(ctx, policyKeyOf(u, at))
	if err != nil {
		return nil, err
	}
	policy, _ := f.at(u.rows.At)
	if !slices.Equal(o.of.Policies, policy.Uses()) {
		return nil, gone()
	}
	if at.Fingerprint != o.of.Fingerprint {
		v, err := s.store.ListedVersion(ctx, u.rows.Workspace, u.rows.Mode, u.rows.Session, o.of.Fingerprint)
		if err != nil {
			return nil, err
		}
		at.Fingerprint, at.CapturedAt = v.Fingerprint, v.CapturedAt
	}
	view, cleaned, err := s.view(ctx, u, policy, at)
	if err != nil {
		return nil, err
	}
	if o.of.Hydration != "" { // it handed over what had changed
		from, err := s.since(ctx, u, o.of.Hydration)
		if err != nil || from == nil {
			return nil, gone()
		}
		old, _, err := s.view(ctx, u, policy, store.SessionState{Fingerprint: from.Fingerprint, CapturedAt: at.CapturedAt})
		if err != nil {
			return nil, err
		}
		view = view.Since(old)
	}
	fitted, err := view.Parts(o.parts).Fit(render.Options{Format: a.Format, MaxTokens: a.MaxTokens})
	if err != nil {
		return nil, err
	}
	if fitted.Empty() {
		return nil, hodl.Invalid("max_tokens", tooSmall)
	}
	return &rendered{fitted: fitted, policies: cleaned.Policies(), uses: cleaned.Uses()}, nil
}
