package capture

import (
	"context"
	"encoding/json"
	"errors"

	"hodl"
	"hodl/internal/store"
)

// A HodlResult is what became of one of many hodls: it, or why not.
type HodlResult struct {
	Hodl *hodl.Hodl
	Err  error
}

// Hodls captures many. Each is taken or refused by itself, except that those that
// join one session do so together, in one version of it.
func (s *Service) Hodls(ctx context.Context, p *hodl.Principal, drafts []hodl.HodlDraft) []HodlResult {
	out := make([]HodlResult, len(drafts))
	for i := range drafts {
		out[i].Hodl, out[i].Err = s.newHodl(p, &drafts[i])
	}
	s.putAll(ctx, p, out)
	return out
}

// putAll saves the results that are no refusals yet, and puts those that the store
// refuses in their place.
func (s *Service) putAll(ctx context.Context, p *hodl.Principal, all []HodlResult) {
	var loose []int
	joining := map[hodl.SessionID][]int{}
	for i, r := range all {
		switch {
		case r.Err != nil:
		case r.Hodl.SessionID == "":
			loose = append(loose, i)
		default:
			joining[r.Hodl.SessionID] = append(joining[r.Hodl.SessionID], i)
		}
	}
	s.putLoose(ctx, p, all, loose)
	for id, places := range joining {
		s.putGroup(ctx, p, all, id, places)
	}
}

func (s *Service) putLoose(ctx context.Context, p *hodl.Principal, all []HodlResult, places []int) {
	writes := make([]store.HodlWrite, len(places))
	for n, i := range places {
		writes[n] = store.HodlWrite{Workspace: p.Workspace, Mode: p.Mode, User: p.User, Hodl: *all[i].Hodl, Place: i}
	}
	for n, err := range s.store.PutHodls(ctx, writes) {
		if err != nil {
			settle(all, places[n:n+1], err)
		}
	}
}

// settle says of hodls that were not saved why: they were refused, or they were saved
// when the same request came before, and that is what they are.
func settle(all []HodlResult, places []int, err error) {
	var before []*hodl.Hodl
	if again, repeated := errors.AsType[*store.Repeat](err); repeated {
		err = json.Unmarshal(again.Answer, &before)
	}
	for n, i := range places {
		if all[i] = (HodlResult{Err: err}); n < len(before) {
			all[i].Hodl = before[n]
		}
	}
}

// putGroup saves hodls that join a session. Should one of them be there already,
// each is tried by itself.
func (s *Service) putGroup(ctx context.Context, p *hodl.Principal, all []HodlResult, id hodl.SessionID, places []int) {
	err := s.putJoining(ctx, p, all, id, places)
	switch {
	case err == nil:
	case hodl.CodeOf(err) == hodl.Conflict && len(places) > 1:
		for n := range places {
			s.putGroup(ctx, p, all, id, places[n:n+1])
		}
	default:
		settle(all, places, err)
	}
}

func (s *Service) putJoining(ctx context.Context, p *hodl.Principal, all []HodlResult, id hodl.SessionID, places []int) error {
	hodls := make([]*hodl.Hodl, len(places))
	rest := make([]hodl.Hodl, 0, len(places))
	for n, i := range places {
		if hodls[n] = all[i].Hodl; n > 0 {
			rest = append(rest, *hodls[n])
		}
	}
	item := store.Item(ctx, places[0], func(any) ([]byte, error) { return json.Marshal(hodls) })
	return again("", func() error {
		sessions, err := s.rehold(ctx, p, hodls[0].ID, "", id, hodls...)
		if err != nil {
			return err
		}
		return s.store.PutHodl(item, store.HodlWrite{
			Workspace: p.Workspace, Mode: p.Mode, User: p.User, Hodl: *hodls[0], With: rest, Sessions: sessions,
		})
	})
}
