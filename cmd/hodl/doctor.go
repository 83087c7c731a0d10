package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"hodl/internal/doctor"
	"hodl/internal/serve"
)

func doctorCommand(e *env) *cobra.Command {
	var config serve.Config
	var logs string
	c := &cobra.Command{
		Use: "doctor", Short: "Look for what is wrong, and say how to mend it", Args: exactly(),
		Long: `Checks an installation, whether its server runs or not, and changes nothing: the
folder's and the master key's permissions, disk, address, database, clock, signing
keys, that every sealed value opens, that access logs have no gap and that counters
are what was recorded. It reads the whole database once, as it is at one moment. On
PostgreSQL it needs --database-admin where the server's role does not own the
tables.

With --url it checks a server from a client's side: whether it answers and is ready,
its clock, its keys and, with --key, who you are. With --url alone it does only that.

It exits with 0 when nothing failed, warnings or not, and with 1 otherwise; --json
prints the whole report either way. No secret is printed.`,
		Example: `  hodl doctor
  hodl doctor --data /var/lib/hodl --json
  hodl doctor --database postgres://… --database-admin postgres://… --master-key-file master.key
  hodl doctor --url https://hodl.example.com`,
		RunE: func(c *cobra.Command, _ []string) error {
			f := c.Flags()
			remote := f.Changed("url")
			return e.doctor(c.Context(), config, !remote || f.Changed("data") || f.Changed("database"), remote)
		},
	}
	e.serves(c, &config, &logs)
	e.reaches(c)
	return c
}

// doctor checks the installation, the server at --url, or both.
func (e *env) doctor(ctx context.Context, config serve.Config, local, remote bool) error {
	config.Now = e.now
	ward := &ward{env: e, checks: []doctor.Check{}}
	progress, finish := e.progress()
	if local {
		tell := func(c doctor.Check) { finish(); ward.tell(c) }
		if err := serve.Examine(ctx, config, tell, progress); err != nil {
			return err
		}
	}
	if remote {
		if err := e.examineServer(ctx, ward.tell); err != nil {
			return err
		}
	}
	return ward.discharge()
}

// A ward gathers checks, and shows each as it ends.
type ward struct {
	*env
	checks []doctor.Check
	err    error
}

func (w *ward) tell(c doctor.Check) {
	w.checks = append(w.checks, c)
	if w.json {
		return
	}
	colours := map[doctor.Status]string{doctor.OK: green, doctor.Warning: amber, doctor.Failed: red}
	status := fmt.Sprintf("%-7s", c.Status)
	if w.colourful(w.out) {
		status = colours[c.Status] + status + reset
	}
	line := fmt.Sprintf("%s  %-18s %s\n", status, c.Name, clean(c.Detail))
	if c.Mend != "" {
		line += fmt.Sprintf("%-9s%-18s → %s\n", "", "", clean(c.Mend))
	}
	if _, err := w.out.WriteString(line); err != nil {
		w.err = err
	}
}

// discharge says how it went as a whole.
func (w *ward) discharge() error {
	failed, warned := 0, 0
	for _, c := range w.checks {
		switch c.Status {
		case doctor.Failed:
			failed++
		case doctor.Warning:
			warned++
		}
	}
	if w.json {
		w.err = w.printJSON(map[string]any{"ok": failed == 0, "failed": failed, "warnings": warned, "checks": w.checks})
	}
	switch {
	case w.err != nil:
		return w.err
	case failed > 0:
		return fmt.Errorf("%d of %d checks failed", failed, len(w.checks))
	}
	return nil
}
