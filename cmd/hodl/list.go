package main

import (
	"cmp"
	"fmt"

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
	switch {
	case l == nil:
		return ""
	case l.Line == 0:
		return l.File
	case l.Column == 0:
		return fmt.Sprintf("%s:%d", l.File, l.Line)
	}
	return fmt.Sprintf("%s:%d:%d", l.File, l.Line, l.Column)
}
