package main

import (
	"path"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"hodl"
)

func holdCommand(e *env) *cobra.Command {
	var d hodl.HodlDraft
	var place, session string
	c := &cobra.Command{
		Use: "hold [URL]", Short: "Capture a page, a place in a file or a thought", Args: atMost(1),
		Long: `Captures a hodl and prints its id. At least one of a URL, --title, --note and
--file is needed.`,
		Example: `  hodl hold https://example.com/issues/7 --title 'the cache bug' --tag cache
  hodl hold --file internal/cache/evict.go:42:7 --note 'off by one?'`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				d.URL = args[0]
			}
			var err error
			if d.Location, err = parsePlace(place); err != nil {
				return err
			}
			if d.URL == "" && d.Title == "" && d.Note == "" && d.Location == nil {
				return hint(usagef("nothing to hold"), "give a URL, --title, --note or --file")
			}
			d.SessionID, d.Source = hodl.SessionID(session), "cli"
			api, err := e.client()
			if err != nil {
				return err
			}
			got, err := api.CaptureHodl(c.Context(), d)
			return e.show(err, func() error {
				for _, w := range got.Warnings {
					e.note("%s", w)
				}
				return e.printLine(string(got.ID))
			})
		},
	}
	f := c.Flags()
	f.StringVar(&d.Title, "title", "", "title")
	f.StringVar(&d.Note, "note", "", "free text")
	f.StringArrayVar(&d.Tags, "tag", nil, "label; may be given more than once")
	f.StringVar(&place, "file", "", "place in a file, as `PATH[:LINE[:COLUMN]]`")
	f.StringVar(&session, "session", "", "`ID` of the session it belongs to")
	return e.reaches(c)
}

// parsePlace reads path:line:column, as compilers print it. Numbers are taken from
// the end, so that a path may hold a colon.
func parsePlace(s string) (*hodl.Location, error) {
	if s == "" {
		return nil, nil
	}
	file, numbers := s, []int{}
	for len(numbers) < 2 {
		i := strings.LastIndexByte(file, ':')
		n, err := strconv.Atoi(file[i+1:])
		if i < 0 || err != nil {
			break
		}
		if n < 1 {
			return nil, hint(usagef("not a place in a file: %s", s), "lines and columns count from 1: main.go:12:3")
		}
		file, numbers = file[:i], append([]int{n}, numbers...)
	}
	if file == "" {
		return nil, hint(usagef("not a place in a file: %s", s), "write it as main.go:12:3")
	}
	out := &hodl.Location{File: path.Clean(file)}
	if len(numbers) > 0 {
		out.Line = numbers[0]
	}
	if len(numbers) > 1 {
		out.Column = numbers[1]
	}
	return out, nil
}
