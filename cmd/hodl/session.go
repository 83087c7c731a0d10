package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"hodl"
	"hodl/client"
)

func sessionListCommand(e *env) *cobra.Command {
	var page client.Page
	c := &cobra.Command{
		Use: "list", Short: "List sessions, last captured first", Args: exactly(),
		Example: `  hodl session list
  hodl session list --limit 100 --json`,
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := e.client()
			if err != nil {
				return err
			}
			list, err := api.Sessions(c.Context(), page)
			return e.show(err, func() error {
				defer e.more(list.Next)
				rows := make([][]string, 0, len(list.Sessions))
				for _, s := range list.Sessions {
					rows = append(rows, []string{string(s.ID), e.when(s.CapturedAt), s.Title, joined(s.Tags, " ")})
				}
				return e.printTable([]string{"ID", "CAPTURED", "TITLE", "TAGS"}, rows)
			})
		},
	}
	return pages(e.reaches(c), &page)
}

func sessionShowCommand(e *env) *cobra.Command {
	var content bool
	c := &cobra.Command{
		Use: "show ID", Short: "Show a session", Args: exactly("ID"),
		ValidArgsFunction: e.completes(1, completeSessions),
		Long: `Shows where a session stands, and with --content all that is in it, as it was
captured: unredacted.`,
		Example: `  hodl session show ses_8f3aZ91b
  hodl session show ses_8f3aZ91b --content --json`,
		RunE: func(c *cobra.Command, args []string) error {
			api, err := e.client()
			if err != nil {
				return err
			}
			id := hodl.SessionID(args[0])
			if content {
				x, err := api.Content(c.Context(), id)
				return e.show(err, func() error { return e.printContent(x) })
			}
			s, err := api.Session(c.Context(), id)
			return e.show(err, func() error { return e.printSession(s) })
		},
	}
	c.Flags().BoolVar(&content, "content", false, "show all that is in it")
	return e.reaches(c)
}

func (e *env) printSession(s *client.Session) error {
	return e.printFacts([][2]string{
		{"session", string(s.ID)},
		{"title", s.Title},
		{"summary", s.Summary},
		{"state", string(s.State)},
		{"captured", e.when(s.CapturedAt)},
		{"tags", joined(s.Tags, " ")},
		{"hydrations", strconv.FormatInt(s.Hydrations, 10)},
		{"version", s.Fingerprint},
	})
}

// printContent prints what is in a session, one thing a line.
func (e *env) printContent(x *client.Content) error {
	facts := [][2]string{{"title", x.Title}, {"summary", x.Summary}, {"tags", joined(x.Tags, " ")}}
	for _, t := range x.Tabs {
		if t.Title == t.URL {
			t.Title = "" // of a tab that was given without one
		}
		facts = append(facts, [2]string{"tab", strings.TrimSpace(t.URL + " " + t.Title)})
	}
	for _, m := range x.Media {
		facts = append(facts, [2]string{m.Kind, m.URL + second(m.TimestampS)})
	}
	for _, n := range x.Thread {
		facts = append(facts, [2]string{string(n.Kind), n.Text})
	}
	for _, n := range x.Notes {
		facts = append(facts, [2]string{"note", n.Body})
	}
	for _, h := range x.Hodls {
		facts = append(facts, [2]string{"hodl", string(h.ID) + " " + h.Title})
	}
	return e.printFacts(facts)
}

func second(s *float64) string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf(" at %gs", *s)
}
