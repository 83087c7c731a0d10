package httpapi

import (
	"context"
	"strconv"

	"hodl"
)

// PolicyPath names a redaction policy.
type PolicyPath struct {
	Name string `path:"name" doc:"The policy: a preset, or one of the workspace's own" example:"default-strict"`
}

// PolicyMatch is the version a change is meant for.
type PolicyMatch struct {
	IfMatch string `header:"If-Match" doc:"Change only if the policy still stands at this version"`
}

type policyReply struct {
	ETag string `header:"ETag" doc:"The version"`
	Body *hodl.Policy
}

func replyPolicy(p *hodl.Policy) *policyReply { return &policyReply{etag(strconv.Itoa(p.Version)), p} }

type policyListReply struct {
	Body struct {
		Policies []*hodl.Policy `json:"redaction_policies" doc:"A page of the workspace's own policies in their last versions, last changed first"`
		Presets  []*hodl.Policy `json:"presets" doc:"The policies that every workspace has"`
		Current  string         `json:"current" doc:"The policy that applies to every hydration"`
		Next     *string        `json:"next_cursor" doc:"Cursor of the next page; null at the end"`
	}
}

func (s *server) policyList(ctx context.Context, in *struct {
	Limit  int    `query:"limit" doc:"How many, 1 to 100; 20 when absent. More or less is brought within"`
	Cursor string `query:"cursor" doc:"next_cursor of the page before"`
},
) (*policyListReply, error) {
	page, err := (&Paging{Limit: in.Limit, Cursor: in.Cursor}).byID()
	if err != nil {
		return nil, err
	}
	list, err := s.policies.List(ctx, principal(ctx), page)
	if err != nil {
		return nil, err
	}
	out := &policyListReply{}
	out.Body.Policies, out.Body.Presets, out.Body.Current = list.Policies, list.Presets, list.Current
	out.Body.Next = more(list.Policies, page.Limit, func(p *hodl.Policy) string { return encodeCursor(string(p.ID)) })
	return out, nil
}

func (s *server) policyGet(ctx context.Context, in *struct {
	PolicyPath
	Version int `query:"version" doc:"A version; the last one when absent"`
},
) (*policyReply, error) {
	p, err := s.policies.Get(ctx, principal(ctx), in.Name, in.Version)
	if err != nil {
		return nil, err
	}
	return replyPolicy(p), nil
}

func (s *server) policyPut(ctx context.Context, in *struct {
	PolicyPath
	PolicyMatch
	Body exact[hodl.PolicyDocument]
},
) (*policyReply, error) {
	return answer(ctx, replyPolicy)(s.policies.Put(ctx, principal(ctx), in.Name, in.Body.Value, entityTag(in.IfMatch)))
}

func (s *server) policyDelete(ctx context.Context, in *struct {
	PolicyPath
	PolicyMatch
},
) (*deletedReply, error) {
	return answer(ctx, replyDeleted(in.Name))(done(s.policies.Delete(ctx, principal(ctx), in.Name, ifMatch(in.IfMatch))))
}

type policyVersionsReply struct {
	Body struct {
		Versions []*hodl.Policy `json:"versions" doc:"A page of versions, the last first"`
		Next     *string        `json:"next_cursor" doc:"Cursor of the next page; null at the end"`
	}
}

func (s *server) policyVersions(ctx context.Context, in *struct {
	PolicyPath
	Limit  int    `query:"limit" doc:"How many, 1 to 100; 20 when absent. More or less is brought within"`
	Cursor string `query:"cursor" doc:"next_cursor of the page before"`
},
) (*policyVersionsReply, error) {
	before := 0
	if in.Cursor != "" {
		parts, err := decodeCursor(in.Cursor, 1)
		if err == nil {
			before, err = strconv.Atoi(parts[0])
		}
		if err != nil {
			return nil, hodl.Invalid("cursor", "is no next_cursor of this list")
		}
	}
	limit := (&Paging{Limit: in.Limit}).limit()
	list, err := s.policies.Versions(ctx, principal(ctx), in.Name, before, limit)
	out := &policyVersionsReply{}
	out.Body.Versions = list
	out.Body.Next = more(list, limit, func(p *hodl.Policy) string { return encodeCursor(strconv.Itoa(p.Version)) })
	return out, err
}

func (s *server) policyRollback(ctx context.Context, in *struct {
	PolicyPath
	PolicyMatch
	Body struct {
		Version int `json:"version" doc:"The version whose document the next one takes over"`
	}
},
) (*policyReply, error) {
	return answer(ctx, replyPolicy)(s.policies.Rollback(ctx, principal(ctx), in.Name, in.Body.Version, ifMatch(in.IfMatch)))
}

func (s *server) policyUse(ctx context.Context, in *PolicyPath) (*policyReply, error) {
	return answer(ctx, replyPolicy)(s.policies.Use(ctx, principal(ctx), in.Name))
}

func (s *server) policyPreview(ctx context.Context, in *struct {
	PolicyPath
	Body exact[hodl.PreviewDraft]
},
) (*struct{ Body *hodl.Preview }, error) {
	if !principal(ctx).May("sessions:read") {
		return nil, hodl.Errorf(hodl.InsufficientScope, "this key does not carry sessions:read").WithHint("use a key with that scope")
	}
	p, err := s.Resume.Preview(ctx, caller(ctx), in.Name, in.Body.Value)
	return &struct{ Body *hodl.Preview }{p}, err
}
