package main

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hodl"
	"hodl/client"
)

// filterFlags narrows a list of hodls.
type filterFlags struct {
	tag, source, session, since, until string
	page                               client.Page
}

// narrows gives c the flags of a list of hodls.
func (e *env) narrows(c *cobra.Command, f *filterFlags) *cobra.Command {
	flags := c.Flags()
	flags.StringVar(&f.tag, "tag", "", "only those with this label")
	flags.StringVar(&f.source, "source", "", "only those captured by: editor, browser, node, python, rest, mcp or cli")
	flags.StringVar(&f.session, "session", "", "only those of the session with this `ID`")
	flags.StringVar(&f.since, "since", "", "only those held since a `TIME`: 2026-05-05, 2026-05-05T14:00:00Z, or 36h and 7d ago")
	flags.StringVar(&f.until, "until", "", "only those held before a `TIME`")
	pages(e.reaches(c), &f.page)
	completeFlag(c, "tag", e.completes(0, completeTags))
	completeFlag(c, "session", e.completes(0, completeSessions))
	return c
}

func (f *filterFlags) filter(query string, now time.Time) (client.HodlQuery, error) {
	out := client.HodlQuery{Page: f.page, Q: query, Tag: f.tag, Source: hodl.Source(f.source), Session: hodl.SessionID(f.session)}
	var err error
	if out.Since, err = parseWhen("since", f.since, now); err != nil {
		return out, err
	}
	out.Until, err = parseWhen("until", f.until, now)
	return out, err
}

// parseWhen reads a day, a time, or how long ago.
func parseWhen(flag, s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, s, now.Location()); err == nil {
		return t, nil
	}
	if days, found := strings.CutSuffix(s, "d"); found {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if ago, err := time.ParseDuration(s); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	return time.Time{}, hint(usagef("--%s is no time: %s", flag, s), "write 2026-05-05, 2026-05-05T14:00:00Z, 36h or 7d")
}

func searchCommand(e *env) *cobra.Command {
	var flags filterFlags
	c := &cobra.Command{
		Use: "search QUERY…", Short: "Search hodls, newest first",
		Long: `Finds the hodls in which all words occur, in any of title, note, address, labels
and place. Within a query:

  "stale reads"             a phrase
  -fixed                    not this; write it after --, or it is taken for a flag
  cache or queue            either
  tag:cache source:editor   by label, by kind of client
  repo:shop file:evict.go url:example.com
  is:deleted                what was deleted in the last 30 days, to restore
  after:2026-05-01 before:2026-06-01`,
		Example: `  hodl search stale reads
  hodl search 'tag:cache "only the second node"' --since 7d
  hodl search -- cache -fixed`,
		Args: func(_ *cobra.Command, args []string) error {
			if strings.TrimSpace(strings.Join(args, "")) == "" {
				return hint(usagef("nothing to search for"), "write: hodl search QUERY…; hodl list lists all")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return e.listHodls(c, &flags, strings.Join(args, " "))
		},
	}
	return e.narrows(c, &flags)
}

func listCommand(e *env) *cobra.Command {
	var flags filterFlags
	c := &cobra.Command{
		Use: "list", Short: "List hodls, newest first", Args: exactly(),
		Example: `  hodl list
  hodl list --tag cache --since 7d
  hodl list --limit 100 --json`,
		RunE: func(c *cobra.Command, _ []string) error { return e.listHodls(c, &flags, "") },
	}
	return e.narrows(c, &flags)
}

func (e *env) listHodls(c *cobra.Command, flags *filterFlags, query string) error {
	f, err := flags.filter(query, e.now())
	if err != nil {
		return err
	}
	api, err := e.client()
	if err != nil {
		return err
	}
	list, err := api.SearchHodls(c.Context(), f)
	return e.show(err, func() error {
		defer e.more(list.Next)
		return e.printTable(hodlHeadings, e.hodlRows(list.Hodls))
	})
}

var hodlHeadings = []string{"ID", "HELD", "WHAT", "WHERE", "TAGS"}

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

func tagsCommand(e *env) *cobra.Command {
	var page client.Page
	c := &cobra.Command{
		Use: "tags [PREFIX]", Short: "List labels, with how many hodls carry each", Args: atMost(1),
		Example: `  hodl tags
  hodl tags ca --json`,
		RunE: func(c *cobra.Command, args []string) error {
			api, err := e.client()
			if err != nil {
				return err
			}
			list, err := api.Tags(c.Context(), strings.Join(args, ""), page)
			return e.show(err, func() error {
				defer e.more(list.Next)
				rows := make([][]string, 0, len(list.Tags))
				for _, t := range list.Tags {
					rows = append(rows, []string{t.Tag, strconv.FormatInt(t.Hodls, 10)})
				}
				return e.printTable([]string{"TAG", "HODLS"}, rows)
			})
		},
	}
	return pages(e.reaches(c), &page)
}

func checkCommand(e *env) *cobra.Command {
	c := &cobra.Command{
		Use: "check URL", Short: "Tell whether a page is held already", Args: exactly("URL"),
		Long: `Lists the hodls that lead to a page, before it is held once more. Addresses that
differ in what does not matter, such as a tracking parameter, are the same page.`,
		Example: `  hodl check https://example.com/issues/7
  hodl check https://example.com/issues/7 --json | jq .known`,
		RunE: func(c *cobra.Command, args []string) error {
			api, err := e.client()
			if err != nil {
				return err
			}
			known, err := api.CheckHodl(c.Context(), args[0])
			return e.show(err, func() error {
				if !known.Known {
					e.note("not held yet: %s", args[0])
					return nil
				}
				return e.printTable(hodlHeadings, e.hodlRows(known.Hodls))
			})
		},
	}
	return e.reaches(c)
}
