package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hodl"
	"hodl/internal/serve"
)

// madeKey is a key as it is shown, this once.
type madeKey struct {
	Key         string           `json:"key"`
	ID          hodl.KeyID       `json:"id"`
	Name        string           `json:"name"`
	Mode        hodl.Mode        `json:"mode"`
	WorkspaceID hodl.WorkspaceID `json:"workspace_id"`
	Workspace   string           `json:"workspace"`
	Plan        hodl.PlanName    `json:"plan"`
	UserID      hodl.UserID      `json:"user_id"`
	Scopes      []string         `json:"scopes"`
	CreatedAt   time.Time        `json:"created_at"`
	ExpiresAt   *time.Time       `json:"expires_at"`
}

func made(c *serve.Credential) madeKey {
	k := madeKey{
		c.Key, c.Stored.ID, c.Stored.Name, c.Stored.Mode, c.Workspace.ID, c.Workspace.Name, c.Workspace.Plan,
		c.Stored.User, c.Stored.Scopes, c.Stored.CreatedAt, nil,
	}
	if !c.Stored.ExpiresAt.IsZero() {
		k.ExpiresAt = &c.Stored.ExpiresAt
	}
	return k
}

// keyOrder is the key that was asked for, and where.
type keyOrder struct {
	draft                 hodl.KeyDraft
	workspace, plan, user string
	createWorkspace       bool
	remote                bool
}

func keyCreateCommand(e *env) *cobra.Command {
	var config serve.Config
	var order keyOrder
	var rights keyFlags
	c := &cobra.Command{
		Use: "create", Short: "Make an API key", Args: exactly(),
		Long: `Makes an API key for the first admin of a workspace and prints it, this once. It
works on the database itself, so it needs no key, and it does not matter whether a
server runs. With --remote it asks the server for a key of your own, which is no wider
than the key you ask with. The other key commands ask the server.

Scopes: ` + strings.Join(hodl.KeyScopes, ", ") + `. A write implies the read.`,
		Example: `  hodl key create                                          a live key of the default workspace
  hodl key create --mode sandbox --name ci --json
  hodl key create --remote --scope hodls:write --scope sessions:read --expires 90d --address 192.0.2.0/24
  hodl key create --remote --capture-only --origin https://app.example.com
  hodl key create --workspace acme --create-workspace --plan startup
  hodl key create --database postgres://… --master-key-file master.key`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := rights.fill(&order.draft, e.now()); err != nil {
				return usage(err)
			}
			if order.remote {
				return e.keyCreateRemote(c.Context(), order.draft)
			}
			return e.keyCreate(c.Context(), config, order)
		},
	}
	e.stores(c, &config)
	e.reaches(c)
	f := c.Flags()
	rights.flags(f)
	f.StringVar(&order.draft.Name, "name", "made by hodl key create", "what the key is for")
	f.BoolVar(&order.remote, "remote", false, "ask the server at --url, with your own key")
	f.StringVar(&order.workspace, "workspace", serve.FirstWorkspace, "`NAME` of the workspace")
	f.StringVar(&order.user, "user", "", "`ID` of the member it is for (default the first admin)")
	f.BoolVar(&order.createWorkspace, "create-workspace", false, "make the workspace first")
	f.StringVar(&order.plan, "plan", "", "plan of a workspace that is made: developer, startup, scale or enterprise (default enterprise)")
	return c
}

func (e *env) keyCreateRemote(ctx context.Context, d hodl.KeyDraft) error {
	api, err := e.client()
	if err != nil {
		return err
	}
	k, err := api.CreateKey(ctx, d)
	return e.show(err, func() error {
		e.note("%s key %s; it is shown this once", k.Mode, k.ID)
		return e.printLine(k.Key)
	})
}

func (e *env) keyCreate(ctx context.Context, config serve.Config, order keyOrder) error {
	if order.plan != "" {
		if _, err := hodl.PlanOf(hodl.PlanName(order.plan)); err != nil {
			return usage(err)
		}
	}
	if config.Absent() {
		e.note("no database in %s yet: one is made", config.Data) // perhaps it is the wrong folder
	}
	config.Now = e.now
	key, err := order.fill(ctx, config)
	if err != nil {
		return err
	}
	if e.json {
		return e.printJSON(made(key))
	}
	e.note("%s key %s of workspace %s; it is shown this once", key.Stored.Mode, key.Stored.ID, key.Workspace.Name)
	return e.printLine(key.Key)
}

// fill makes the key in the database that config names.
func (o keyOrder) fill(ctx context.Context, config serve.Config) (key *serve.Credential, err error) {
	db, err := serve.OpenStore(ctx, config)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	w, err := db.WorkspaceNamed(ctx, o.workspace)
	w, err = o.placed(w, err, func(plan hodl.PlanName) (*hodl.Workspace, error) {
		return serve.CreateWorkspace(ctx, db, o.workspace, plan)
	})
	if err != nil {
		return nil, err
	}
	return serve.CreateKey(ctx, db, w, hodl.UserID(o.user), o.draft)
}

// placed returns the workspace the key goes to: the one that was found, or one that
// create makes. The default workspace is made when a database is new, others when
// that was asked for.
func (o keyOrder) placed(found *hodl.Workspace, err error, create func(hodl.PlanName) (*hodl.Workspace, error)) (*hodl.Workspace, error) {
	absent := errors.Is(err, &hodl.Error{Code: hodl.NotFound})
	switch {
	case err != nil && !absent:
		return nil, err
	case absent && !o.createWorkspace && o.workspace != serve.FirstWorkspace:
		return nil, hint(errors.New("there is no workspace called "+o.workspace), "add --create-workspace to make it")
	case absent:
		plan := hodl.PlanName(o.plan)
		if plan == "" {
			plan = hodl.Enterprise
		}
		return create(plan)
	case o.createWorkspace:
		return nil, hint(errors.New("a workspace called "+o.workspace+" is already there"), "leave out --create-workspace, or choose another name")
	case o.plan != "":
		return nil, hint(errors.New("workspace "+o.workspace+" is already on a plan"), "leave out --plan: it is for a workspace that is made")
	}
	return found, nil
}
