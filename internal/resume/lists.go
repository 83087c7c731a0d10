package resume

import (
	"hodl"
	"hodl/internal/redact"
)

// What an agent sees of a list went through the policy too: titles are content.

// noSession stands for the session of a hodl that is in none.
const noSession = hodl.SessionID("ses_none")

// ShowSession is a session as an agent sees it in a list.
func (s *Service) ShowSession(x *hodl.Session) (*hodl.Session, error) {
	c, err := listed(hodl.Session{ID: x.ID}, hodl.Content{Title: x.Title, Summary: x.Summary, Tags: x.Tags})
	if err != nil {
		return nil, err
	}
	out := *x
	out.Title, out.Summary, out.Tags = c.Title, c.Summary, c.Tags
	return &out, nil
}

// ShowHodl is a hodl as an agent sees it outside of a session.
func (s *Service) ShowHodl(h *hodl.Hodl) (*hodl.Hodl, error) {
	c, err := listed(hodl.Session{ID: noSession}, hodl.Content{Hodls: []hodl.Hodl{*h}})
	if err != nil || len(c.Hodls) == 0 {
		return nil, err
	}
	return &c.Hodls[0], nil
}

func listed(x hodl.Session, c hodl.Content) (hodl.Content, error) {
	policy, ok := redact.Lookup(redact.Off)
	if !ok {
		return hodl.Content{}, hodl.Errorf(hodl.Internal, "the policy %q is gone", redact.Off)
	}
	r, err := policy.Apply(x, c)
	return r.Content(), err
}
