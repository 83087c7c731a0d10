package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"hodl/client"
	"hodl/internal/audit"
	"hodl/internal/ledger"
)

func auditKeysCommand(e *env) *cobra.Command {
	var server bool
	c := &cobra.Command{
		Use: "keys", Short: "Print the verifier keys of the access log", Args: exactly(),
		Long: `Prints every key that ever signed the access log, the oldest first, as others'
programs take it too (c2sp.org/signed-note). Keep them where the server's operator
cannot change them: with them and an export, or a receipt, nobody need be believed.`,
		Example: `  hodl audit keys > log.vkey
  hodl audit keys --server`,
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := e.client()
			if err != nil {
				return err
			}
			log, err := logOf(c.Context(), api, server)
			if err != nil {
				return e.failed(err)
			}
			keys, err := log.Keys(c.Context())
			return e.show(err, func() error {
				for _, k := range keys.Keys {
					if err := e.printLine(k.Verifier); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	c.Flags().BoolVar(&server, "server", false, "those of the server's own log")
	return e.reaches(c)
}

// logOf is the log of the key's workspace, or the server's own.
func logOf(ctx context.Context, api *client.Client, server bool) (*client.Log, error) {
	if server {
		return api.ServerLog(), nil
	}
	me, err := api.Me(ctx)
	if err != nil {
		return nil, err
	}
	return api.WorkspaceLog(me.Workspace, me.Mode), nil
}

func auditExportCommand(e *env) *cobra.Command {
	var file, user string
	c := &cobra.Command{
		Use: "export", Short: "Write the access log to a file, with its signed checkpoint", Args: exactly(),
		Long: `Writes the checkpoint of the access log and every record under it, a JSON value on
each line, to the file of -o: it is there whole or not at all. Of other people's
records there are the commitments, unless an admin asks for --user all. hodl audit
verify checks the file without a server.`,
		Example: `  hodl audit export -o log.ndjson
  hodl audit export --user all -o log.ndjson`,
		RunE: func(c *cobra.Command, _ []string) error {
			if file == "" {
				return hint(usagef("where to?"), "give -o FILE")
			}
			api, err := e.client()
			if err != nil {
				return err
			}
			lines, err := e.exportTo(file, "records", func(w io.Writer) error { return api.ExportRecords(c.Context(), user, w) })
			if err != nil {
				return err
			}
			if e.json {
				return e.printJSON(map[string]any{"file": file, "records": lines - 1})
			}
			return e.printLine(fmt.Sprintf("wrote %d records to %s", lines-1, file))
		},
	}
	c.Flags().StringVarP(&file, "output", "o", "", "`FILE` to write to")
	c.Flags().StringVar(&user, "user", "", "whose records to show: an id, or all; your own when absent")
	return e.reaches(c)
}

func auditVerifyCommand(e *env) *cobra.Command {
	var vkeys []string
	c := &cobra.Command{
		Use: "verify [FILE]", Short: "Verify the access log: an export, or the log as it is served",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("one file at a time")
			}
			return nil
		},
		Long: `Checks that every record is what its commitment binds, that none is missing, that
the tree over them is the one the server signed, and tells how much it checked. The
first thing wrong is named, and the exit code is 1.

With a file no server is asked: give the log's verifier key with --vkey. Without one
the log is read over HTTP, tile by tile, and its heads are looked up in the server's
own log; keys that you do not give are taken from the server, and you trust it for
them. An admin's key checks everybody's records, with --key.`,
		Example: `  hodl audit verify log.ndjson --vkey "$(cat log.vkey)"
  hodl audit verify`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				return e.verifyFile(args[0], vkeys)
			}
			api, err := e.client()
			if err != nil {
				return err
			}
			verifiers, err := verifiersOf(vkeys)
			if err != nil {
				return err
			}
			if len(verifiers) == 0 {
				e.note(believed)
			}
			report, err := audit.Served(c.Context(), api, verifiers...)
			if _, wrong := errors.AsType[*audit.Fault](err); !wrong {
				err = e.failed(err)
			}
			return e.printReport(report, err)
		},
	}
	c.Flags().StringArrayVar(&vkeys, "vkey", nil, "verifier `KEY` of the log; may be given more than once")
	return e.reaches(c)
}

const believed = "the verifier key is the server's own word; give --vkey to check it against yours"

func verifiersOf(vkeys []string) ([]ledger.Verifier, error) {
	var out []ledger.Verifier
	for _, k := range vkeys {
		v, err := ledger.ParseVerifier(k)
		if err != nil {
			return nil, usage(fmt.Errorf("--vkey: %w", err))
		}
		out = append(out, v)
	}
	return out, nil
}

func (e *env) verifyFile(name string, vkeys []string) error {
	verifiers, err := verifiersOf(vkeys)
	if err != nil {
		return err
	}
	if len(verifiers) == 0 {
		return hint(usagef("no verifier key"), "give --vkey; hodl audit keys tells it, and you should have it from there before you doubt the server")
	}
	f, err := os.Open(filepath.Clean(name))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	report, err := audit.Export(f, audit.Log{}, verifiers...)
	return e.printReport(report, err)
}

// keysOf takes what was given, or what the server says.
func (e *env) keysOf(ctx context.Context, l *client.Log, vkeys []string) ([]ledger.Verifier, error) {
	if len(vkeys) > 0 {
		return verifiersOf(vkeys)
	}
	e.note(believed)
	return audit.Verifiers(ctx, l)
}

// printReport tells what was checked, also when something is wrong.
func (e *env) printReport(r *audit.Report, err error) error {
	if f, ok := errors.AsType[*audit.Fault](err); ok {
		err = hint(f, "keep the database and this log as they are, and find out who changed what; what was checked before is right")
	}
	if err != nil || r == nil {
		return err
	}
	if e.json {
		return e.printJSON(r)
	}
	return e.printFacts([][2]string{
		{"verified", r.Origin},
		{"records", strconv.FormatInt(r.Size, 10) + " under one signed root"},
		{"root", r.Root},
		{"bound", strconv.FormatInt(r.Records, 10) + " are what their commitments bind"},
		{"others'", strconv.FormatInt(r.Hidden, 10) + " are commitments only"},
		{"erased", strconv.FormatInt(r.Erased, 10) + " are no longer bound: their person was erased"},
		{"tiles", strconv.FormatInt(r.Tiles, 10)},
		{"heads", strconv.FormatInt(r.Anchors, 10) + " in the server's own log"},
	})
}

func auditWatchCommand(e *env) *cobra.Command {
	var file string
	var vkeys []string
	var every time.Duration
	var server bool
	c := &cobra.Command{
		Use: "watch", Short: "Watch the access log: it may only grow", Args: exactly(),
		Long: `Remembers the last checkpoint of the log in a file, and holds the next one against
it: the log has to begin with what it began with before. One that was rolled back, or
shows another history, ends the watch with exit code 1. Run it on a machine that is
not the server's. With --every it goes on looking.`,
		Example: `  hodl audit watch --state log.checkpoint --every 1m
  hodl audit watch --server --state server.checkpoint`,
		RunE: func(c *cobra.Command, _ []string) error {
			if file == "" {
				return hint(usagef("nowhere to remember the log"), "give --state FILE")
			}
			api, err := e.client()
			if err != nil {
				return err
			}
			w, log, err := e.watch(c.Context(), api, file, vkeys, server)
			if err != nil {
				return e.failed(err)
			}
			for {
				if err := e.look(c.Context(), w, log); err != nil || every == 0 {
					return err
				}
				select {
				case <-c.Context().Done():
					return nil
				case <-time.After(every):
				}
			}
		},
	}
	f := c.Flags()
	f.StringVar(&file, "state", "", "`FILE` that remembers the last checkpoint")
	f.StringArrayVar(&vkeys, "vkey", nil, "verifier `KEY` of the log; the server's word when absent")
	f.DurationVar(&every, "every", 0, "look again after so long; once when 0")
	f.BoolVar(&server, "server", false, "watch the server's own log")
	return e.reaches(c)
}

func (e *env) watch(ctx context.Context, api *client.Client, file string, vkeys []string, server bool) (*audit.Watch, *client.Log, error) {
	log, err := logOf(ctx, api, server)
	if err != nil {
		return nil, nil, err
	}
	verifiers, err := e.keysOf(ctx, log, vkeys)
	return &audit.Watch{File: file, Verifiers: verifiers, Tiles: audit.Tiles(ctx, log)}, log, err
}

func (e *env) look(ctx context.Context, w *audit.Watch, log *client.Log) error {
	text, err := log.Checkpoint(ctx)
	if err != nil {
		return e.failed(err)
	}
	last, now, first, err := w.Look(text)
	switch {
	case err != nil:
		return hint(err, "keep %s: with the checkpoint that is served now it proves what happened", w.File)
	case e.json:
		return e.printJSON(map[string]any{"origin": now.Origin, "size": now.Size, "root": now.Root.String(), "before": last.Size, "first": first})
	case first:
		return e.printLine(fmt.Sprintf("%s: %d entries; remembered", now.Origin, now.Size))
	}
	return e.printLine(fmt.Sprintf("%s: %d entries, the first %d as before", now.Origin, now.Size, last.Size))
}
