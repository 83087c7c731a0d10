package resume

import (
	"context"

	"hodl"
	"hodl/internal/redact"
	"hodl/internal/store"
)

// noSession stands for the session of a hodl that is in none.
const noSession = hodl.SessionID("ses_none")

// A Lens shows what is listed as an agent may see it: titles are content, and go
// through the policies in force.
type Lens struct {
	service   *Service
	workspace hodl.WorkspaceID
	policy    *redact.Policy
}

// Lens returns what an agent sees lists through: the workspace's current policy, and
// those that its token names ("" for none).
func (s *Service) Lens(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, named string) (*Lens, error) {
	p, err := s.current(ctx, ws, m, named)
	if err != nil {
		return nil, err
	}
	return &Lens{s, ws, p}, nil
}

// Session is a session as an agent sees it in a list.
func (l *Lens) Session(x *hodl.Session) (*hodl.Session, error) {
	c, err := l.show(x.ID, hodl.Content{Title: x.Title, Summary: x.Summary, Tags: x.Tags})
	if err != nil {
		return nil, err
	}
	out := *x
	out.Title, out.Summary, out.Tags = c.Title, c.Summary, c.Tags
	return &out, nil
}

// Hodl is a hodl as an agent sees it outside of a session.
func (l *Lens) Hodl(h *hodl.Hodl) (*hodl.Hodl, error) {
	c, err := l.show(noSession, hodl.Content{Hodls: []hodl.Hodl{*h}})
	if err != nil || len(c.Hodls) == 0 {
		return nil, err
	}
	return &c.Hodls[0], nil
}

func (l *Lens) show(id hodl.SessionID, c hodl.Content) (hodl.Content, error) {
	r, err := l.service.redacted(l.policy, l.workspace, id, store.SessionState{}, &store.VersionBody{Content: c})
	return r.Content(), err
}
