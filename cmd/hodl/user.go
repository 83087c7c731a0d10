package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"hodl"
	"hodl/client"
)

func userEraseCommand(e *env) *cobra.Command {
	var yes bool
	var reason string
	c := &cobra.Command{
		Use: "erase ID", Short: "Erase a person who was removed, as an admin; for good", Args: exactly("ID"),
		Long: `Erases the sessions and hodls of a person, and of the access records about them what
is personal: addresses, user agents and salts. The records stay, and so does every
proof; that the person was erased is recorded. Without --yes nothing is erased, and
what would be is told. Remove the person first: hodl member remove.`,
		Example: `  hodl user erase usr_01KAQ3M7T4Z0X8W2V6R5N9P1JC
  hodl user erase usr_01KAQ3M7T4Z0X8W2V6R5N9P1JC --yes --reason "request of 3 May"`,
		RunE: func(c *cobra.Command, args []string) error {
			api, err := e.client()
			if err != nil {
				return err
			}
			x, err := api.EraseMember(c.Context(), hodl.UserID(args[0]), !yes, reason)
			return e.show(err, func() error { return e.printErased(x) })
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "erase; without it, only tell what would go")
	c.Flags().StringVar(&reason, "reason", "", "why; it is recorded, so name nobody")
	return e.reaches(c)
}

func (e *env) printErased(x *client.Erased) error {
	what := "erased"
	if x.DryRun {
		what = "would go"
		e.note("nothing was erased; --yes does it, for good")
	}
	facts := [][2]string{
		{what, fmt.Sprintf("%d sessions, %d hodls", x.Sessions, x.Hodls)},
		{"of records", strconv.FormatInt(x.Details, 10) + " addresses, user agents and salts"},
		{"stay", strconv.FormatInt(x.Records, 10) + " access records, without them"},
	}
	for _, r := range x.Remains {
		facts = append(facts, [2]string{"not reached", r})
	}
	return e.printFacts(facts)
}
