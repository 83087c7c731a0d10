package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"hodl/client"
	"hodl/internal/file"
)

func exportCommand(e *env) *cobra.Command {
	var name string
	c := &cobra.Command{
		Use: "export", Short: "Write all hodls to a file, one JSON value a line", Args: exactly(),
		Long: `Writes every hodl as JSON, one on each line, newest first: to standard output, or
with -o to a file, which is there whole or not at all; what it replaces stays until
then. hodl import reads it again.`,
		Example: `  hodl export -o hodls.ndjson
  hodl export | jq -r 'select(.tags | index("cache")) | .url'`,
		RunE: func(c *cobra.Command, _ []string) error {
			if name == "" && e.json {
				return hint(usagef("an export is one JSON value a line"), "give -o with --json, or leave --json out")
			}
			api, err := e.client()
			if err != nil {
				return err
			}
			if name == "" {
				return e.failed(e.exportHere(c.Context(), api))
			}
			lines, err := e.exportTo(name, "hodls", func(w io.Writer) error { return api.ExportHodls(c.Context(), w) })
			if err != nil {
				return err
			}
			if e.json {
				return e.printJSON(map[string]any{"file": name, "hodls": lines})
			}
			return e.printLine(fmt.Sprintf("wrote %d hodls to %s", lines, name))
		},
	}
	c.Flags().StringVarP(&name, "output", "o", "", "`FILE` to write to")
	return e.reaches(c)
}

// exportHere prints the lines, harmless to a terminal.
func (e *env) exportHere(ctx context.Context, api *client.Client) error {
	lines := &cleanLines{to: e.out}
	return errors.Join(api.ExportHodls(ctx, lines), lines.flush())
}

// exportTo writes lines to a file, which is there whole or not at all, and tells how
// many.
func (e *env) exportTo(name, what string, export func(io.Writer) error) (lines int64, err error) {
	show, finish := e.progress()
	counted := &lineCounter{what: what, show: show}
	var failed error
	err = file.Replace(name, func(w io.Writer) error {
		counted.to = w
		failed = export(counted)
		finish()
		return failed
	})
	if failed != nil {
		return 0, e.failed(failed)
	}
	return counted.lines, err
}

type lineCounter struct {
	what  string
	to    io.Writer
	lines int64
	show  func(stage string, done, total int64)
}

func (l *lineCounter) Write(b []byte) (int, error) {
	l.lines += int64(bytes.Count(b, []byte("\n")))
	l.show(l.what, l.lines, 0)
	return l.to.Write(b)
}

// cleanLines makes lines of JSON harmless.
type cleanLines struct {
	to   io.Writer
	rest []byte
}

func (c *cleanLines) Write(b []byte) (int, error) {
	c.rest = append(c.rest, b...)
	end := bytes.LastIndexByte(c.rest, '\n') + 1
	whole := cleanJSON(string(c.rest[:end]))
	c.rest = append(c.rest[:0], c.rest[end:]...)
	_, err := io.WriteString(c.to, whole)
	return len(b), err
}

func (c *cleanLines) flush() error {
	_, err := io.WriteString(c.to, cleanJSON(string(c.rest)))
	return err
}
