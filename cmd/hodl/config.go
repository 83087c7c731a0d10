package main

import (
	"errors"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hodl/internal/serve"
)

// A setting is one line of hodl config.
type setting struct {
	Name     string `json:"name"`
	Value    string `json:"value"`
	From     string `json:"from"` // flag, default, or the variable
	Variable string `json:"variable"`
	Secret   bool   `json:"secret"`
}

func configCommand(e *env) *cobra.Command {
	var config serve.Config
	var logs, token string
	c := &cobra.Command{
		Use: "config", Short: "Show the settings in effect, and where each comes from", Args: exactly(),
		Long: `Shows what hodl serve would run with, and what commands would reach a server by:
each setting's value and whether a flag, a variable or the default gave it. Secrets
are masked. There is no configuration file: set variables where the service is
started, and keep secrets in files that HODL_…_FILE names.

It exits with 1 when hodl serve would refuse the settings.`,
		Example: `  hodl config
  HODL_DATA=/var/lib/hodl hodl config --json`,
		RunE: func(c *cobra.Command, _ []string) error { return e.config(c, config, logs) },
	}
	e.serves(c, &config, &logs)
	e.reaches(c)
	c.Flags().StringVar(&token, "token", "", "resume `TOKEN` of hodl hydrate")
	return c
}

func (e *env) config(c *cobra.Command, config serve.Config, logs string) error {
	effective, wrong := config.Effective()
	if _, err := e.logger(logs); err != nil {
		wrong = errors.Join(wrong, err)
	}
	derived := map[string]string{
		"public-url": effective.PublicURL, "master-key-file": effective.MasterKeyFile, "key-rotation": effective.KeyRotation.String(),
	}
	var list []setting
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" || f.Name == "json" {
			return
		}
		s := setting{Name: f.Name, Value: f.Value.String(), From: e.source(f), Variable: variable(f.Name), Secret: secrets[f.Name]}
		if value := derived[f.Name]; value != "" && s.From == "default" {
			s.Value = value
		}
		if s.Secret {
			s.Value = masked(s.Value)
		}
		list = append(list, s)
	})
	if err := e.printSettings(list); err != nil {
		return err
	}
	return wrong
}

func (e *env) source(f *pflag.Flag) string {
	if source := e.sources[f.Name]; source != "" {
		return source
	}
	if f.Changed {
		return "flag"
	}
	return "default"
}

func (e *env) printSettings(list []setting) error {
	if e.json {
		return e.printJSON(map[string]any{"settings": list})
	}
	rows := make([][]string, 0, len(list))
	for _, s := range list {
		rows = append(rows, []string{s.Name, s.Value, s.From})
	}
	return e.printTable([]string{"SETTING", "VALUE", "FROM"}, rows)
}

// masked shows as much of a secret as tells which it is: where a database is, the
// last four characters of a key.
func masked(s string) string {
	if s == "" {
		return ""
	}
	if u, err := url.Parse(s); err == nil && u.Host != "" {
		if u.User != nil {
			u.User = url.User(u.User.Username())
		}
		u.RawQuery = "" // it may hold a password as well
		return u.String()
	}
	const shown, least = 4, 20
	if len(s) < least || strings.ContainsAny(s, " =") { // a connection string names its password
		return "…"
	}
	return "…" + s[len(s)-shown:]
}
