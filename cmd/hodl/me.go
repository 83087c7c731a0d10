package main

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hodl/client"
)

func meCommand(e *env) *cobra.Command {
	c := &cobra.Command{
		Use: "me", Aliases: []string{"whoami"}, Short: "Show who your key belongs to and what it may do", Args: exactly(),
		Example: `  hodl me
  hodl me --json`,
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := e.client()
			if err != nil {
				return err
			}
			me, err := api.Me(c.Context())
			return e.show(err, func() error { return e.printMe(me) })
		},
	}
	return e.reaches(c)
}

func (e *env) printMe(me *client.Me) error {
	expires := "never"
	if me.Key.ExpiresAt != nil {
		expires = me.Key.ExpiresAt.Local().Format(time.DateTime)
	}
	facts := [][2]string{
		{"user", string(me.User)},
		{"name", me.Name},
		{"role", string(me.Role)},
		{"workspace", string(me.Workspace) + " " + me.WorkspaceName},
		{"plan", string(me.Plan)},
		{"key", string(me.KeyID) + " " + me.Key.Name},
		{"mode", string(me.Mode)},
		{"scopes", strings.Join(me.Scopes, " ")},
		{"expires", expires},
	}
	for _, more := range []struct {
		name string
		list []string
	}{{"addresses", me.Key.Addresses}, {"origins", me.Key.Origins}} {
		if len(more.list) > 0 {
			facts = append(facts, [2]string{more.name, strings.Join(more.list, " ")})
		}
	}
	return e.printFacts(facts)
}
