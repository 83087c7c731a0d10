package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"hodl/client"
)

func exportCommand(e *env) *cobra.Command {
	var file string
	c := &cobra.Command{
		Use: "export", Short: "Write all hodls to a file, one JSON value a line", Args: exactly(),
		Long: `Writes every hodl as JSON, one on each line, newest first: to standard output, or
with -o to a file, which is there whole or not at all; what it replaces stays until
then. hodl import reads it again.`,
		Example: `  hodl export -o hodls.ndjson
  hodl export | jq -r 'select(.tags | index("cache")) | .url'`,
		RunE: func(c *cobra.Command, _ []string) error {
			if file == "" && e.json {
				return hint(usagef("an export is one JSON value a line"), "give -o with --json, or leave --json out")
			}
			api, err := e.client()
			if err != nil {
				return err
			}
			if file == "" {
				return e.failed(e.exportHere(c.Context(), api))
			}
			return e.exportTo(c.Context(), api, file)
		},
	}
	c.Flags().StringVarP(&file, "output", "o", "", "`FILE` to write to")
	return e.reaches(c)
}

// exportHere prints the lines, harmless to a terminal.
func (e *env) exportHere(ctx context.Context, api *client.Client) error {
	lines := &cleanLines{to: e.out}
	return errors.Join(api.ExportHodls(ctx, lines), lines.flush())
}

// exportTo writes a file beside the place it goes to, and moves it there when it is
// whole and on disk.
func (e *env) exportTo(ctx context.Context, api *client.Client, name string) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*.tmp") // 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // it is the first error that tells
		}
	}()
	show, finish := e.progress()
	counted := &lineCounter{to: f, show: show}
	failed := api.ExportHodls(ctx, counted)
	finish()
	if err := errors.Join(f.Sync(), f.Close()); failed == nil && err != nil {
		return err
	}
	if failed != nil {
		return e.failed(failed)
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return err
	}
	if e.json {
		return e.printJSON(map[string]any{"file": name, "hodls": counted.lines})
	}
	return e.printLine(fmt.Sprintf("wrote %d hodls to %s", counted.lines, name))
}

type lineCounter struct {
	to    io.Writer
	lines int64
	show  func(stage string, done, total int64)
}

func (l *lineCounter) Write(b []byte) (int, error) {
	l.lines += int64(bytes.Count(b, []byte("\n")))
	l.show("hodls", l.lines, 0)
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
