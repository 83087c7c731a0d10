package httpapi

import (
	"context"

	"hodl"
	"hodl/internal/store"
)

// checkFingerprint refuses what cannot be a fingerprint, as what it is: not there.
func checkFingerprint(s string) error {
	const digits = 64 // SHA-256 in hex
	if len(s) == digits {
		return nil
	}
	return hodl.Errorf(hodl.NotFound, "no version %.80q", s).WithHint("a fingerprint is 64 hexadecimal digits; the session's versions list them")
}

func (s *server) sessionVersion(ctx context.Context, in *struct {
	SessionPath
	Fingerprint string `path:"fingerprint" doc:"The version"`
},
) (*contentReply, error) {
	x, err := s.own(ctx, &in.SessionPath)
	if err != nil {
		return nil, err
	}
	if err := checkFingerprint(in.Fingerprint); err != nil {
		return nil, err
	}
	return s.content(ctx, x, in.Fingerprint)
}

type versionsReply struct {
	Body struct {
		Versions []hodl.Version `json:"versions" doc:"A page of versions, last captured first"`
		Next     *string        `json:"next_cursor" doc:"Cursor of the next page; null at the end"`
	}
}

func (s *server) sessionVersions(ctx context.Context, in *struct {
	SessionPath
	Paging
},
) (*versionsReply, error) {
	x, err := s.own(ctx, &in.SessionPath)
	if err != nil {
		return nil, err
	}
	page, err := in.byTime()
	if err != nil {
		return nil, err
	}
	list, err := s.Store.Versions(ctx, x.Workspace, x.Mode, x.ID, page)
	out := &versionsReply{}
	out.Body.Versions = list
	out.Body.Next = more(list, page.Limit, func(v hodl.Version) string { return encodeCursor(encodeTime(v.CapturedAt), v.Fingerprint) })
	return out, err
}

type diffReply struct {
	Body struct {
		ID   hodl.SessionID `json:"session_id" doc:"The session"`
		From *hodl.Version  `json:"from,omitempty" doc:"The version before; left out when there was none"`
		To   hodl.Version   `json:"to" doc:"The version after"`
		hodl.Diff
	}
}

func (s *server) sessionDiff(ctx context.Context, in *struct {
	SessionPath
	From string `query:"from" doc:"Fingerprint of the version before; the one captured before to when absent"`
	To   string `query:"to" doc:"Fingerprint of the version after; the current one when absent"`
},
) (*diffReply, error) {
	x, err := s.own(ctx, &in.SessionPath)
	if err != nil {
		return nil, err
	}
	out := &diffReply{}
	out.Body.ID = x.ID
	if in.To == "" {
		in.To = x.Fingerprint
	}
	if out.Body.To, err = s.listed(ctx, x, in.To); err != nil {
		return nil, err
	}
	if out.Body.From, err = s.earlier(ctx, x, in.From, out.Body.To); err != nil {
		return nil, err
	}
	out.Body.Diff, err = s.compare(ctx, x, out.Body.From, out.Body.To)
	return out, err
}

func (s *server) listed(ctx context.Context, x *hodl.Session, fingerprint string) (hodl.Version, error) {
	if err := checkFingerprint(fingerprint); err != nil {
		return hodl.Version{}, err
	}
	return s.Store.ListedVersion(ctx, x.Workspace, x.Mode, x.ID, fingerprint)
}

// earlier returns the version called fingerprint, or, without a name, the one
// captured before to. The current version may be an old one that was captured
// again: before it stood the last of the others.
func (s *server) earlier(ctx context.Context, x *hodl.Session, fingerprint string, to hodl.Version) (*hodl.Version, error) {
	if fingerprint != "" {
		v, err := s.listed(ctx, x, fingerprint)
		return &v, err
	}
	page := store.Page{Limit: 2}
	if !to.Current {
		page.BeforeTime, page.BeforeID = to.CapturedAt, to.Fingerprint
	}
	list, err := s.Store.Versions(ctx, x.Workspace, x.Mode, x.ID, page)
	for _, v := range list {
		if v.Fingerprint != to.Fingerprint {
			return &v, err
		}
	}
	return nil, err
}

func (s *server) compare(ctx context.Context, x *hodl.Session, from *hodl.Version, to hodl.Version) (hodl.Diff, error) {
	was := &hodl.Content{}
	if from != nil {
		body, err := s.Store.Version(ctx, x.Workspace, x.Mode, x.ID, from.Fingerprint)
		if err != nil {
			return hodl.Diff{}, err
		}
		was = &body.Content
	}
	is, err := s.Store.Version(ctx, x.Workspace, x.Mode, x.ID, to.Fingerprint)
	if err != nil {
		return hodl.Diff{}, err
	}
	return hodl.DiffOf(was, &is.Content), nil
}
