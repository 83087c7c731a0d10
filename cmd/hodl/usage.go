package main

import (
	"strconv"

	"github.com/spf13/cobra"

	"hodl/client"
)

func usageCommand(e *env) *cobra.Command {
	return e.reaches(&cobra.Command{
		Use: "usage", Short: "Show what was used this month, and the limits", Args: exactly(),
		Long: `Shows how many hydrations the workspace made this month, live or sandbox as the
key is, how many its plan allows, and how fast it may go.`,
		Example: `  hodl usage
  hodl usage --json`,
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := e.client()
			if err != nil {
				return err
			}
			u, err := api.Usage(c.Context())
			return e.show(err, func() error { return e.printUsage(u) })
		},
	})
}

func (e *env) printUsage(u *client.Usage) error {
	rows := [][]string{{"hydrations of " + u.Month, strconv.FormatInt(u.Hydrations, 10), allowed(u.Quota), "resets " + relative(u.ResetsAt, e.now())}}
	for _, r := range u.Rates {
		name := r.Name
		if name == "default" {
			name = "requests"
		}
		rows = append(rows, []string{name + " at once", "", strconv.Itoa(r.Burst), strconv.Itoa(r.PerSecond) + " a second"})
	}
	e.note("the plan is %s, the mode %s", u.Plan, u.Mode)
	return e.printTable([]string{"WHAT", "USED", "ALLOWED", "COMES BACK"}, rows)
}

func allowed(quota *int64) string {
	if quota == nil {
		return "unlimited"
	}
	return strconv.FormatInt(*quota, 10)
}
