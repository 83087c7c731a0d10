package serve

import (
	"context"
	"errors"

	"hodl"
	"hodl/internal/auth"
	"hodl/internal/store"
)

// FirstWorkspace is the workspace that the first start makes.
const FirstWorkspace = "default"

// CreateWorkspace makes a workspace with one member, who is its admin.
func CreateWorkspace(ctx context.Context, s *store.Store, name string, plan hodl.PlanName) (*hodl.Workspace, error) {
	if err := hodl.CheckName("workspace", name); err != nil {
		return nil, err
	}
	if _, err := hodl.PlanOf(plan); err != nil {
		return nil, err
	}
	w := hodl.Workspace{ID: hodl.WorkspaceID(s.NewID("wks")), Name: name, Plan: plan, CreatedAt: s.Now()}
	return &w, s.CreateWorkspace(ctx, w, hodl.UserID(s.NewID("usr")))
}

// operator is what may be given to a key by who holds the database.
var operator = hodl.Rights{Mode: hodl.Live, Scopes: []string{hodl.Everything}}

// CreateKey makes a key for a member of a workspace, the first admin when user is
// empty. It works on the database itself, whether a server runs or not.
func CreateKey(ctx context.Context, s *store.Store, w *hodl.Workspace, user hodl.UserID, d hodl.KeyDraft) (*Credential, error) {
	rights, err := d.Rights(operator, s.Now())
	if err == nil && user == "" {
		user, err = s.FirstAdmin(ctx, w.ID)
	}
	if err != nil {
		return nil, err
	}
	return addKey(ctx, s, w, user, d.Name, auth.NewKey(rights.Mode), rights)
}

func addKey(ctx context.Context, s *store.Store, w *hodl.Workspace, user hodl.UserID, name, key string, rights hodl.Rights) (*Credential, error) {
	k := hodl.APIKey{
		ID: hodl.KeyID(s.NewID("key")), Workspace: w.ID, User: user, Name: name, LastFour: auth.LastFour(key), CreatedAt: s.Now(),
	}
	k.Grant(rights)
	return &Credential{w, key, k}, s.AddKey(ctx, k, auth.Digest(key))
}

// firstKeys makes the first workspace and a key of each mode, for a database that
// was never used before.
func firstKeys(ctx context.Context, s *store.Store) ([]*Credential, error) {
	w, err := CreateWorkspace(ctx, s, FirstWorkspace, hodl.Enterprise)
	if errors.Is(err, &hodl.Error{Code: hodl.Conflict}) {
		return nil, nil // hodl key create was here first, and showed its own
	}
	if err != nil {
		return nil, err
	}
	var out []*Credential
	for _, m := range []hodl.Mode{hodl.Live, hodl.Sandbox} {
		c, err := CreateKey(ctx, s, w, "", hodl.KeyDraft{Name: "first " + string(m) + " key", Mode: m})
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}
