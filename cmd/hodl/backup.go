package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"hodl/internal/backup"
	"hodl/internal/serve"
)

func backupCommand(e *env) *cobra.Command {
	var config serve.Config
	c := &cobra.Command{
		Use: "backup FILE", Short: "Write the whole database into one file", Args: exactly("FILE"),
		Long: `Writes the database, as it is at one moment, into a file: servers go on meanwhile.
The file is read again to its end before it gets its name, and none is written over.
Session content is sealed in it as in the database; titles of hodls, URLs and names
lie open, so its mode is 0600.

The master key is NOT in it: keep a copy of the master key file apart from the
backups. Without the key a backup cannot be restored; with both, everything can be
read.

On PostgreSQL it needs --database-admin where the server's role does not own the
tables. A backup of either engine can be restored on the other.`,
		Example: `  hodl backup /backups/hodl-$(date +%F).tar.gz
  hodl backup --data /var/lib/hodl /backups/today.tar.gz --json
  hodl backup --database postgres://… --database-admin postgres://… --master-key-file master.key today.tar.gz`,
		RunE: func(c *cobra.Command, args []string) error { return e.backup(c.Context(), config, args[0]) },
	}
	e.stores(c, &config)
	return c
}

func (e *env) backup(ctx context.Context, config serve.Config, file string) error {
	config.Now, config.Release = e.now, release()
	show, finish := e.progress()
	sum, err := serve.Backup(ctx, config, file, show)
	finish()
	if err != nil {
		return err
	}
	if e.json {
		return e.printJSON(summary(file, sum))
	}
	e.note("keep the master key %s apart from it: the backup cannot be restored without", sum.Master)
	return e.printLine(fmt.Sprintf("wrote %s: %s, %s", file, counted(sum), size(sum.Bytes)))
}

func restoreCommand(e *env) *cobra.Command {
	var config serve.Config
	var check bool
	c := &cobra.Command{
		Use: "restore FILE", Short: "Make a database from a backup, and prove it", Args: exactly("FILE"),
		Long: `Makes a new database from a backup: in a folder that is not there yet or is empty, or
in an empty PostgreSQL database, whichever engine the backup was taken on. Nothing
is written over, and the database is there whole or not at all.

Before it is kept, it is proven: the file is whole and sealed by the master key given,
every sealed value opens, no access log has a gap, counters are what was recorded.
The key is not put beside the database: keep it where it is and name it to serve.

Tokens and keys are as they were when the backup was taken: what was revoked or used
since is not. Revoke what you must.`,
		Example: `  hodl restore /backups/today.tar.gz --data ./restored --master-key-file master.key
  hodl restore /backups/today.tar.gz --check --master-key-file master.key     only prove it
  hodl restore today.tar.gz --database postgres://… --database-admin postgres://… --master-key-file master.key`,
		RunE: func(c *cobra.Command, args []string) error { return e.restore(c.Context(), config, args[0], check) },
	}
	e.stores(c, &config)
	c.Flags().BoolVar(&check, "check", false, "prove the backup and keep nothing")
	return c
}

func (e *env) restore(ctx context.Context, config serve.Config, file string, check bool) error {
	if config.MasterKeyFile == "" {
		return hint(usagef("no master key"), "a backup does not hold it: name the file that does with --master-key-file")
	}
	config.Now = e.now
	show, finish := e.progress()
	sum, err := serve.Restore(ctx, config, file, check, show)
	finish()
	switch {
	case err != nil:
		return err
	case e.json:
		return e.printJSON(summary(file, sum))
	case check:
		return e.printLine(fmt.Sprintf("%s is whole and opens: %s, taken %s", file, counted(sum), relative(sum.TakenAt, e.now())))
	}
	start := "hodl serve --data " + quoted(config.Data) + " --master-key-file " + quoted(config.MasterKeyFile)
	if config.Database != "" {
		start = `hodl serve --database "$` + variable("database") + `" --master-key-file ` + quoted(config.MasterKeyFile)
	}
	e.note("start it with: %s", start)
	return e.printLine(fmt.Sprintf("restored %s, taken %s", counted(sum), relative(sum.TakenAt, e.now())))
}

// summary is what a program is told of a backup.
func summary(file string, s *backup.Summary) map[string]any {
	return map[string]any{
		"file": file, "bytes": s.Bytes, "taken_at": s.TakenAt, "engine": s.Engine, "schema": s.Schema,
		"release": s.Release, "master_key": s.Master, "rows": s.Rows,
	}
}

func counted(s *backup.Summary) string {
	return fmt.Sprintf("%d sessions, %d hodls, %d access records", s.Rows["sessions"], s.Rows["hodls"], s.Rows["access_records"])
}

func size(bytes int64) string {
	const kib, mib = 1 << 10, 1 << 20
	if bytes < mib {
		return fmt.Sprintf("%.1f KiB", float64(bytes)/kib)
	}
	return fmt.Sprintf("%.1f MiB", float64(bytes)/mib)
}
