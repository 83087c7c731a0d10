package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hodl/internal/serve"
)

func sealRotateCommand(e *env) *cobra.Command {
	var config serve.Config
	var order serve.RotateOrder
	c := &cobra.Command{
		Use: "rotate", Short: "Replace data keys, or the master key, while servers run", Args: exactly(),
		Long: `Replaces keys while servers run, one or several: none has to be restarted.

--data-keys, which it does unless told otherwise, makes a new data key for each
workspace, seals everything in it anew, a few values at a time, and removes the old
key. New values use the new one at once.

--master puts every data key and signing key under the first key of the master key
file. Before it: hodl key master --add FILE, and copy the file to every server.
Servers read it again when they need it. Afterwards nothing in the database is under
the older keys of the file; backups of their time still are.

Killed at any moment, it goes on where it stopped when it is run again.`,
		Example: `  hodl seal rotate
  hodl seal rotate --workspace acme --dry-run
  hodl key master --add data/master.key && hodl seal rotate --master`,
		RunE: func(c *cobra.Command, _ []string) error { return e.sealRotate(c.Context(), config, order) },
	}
	e.stores(c, &config)
	f := c.Flags()
	f.StringVar(&order.Workspace, "workspace", "", "`NAME` of one workspace (default all)")
	f.BoolVar(&order.DataKeys, "data-keys", false, "replace the data keys")
	f.BoolVar(&order.Master, "master", false, "put everything under the first key of the master key file")
	f.BoolVar(&order.DryRun, "dry-run", false, "tell what it would do, and do nothing")
	return c
}

func (e *env) sealRotate(ctx context.Context, config serve.Config, order serve.RotateOrder) error {
	if order.Master && order.Workspace != "" {
		return hint(usagef("--master is for all workspaces"), "leave out --workspace")
	}
	order.DataKeys = order.DataKeys || !order.Master
	config.Now = e.now
	ctx, stop := untilSignal(ctx)
	defer stop()
	var finish func()
	order.Progress, finish = e.progress()
	got, err := serve.Rotate(ctx, config, order)
	finish()
	if ctx.Err() != nil {
		return hint(fmt.Errorf("stopped: %w", ctx.Err()), "nothing is lost; run it again and it goes on from here")
	}
	if err != nil {
		return err
	}
	if e.json {
		return e.printJSON(got)
	}
	return e.printRotated(got, order)
}

func (e *env) printRotated(r *serve.Rotated, order serve.RotateOrder) error {
	sealed, wrapped, removed := "sealed", "wrapped", "removed"
	if r.DryRun {
		sealed, wrapped, removed = "would seal", "would wrap", "would remove"
	}
	var lines []string
	if order.Master {
		lines = append(lines, fmt.Sprintf("%s %d keys under master key %s", wrapped, r.Wrapped, r.Master))
	}
	if order.DataKeys {
		lines = append(lines, fmt.Sprintf("%s %d values of %d workspaces anew, %s %d data keys", sealed, r.Values, r.Workspaces, removed, r.Removed))
	}
	if r.Resumed > 0 {
		lines = append(lines, fmt.Sprintf("%d of the workspaces had been begun before", r.Resumed))
	}
	if order.Master && !r.DryRun && len(r.Unused) > 0 {
		e.note("nothing in the database is under %s any more; keep it as long as backups of its time", strings.Join(r.Unused, ", "))
	}
	return e.printLines(lines)
}

func (e *env) printLines(lines []string) error {
	for _, l := range lines {
		if err := e.printLine(l); err != nil {
			return err
		}
	}
	return nil
}
