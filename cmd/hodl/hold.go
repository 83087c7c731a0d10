package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"hodl"
)

// holdFlags is what was given beside the thing itself.
type holdFlags struct {
	title, note, place, selection, session string
	tags                                   []string
	queue                                  bool
}

func holdCommand(e *env) *cobra.Command {
	var flags holdFlags
	c := &cobra.Command{
		Use: "hold [URL|FILE[:LINE[:COLUMN]]|-]", Short: "Capture a page, a place in a file or a thought", Args: atMost(1),
		Long: `Captures a hodl and prints its id: an address, a place in a file, or a note read
from standard input when that is - or piped. Lines and columns count from 1, columns
in UTF-16 units, as editors do.

Of a file in a Git checkout, the repository, the path in it, the branch and the commit
are found by themselves; credentials in the remote's address stay here.

When no server answers, the hodl is kept on disk and sent with the next command that
reaches that server: see hodl queue.`,
		Example: `  hodl hold https://example.com/issues/7 --title 'the cache bug' --tag cache,bug
  hodl hold internal/cache/evict.go:42:7 --note 'off by one?'
  hodl hold internal/cache/evict.go --select 40:1-44:2
  go test ./... 2>&1 | hodl hold - --title 'what fails' --session ses_8f3aZ91b`,
		RunE: func(c *cobra.Command, args []string) error {
			d, err := e.hodl(args, flags)
			if err != nil {
				return err
			}
			return e.hold(c.Context(), d, flags.queue)
		},
	}
	f := c.Flags()
	f.StringVar(&flags.title, "title", "", "title")
	f.StringVar(&flags.note, "note", "", "free text")
	f.StringArrayVar(&flags.tags, "tag", nil, "label; may be given more than once, or several with commas")
	f.StringVar(&flags.place, "file", "", "place in a file, as `PATH[:LINE[:COLUMN]]`; it need not be there")
	f.StringVar(&flags.selection, "select", "", "what of the file is selected, as `LINE[:COLUMN]-LINE[:COLUMN]`; the end is exclusive, whole lines without columns")
	f.StringVar(&flags.session, "session", "", "`ID` of the session it belongs to")
	f.BoolVar(&flags.queue, "queue", true, "keep it on disk when no server answers")
	e.reaches(c)
	completeFlag(c, "session", e.completes(0, completeSessions))
	return c
}

// hodl puts together what is to be held.
func (e *env) hodl(args []string, flags holdFlags) (d hodl.HodlDraft, err error) {
	d = hodl.HodlDraft{
		Title: flags.title, Note: flags.note, Tags: splitTags(flags.tags),
		Source: "cli", SessionID: hodl.SessionID(flags.session),
	}
	place := flags.place
	switch {
	case len(args) == 1 && args[0] == "-", len(args) == 0 && d.Title == "" && d.Note == "" && place == "":
		if d.Note, err = e.noteFrom(d.Note, len(args) == 1); err != nil {
			return d, err
		}
	case len(args) == 1 && address.MatchString(args[0]):
		d.URL = args[0]
	case len(args) == 1 && place != "":
		return d, usagef("two files: %s and %s", args[0], place)
	case len(args) == 1:
		place = args[0]
		if file, _, err := existing(place); err != nil {
			return d, hint(usagef("neither an address nor a file: %s", file), "write an address with https://; a thought goes into --note, a file that is not here into --file")
		}
	}
	d.Location, err = locate(place, flags.selection)
	if err == nil && d.URL == "" && d.Title == "" && d.Note == "" && d.Location == nil {
		err = hint(usagef("nothing to hold"), "give an address, a file, --title or --note, or pipe a note in")
	}
	return d, err
}

// noteFrom reads the note from standard input: when that was asked for, or when
// something is piped in and nothing else was given.
func (e *env) noteFrom(given string, asked bool) (string, error) {
	f, isFile := e.in.(*os.File)
	if isFile && !asked {
		if _, terminal := width(f); terminal {
			return given, nil
		}
	}
	switch {
	case given != "":
		return "", usagef("two notes: --note and standard input")
	case e.remote.key == "-":
		return "", usagef("standard input cannot be the note and the key")
	}
	text, err := io.ReadAll(io.LimitReader(e.in, hodl.MaxNote+1))
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	if len(text) > hodl.MaxNote {
		return "", hint(usagef("the note is larger than %d bytes", hodl.MaxNote), "hold a part of it: … | tail -c %d | hodl hold -", hodl.MaxNote)
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

var address = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*://.`)

// splitTags returns what was given, once each, in that order.
func splitTags(given []string) []string {
	var out []string
	seen := map[string]bool{}
	for tag := range strings.SplitSeq(strings.Join(given, ","), ",") {
		if tag = strings.TrimSpace(tag); tag != "" && !seen[tag] {
			out, seen[tag] = append(out, tag), true
		}
	}
	return out
}
