package main

import (
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hodl"
	"hodl/client"
	"hodl/internal/serve"
)

func keyListCommand(e *env) *cobra.Command {
	var page client.Page
	c := &cobra.Command{
		Use: "list", Short: "List your API keys, newest first", Args: exactly(),
		Example: `  hodl key list
  hodl key list --limit 100 --json`,
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := e.client()
			if err != nil {
				return err
			}
			list, err := api.Keys(c.Context(), page)
			return e.show(err, func() error {
				defer e.more(list.Next)
				return e.printTable([]string{"ID", "MODE", "ENDS IN", "MADE", "LAST USED", "NAME"}, e.keyRows(list.Keys))
			})
		},
	}
	return pages(e.reaches(c), &page)
}

func (e *env) keyRows(keys []client.Key) [][]string {
	rows := make([][]string, 0, len(keys))
	for _, k := range keys {
		used := "never"
		if k.LastUsedAt != nil {
			used = relative(*k.LastUsedAt, e.now())
		}
		name := k.Name
		if k.RevokedAt != nil {
			name = "(revoked) " + name
		}
		rows = append(rows, []string{string(k.ID), string(k.Mode), k.LastFour, relative(k.CreatedAt, e.now()), used, name})
	}
	return rows
}

func keyRevokeCommand(e *env) *cobra.Command {
	c := &cobra.Command{
		Use: "revoke ID", Short: "Revoke an API key, for good", Args: exactly("ID"),
		Example: `  hodl key revoke key_01KAQ3M7T4Z0X8W2V6R5N9P1JC`,
		RunE: func(c *cobra.Command, args []string) error {
			api, err := e.client()
			if err != nil {
				return err
			}
			k, err := api.RevokeKey(c.Context(), hodl.KeyID(args[0]))
			return e.show(err, func() error {
				return e.printLine("revoked " + string(k.ID) + ", which ends in " + k.LastFour)
			})
		},
	}
	return e.reaches(c)
}

func keyMasterCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "master FILE", Short: "Make a master key file, for --master-key-file", Args: exactly("FILE"),
		Long: `Makes the key that all session content of a database is sealed under. Every
server of one PostgreSQL database needs the same file; beside SQLite one is made by
itself. Whoever has it and the database reads everything, and without it nobody can.`,
		Example: `  hodl key master /etc/hodl/master.key`,
		RunE: func(_ *cobra.Command, args []string) error {
			err := serve.CreateMasterKey(args[0])
			if errors.Is(err, fs.ErrExist) {
				return hint(errors.New(args[0]+" is already there"), "choose another name: a master key in use must not be lost")
			}
			if err != nil {
				return err
			}
			if e.json {
				return e.printJSON(map[string]string{"master_key_file": args[0]})
			}
			return e.printLine("made " + args[0] + "; keep a copy apart from the database's backups")
		},
	}
}

// when is a time in a list: how long ago, or the date when that is long.
func (e *env) when(t time.Time) string {
	const month = 30 * 24 * time.Hour
	if e.now().Sub(t) > month {
		return t.Local().Format(time.DateOnly)
	}
	return relative(t, e.now())
}

func joined[T ~string](list []T, separator string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return strings.Join(out, separator)
}
