package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"hodl"
	"hodl/client"
)

func listCommand(e *env) *cobra.Command {
	var page client.Page
	c := &cobra.Command{
		Use: "list", Short: "List hodls, newest first", Args: exactly(),
		Example: `  hodl list
  hodl list --limit 100 --json`,
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := e.client()
			if err != nil {
				return err
			}
			list, err := api.Hodls(c.Context(), page)
			return e.show(err, func() error {
				defer e.more(list.Next)
				return e.printTable([]string{"ID", "HELD", "WHAT", "WHERE", "TAGS"}, e.hodlRows(list.Hodls))
			})
		},
	}
	return pages(e.reaches(c), &page)
}

func (e *env) hodlRows(hodls []hodl.Hodl) [][]string {
	rows := make([][]string, 0, len(hodls))
	for _, h := range hodls {
		rows = append(rows, []string{string(h.ID), e.when(h.CreatedAt), cmp.Or(h.Title, h.Note), cmp.Or(h.URL, placeOf(h.Location)), joined(h.Tags, " ")})
	}
	return rows
}

func placeOf(l *hodl.Location) string {
	if l == nil {
		return ""
	}
	return l.File + placeNumbers(l)
}

// describe is a hodl in a few words, harmless to a terminal.
func describe(h *hodl.Hodl) string {
	return clean(cmp.Or(h.Title, h.Note, h.URL, placeOf(h.Location)))
}
