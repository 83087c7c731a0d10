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

// CreateKey makes a key for the first admin of a workspace. It works on the database
// itself, whether a server runs or not.
func CreateKey(ctx context.Context, s *store.Store, w *hodl.Workspace, m hodl.Mode, name string) (*Credential, error) {
	user, err := s.FirstAdmin(ctx, w.ID)
	if err != nil {
		return nil, err
	}
	return addKey(ctx, s, w, user, m, name, auth.NewKey(m), []string{"*"})
}

func addKey(ctx context.Context, s *store.Store, w *hodl.Workspace, user hodl.UserID, m hodl.Mode, name, key string, scopes []string) (*Credential, error) {
	k := hodl.APIKey{
		ID: hodl.KeyID(s.NewID("key")), Workspace: w.ID, User: user, Mode: m, Name: name,
		LastFour: auth.LastFour(key), Scopes: scopes, CreatedAt: s.Now(),
	}
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
		c, err := CreateKey(ctx, s, w, m, "first "+string(m)+" key")
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}
