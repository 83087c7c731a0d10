package httpapi

import (
	"context"
	"slices"
	"time"

	"hodl"
	"hodl/internal/auth"
	"hodl/internal/store"
)

// WorkspaceBody is a workspace as told.
type WorkspaceBody struct {
	ID        hodl.WorkspaceID `json:"workspace_id" doc:"The workspace"`
	Name      string           `json:"name" doc:"What it is called"`
	Plan      hodl.PlanName    `json:"plan" enum:"developer,startup,scale,enterprise" doc:"Its plan"`
	TTL       int              `json:"max_ttl_seconds" doc:"The longest life of a resume token"`
	Most      int              `json:"max_hydrations" doc:"The most hydrations a resume token is good for"`
	Hourly    int              `json:"hydrations_an_hour" doc:"Hydrations of one session in an hour; 0 for no cap"`
	Receipts  bool             `json:"token_receipts" doc:"Whether a resume token gets a receipt with each hydration; it tells the size of the access log"`
	CreatedAt time.Time        `json:"created_at" doc:"When it was made (RFC 3339, UTC)"`
}

func workspaceOf(w *hodl.Workspace) WorkspaceBody {
	return WorkspaceBody{w.ID, w.Called(), w.Plan, int(w.Limits.TTL.Seconds()), w.Limits.MaxHydrations, w.Limits.Hourly, w.Receipts, w.CreatedAt}
}

type workspaceReply struct{ Body WorkspaceBody }

// WorkspacePath names a workspace.
type WorkspacePath struct {
	ID hodl.WorkspaceID `path:"id" doc:"The workspace"`
}

// own refuses every workspace but the key's, there or not.
func (in *WorkspacePath) own(p *hodl.Principal) error {
	if in.ID != p.Workspace {
		return hodl.Errorf(hodl.NotFound, "no workspace %s", in.ID).WithHint("a key opens the one workspace that GET /v1/me shows")
	}
	return nil
}

type joinedBody struct {
	ID   hodl.WorkspaceID `json:"workspace_id" doc:"The workspace"`
	Name string           `json:"name" doc:"What it is called"`
	Role hodl.Role        `json:"role" enum:"admin,member" doc:"What the person may do there"`
}

// joined lists the workspaces the caller is a member of, newest first.
func (s *server) joined(ctx context.Context) ([]joinedBody, error) {
	list, err := s.Store.Memberships(ctx, principal(ctx).User)
	out := make([]joinedBody, 0, len(list))
	for _, m := range list {
		w, err := s.Store.Workspace(ctx, m.Workspace)
		if err != nil {
			return nil, err
		}
		out = append(out, joinedBody{m.Workspace, w.Called(), m.Role})
	}
	return out, err
}

type workspaceListReply struct {
	Body struct {
		Workspaces []joinedBody `json:"workspaces" doc:"A page of the workspaces you are a member of"`
		Next       *string      `json:"next_cursor" doc:"Cursor of the next page; null at the end"`
	}
}

func (s *server) workspaceList(ctx context.Context, in *struct {
	Limit  int    `query:"limit" doc:"How many, 1 to 100; 20 when absent. More or less is brought within"`
	Cursor string `query:"cursor" doc:"next_cursor of the page before"`
},
) (*workspaceListReply, error) {
	page, err := (&Paging{Limit: in.Limit, Cursor: in.Cursor}).byID()
	if err != nil {
		return nil, err
	}
	list, err := s.joined(ctx)
	if page.BeforeID != "" {
		list = slices.DeleteFunc(list, func(w joinedBody) bool { return string(w.ID) >= page.BeforeID })
	}
	out := &workspaceListReply{}
	out.Body.Workspaces = list[:min(page.Limit, len(list))]
	out.Body.Next = more(out.Body.Workspaces, page.Limit, func(w joinedBody) string { return encodeCursor(string(w.ID)) })
	return out, err
}

type foundedReply struct {
	Body struct {
		WorkspaceBody
		Key keyBody `json:"api_key" doc:"A key of the new workspace, as wide as the one it was made with; it is shown this once"`
	}
}

// workspaceCreate founds a workspace of the same person. A plan that has a quota
// would have it twice then: those who need more take a larger one.
func (s *server) workspaceCreate(ctx context.Context, in *struct {
	Body struct {
		Name string `json:"name" doc:"What it is called; at most 256 bytes"`
	}
},
) (*foundedReply, error) {
	p, err := adminOf(ctx)
	if err == nil {
		err = hodl.CheckName("name", in.Body.Name)
	}
	if err != nil {
		return nil, err
	}
	if plan, err := hodl.PlanOf(p.Plan); err != nil || plan.Hydrations > 0 {
		return nil, hodl.Errorf(hodl.Forbidden, "the plan %s has one workspace", p.Plan).WithHint("take a plan without a quota, or ask the operator: hodl key create --create-workspace")
	}
	now, key := s.Store.Now(), auth.NewKey(hodl.Live)
	id := hodl.WorkspaceID(s.Store.NewID("wks"))
	w := hodl.Workspace{ID: id, Name: string(id), Label: in.Body.Name, Plan: p.Plan, Limits: hodl.DefaultLimits, CreatedAt: now}
	k := hodl.APIKey{ID: hodl.KeyID(s.Store.NewID("key")), Workspace: id, User: p.User, Name: "first live key", LastFour: auth.LastFour(key), CreatedAt: now}
	k.Grant(p.Rights())
	return answer(ctx, func(nothing) *foundedReply {
		out := &foundedReply{}
		out.Body.WorkspaceBody, out.Body.Key = workspaceOf(&w), keyOf(&k)
		out.Body.Key.Key = key
		return out
	})(done(s.Store.Found(ctx, w, p.User, &store.NewKey{APIKey: k, Digest: auth.Digest(key)})))
}

func (s *server) workspaceGet(ctx context.Context, in *WorkspacePath) (*workspaceReply, error) {
	if err := in.own(principal(ctx)); err != nil {
		return nil, err
	}
	w, err := s.Store.Workspace(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return &workspaceReply{workspaceOf(w)}, nil
}

func (s *server) workspaceChange(ctx context.Context, in *struct {
	WorkspacePath
	Body struct {
		Name   *string `json:"name,omitempty" doc:"New name"`
		TTL    *int    `json:"max_ttl_seconds,omitempty" doc:"The longest life of tokens minted from now on, 60 to 86,400 seconds"`
		Most   *int    `json:"max_hydrations,omitempty" doc:"The most hydrations tokens minted from now on are good for, 1 to 1,000"`
		Hourly *int    `json:"hydrations_an_hour,omitempty" doc:"Hydrations of one session in an hour of the clock (UTC), from now on; 0 for no cap"`

		Receipts *bool `json:"token_receipts,omitempty" doc:"Whether resume tokens get receipts, from now on"`
	}
},
) (*workspaceReply, error) {
	if err := in.own(principal(ctx)); err != nil {
		return nil, err
	}
	if _, err := adminOf(ctx); err != nil {
		return nil, err
	}
	reply := answer(ctx, func(w *hodl.Workspace) *workspaceReply { return &workspaceReply{workspaceOf(w)} })
	return reply(s.Store.ChangeWorkspace(ctx, in.ID, func(w *hodl.Workspace) error {
		b := &in.Body
		if b.Name != nil {
			if err := hodl.CheckName("name", *b.Name); err != nil {
				return err
			}
			w.Label = *b.Name
		}
		if b.TTL != nil {
			w.Limits.TTL = time.Duration(*b.TTL) * time.Second
		}
		if b.Most != nil {
			w.Limits.MaxHydrations = *b.Most
		}
		if b.Hourly != nil {
			w.Limits.Hourly = *b.Hourly
		}
		if b.Receipts != nil {
			w.Receipts = *b.Receipts
		}
		store.Result(ctx, w)
		return nil
	}))
}
