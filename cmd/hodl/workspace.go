package main

import (
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"hodl"
	"hodl/client"
)

func workspaceListCommand(e *env) *cobra.Command {
	var page client.Page
	c := &cobra.Command{
		Use: "list", Short: "List the workspaces you are a member of, newest first", Args: exactly(),
		Example: `  hodl workspace list`,
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := e.client()
			if err != nil {
				return err
			}
			list, err := api.Workspaces(c.Context(), page)
			return e.show(err, func() error {
				defer e.more(list.Next)
				rows := make([][]string, 0, len(list.Workspaces))
				for _, w := range list.Workspaces {
					rows = append(rows, []string{string(w.ID), string(w.Role), w.Name})
				}
				return e.printTable([]string{"ID", "ROLE", "NAME"}, rows)
			})
		},
	}
	return pages(e.reaches(c), &page)
}

func workspaceCreateCommand(e *env) *cobra.Command {
	c := &cobra.Command{
		Use: "create NAME", Short: "Make a workspace of your own, as an admin", Args: exactly("NAME"),
		Long: `Makes a workspace on the plan of yours, of which you are the admin, and prints a key
of it, this once. The key is as wide as the one you ask with. Who holds the database
makes workspaces on any plan: hodl key create --create-workspace.`,
		Example: `  hodl workspace create "side project"`,
		RunE: func(c *cobra.Command, args []string) error {
			api, err := e.client()
			if err != nil {
				return err
			}
			w, err := api.CreateWorkspace(c.Context(), args[0])
			return e.show(err, func() error {
				e.note("%s key %s of workspace %s; it is shown this once", w.Key.Mode, w.Key.ID, w.ID)
				return e.printLine(w.Key.Key)
			})
		},
	}
	return e.reaches(c)
}

func workspaceShowCommand(e *env) *cobra.Command {
	c := &cobra.Command{
		Use: "show", Short: "Show the workspace of your key", Args: exactly(),
		Example: `  hodl workspace show`,
		RunE: func(c *cobra.Command, _ []string) error {
			api, id, err := e.ownWorkspace(c)
			if err != nil {
				return err
			}
			w, err := api.Workspace(c.Context(), id)
			return e.show(err, func() error { return e.printWorkspace(w) })
		},
	}
	return e.reaches(c)
}

// ownWorkspace returns a client and the workspace of its key.
func (e *env) ownWorkspace(c *cobra.Command) (*client.Client, hodl.WorkspaceID, error) {
	api, err := e.client()
	if err != nil {
		return nil, "", err
	}
	me, err := api.Me(c.Context())
	if err != nil {
		return nil, "", e.failed(err)
	}
	return api, me.Workspace, nil
}

func workspaceSetCommand(e *env) *cobra.Command {
	var name string
	var ttl time.Duration
	var hydrations, hourly int
	var receipts bool
	c := &cobra.Command{
		Use: "set", Short: "Change the workspace of your key, as an admin", Args: exactly(),
		Long: `Changes what the workspace of your key is called and how far its resume tokens go.
The largest life and number of hydrations bind tokens minted from then on, the cap at
once.`,
		Example: `  hodl workspace set --name "acme research"
  hodl workspace set --max-ttl 1h --max-hydrations 20 --hydrations-an-hour 100`,
		RunE: func(c *cobra.Command, _ []string) error {
			seconds := int(ttl / time.Second)
			change := client.WorkspaceChange{
				Name: flagged(c, "name", &name), MaxTTLSeconds: flagged(c, "max-ttl", &seconds),
				MaxHydrations: flagged(c, "max-hydrations", &hydrations), HydrationsAnHour: flagged(c, "hydrations-an-hour", &hourly),
				TokenReceipts: flagged(c, "token-receipts", &receipts),
			}
			if change == (client.WorkspaceChange{}) {
				return hint(usagef("nothing to set"), "give --name, --max-ttl, --max-hydrations, --hydrations-an-hour or --token-receipts")
			}
			api, id, err := e.ownWorkspace(c)
			if err != nil {
				return err
			}
			w, err := api.ChangeWorkspace(c.Context(), id, change)
			return e.show(err, func() error { return e.printWorkspace(w) })
		},
	}
	f := c.Flags()
	f.StringVar(&name, "name", "", "what it is called")
	f.DurationVar(&ttl, "max-ttl", hodl.MaxTTL, "the longest life of a token, 1m to 24h")
	f.IntVar(&hydrations, "max-hydrations", hodl.MaxHydrations, "the most hydrations a token is good for, 1 to 1000")
	f.IntVar(&hourly, "hydrations-an-hour", 0, "hydrations of one session in an hour; 0 for no cap")
	f.BoolVar(&receipts, "token-receipts", false, "resume tokens get a receipt with each hydration; it tells the size of the access log")
	return e.reaches(c)
}

// flagged returns a flag's value, nil when the flag was not given.
func flagged[T any](c *cobra.Command, flag string, value *T) *T {
	if c.Flags().Changed(flag) {
		return value
	}
	return nil
}

func (e *env) printWorkspace(w *client.Workspace) error {
	hourly := "no cap"
	if w.HydrationsAnHour > 0 {
		hourly = strconv.Itoa(w.HydrationsAnHour)
	}
	return e.printFacts([][2]string{
		{"workspace", string(w.ID)},
		{"name", w.Name},
		{"plan", string(w.Plan)},
		{"made", w.CreatedAt.Local().Format(time.DateTime)},
		{"longest token", (time.Duration(w.MaxTTLSeconds) * time.Second).String()},
		{"most hydrations", strconv.Itoa(w.MaxHydrations)},
		{"hydrations an hour", hourly},
	})
}
