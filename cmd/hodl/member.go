package main

import (
	"github.com/spf13/cobra"

	"hodl"
	"hodl/client"
)

func memberListCommand(e *env) *cobra.Command {
	var page client.Page
	c := &cobra.Command{
		Use: "list", Short: "List the members of the workspace, newest first", Args: exactly(),
		Example: `  hodl member list
  hodl member list --json`,
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := e.client()
			if err != nil {
				return err
			}
			list, err := api.Members(c.Context(), page)
			return e.show(err, func() error {
				defer e.more(list.Next)
				rows := make([][]string, 0, len(list.Members))
				for _, m := range list.Members {
					rows = append(rows, []string{string(m.User), string(m.Role), relative(m.CreatedAt, e.now()), m.Name})
				}
				return e.printTable([]string{"ID", "ROLE", "SINCE", "NAME"}, rows)
			})
		},
	}
	return pages(e.reaches(c), &page)
}

func memberAddCommand(e *env) *cobra.Command {
	var role string
	c := &cobra.Command{
		Use: "add NAME", Short: "Invite a new member, as an admin", Args: exactly("NAME"),
		Long: `Makes a member and prints an invitation, this once. Give it to them: it is good for
one first key, within three days. You never see that key, so what they keep is theirs.`,
		Example: `  hodl member add "Ada Lovelace"
  hodl member add "Grace Hopper" --role admin`,
		RunE: func(c *cobra.Command, args []string) error {
			api, err := e.client()
			if err != nil {
				return err
			}
			m, err := api.AddMember(c.Context(), client.MemberDraft{Name: args[0], Role: hodl.Role(role)})
			return e.show(err, func() error {
				e.note("%s is %s; they join with: hodl member join --key -", m.User, m.Role)
				return e.printLine(m.Invitation)
			})
		},
	}
	c.Flags().StringVar(&role, "role", "member", "member or admin")
	return e.reaches(c)
}

func memberJoinCommand(e *env) *cobra.Command {
	c := &cobra.Command{
		Use: "join", Short: "Trade an invitation for a first key", Args: exactly(),
		Long: `Trades the invitation that an admin gave you for your first key, and prints it,
this once. An invitation that was traded is over.`,
		Example: `  hodl member join --key -          paste the invitation`,
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := e.client()
			if err != nil {
				return err
			}
			k, err := api.Join(c.Context())
			return e.show(err, func() error {
				e.note("%s key %s; it is shown this once", k.Mode, k.ID)
				return e.printLine(k.Key)
			})
		},
	}
	return e.reaches(c)
}

func memberRemoveCommand(e *env) *cobra.Command {
	c := &cobra.Command{
		Use: "remove ID", Short: "Remove a member, as an admin; their keys and tokens end", Args: exactly("ID"),
		Example: `  hodl member remove usr_01KAQ3M7T4Z0X8W2V6R5N9P1JC`,
		RunE: func(c *cobra.Command, args []string) error {
			api, err := e.client()
			if err != nil {
				return err
			}
			err = api.RemoveMember(c.Context(), hodl.UserID(args[0]))
			return e.show(err, func() error { return e.printLine("removed " + args[0]) })
		},
	}
	return e.reaches(c)
}

func memberRoleCommand(e *env) *cobra.Command {
	c := &cobra.Command{
		Use: "role ID ROLE", Short: "Make a member an admin, or an admin a member", Args: exactly("ID", "ROLE"),
		Example: `  hodl member role usr_01KAQ3M7T4Z0X8W2V6R5N9P1JC admin`,
		RunE: func(c *cobra.Command, args []string) error {
			role := hodl.Role(args[1])
			if err := hodl.CheckRole(role); err != nil {
				return usage(err)
			}
			api, err := e.client()
			if err != nil {
				return err
			}
			m, err := api.ChangeMember(c.Context(), hodl.UserID(args[0]), client.MemberChange{Role: &role})
			return e.show(err, func() error { return e.printLine(string(m.User) + " is " + string(m.Role)) })
		},
	}
	return e.reaches(c)
}
