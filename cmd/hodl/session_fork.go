package main

import (
	"strings"

	"github.com/spf13/cobra"

	"hodl"
	"hodl/client"
)

func sessionForkCommand(e *env) *cobra.Command {
	var draft hodl.ForkDraft
	c := &cobra.Command{
		Use: "fork ID", Short: "Start a new session from a version of one", Args: exactly("ID"),
		Long: `Starts a new session that holds what a version of another does, and prints its
id. Notes and reasoning keep their authors; the other session stays as it is.`,
		Example: `  hodl session fork ses_8f3aZ91b
  hodl session fork ses_8f3aZ91b --title 'another way' --from FINGERPRINT`,
		RunE: func(c *cobra.Command, args []string) error {
			api, err := e.client()
			if err != nil {
				return err
			}
			got, err := api.ForkSession(c.Context(), hodl.SessionID(args[0]), draft)
			return e.show(err, func() error { return e.printLine(string(got.ID)) })
		},
	}
	c.Flags().StringVar(&draft.Title, "title", "", "title of the new session; that of the old one without")
	c.Flags().StringVar(&draft.From, "from", "", "`FINGERPRINT` of the version to start from; the current one without")
	return e.reaches(c)
}

func sessionDiffCommand(e *env) *cobra.Command {
	var from, to string
	c := &cobra.Command{
		Use: "diff ID", Short: "Tell how one version of a session became another", Args: exactly("ID"),
		Long: `Tells what was added (+), removed (-), changed (~) and moved (>) between two
versions of a session: how the current one came about, unless --from and --to name
others by their fingerprints. Long texts are cut to where they differ.`,
		Example: `  hodl session diff ses_8f3aZ91b
  hodl session diff ses_8f3aZ91b --from FINGERPRINT --json`,
		RunE: func(c *cobra.Command, args []string) error {
			api, err := e.client()
			if err != nil {
				return err
			}
			d, err := api.DiffSession(c.Context(), hodl.SessionID(args[0]), from, to)
			return e.show(err, func() error { return e.printDiff(d) })
		},
	}
	c.Flags().StringVar(&from, "from", "", "`FINGERPRINT` of the version before; the one before --to without")
	c.Flags().StringVar(&to, "to", "", "`FINGERPRINT` of the version after; the current one without")
	return e.reaches(c)
}

var signs = map[hodl.ChangeKind]string{hodl.Added: "+", hodl.Removed: "-", hodl.Changed: "~", hodl.Moved: ">"}

// printDiff prints one change a line, and what changed of a thing below it.
func (e *env) printDiff(d *client.SessionDiff) error {
	for _, c := range d.Changes {
		if err := e.printLine(changeLine(c)); err != nil {
			return err
		}
		for _, x := range c.Edits {
			if err := e.printEdit(x); err != nil {
				return err
			}
		}
	}
	if d.Omitted > 0 {
		e.note("%d more changes are not listed", d.Omitted)
	}
	if len(d.Changes) == 0 {
		e.note("the versions hold the same")
	}
	return nil
}

func changeLine(c hodl.Change) string {
	place := c.Is
	switch c.Kind {
	case hodl.Removed:
		place = c.Was
	case hodl.Moved:
		place = c.Was + " to " + c.Is
	}
	if c.Text == c.ID {
		c.Text = ""
	}
	return strings.TrimSpace(strings.Join([]string{signs[c.Kind], place, c.ID, c.Text}, " "))
}

func (e *env) printEdit(x hodl.Edit) error {
	for _, side := range []struct{ sign, text string }{{"-", x.Was}, {"+", x.Is}} {
		if side.text == "" {
			continue
		}
		if err := e.printLine("    " + side.sign + " " + x.Field + ": " + side.text); err != nil {
			return err
		}
	}
	return nil
}
