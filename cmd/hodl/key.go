package main

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hodl"
	"hodl/client"
)

func keyListCommand(e *env) *cobra.Command {
	var q client.KeyQuery
	var mode string
	c := &cobra.Command{
		Use: "list", Short: "List API keys, newest first", Args: exactly(),
		Example: `  hodl key list
  hodl key list --status active --mode live
  hodl key list --user all --json                          with an admin's key`,
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := e.client()
			if err != nil {
				return err
			}
			q.Mode = hodl.Mode(mode)
			list, err := api.Keys(c.Context(), q)
			return e.show(err, func() error {
				defer e.more(list.Next)
				return e.printTable([]string{"ID", "MODE", "ENDS IN", "MADE", "EXPIRES", "LAST USED", "SCOPES", "NAME"}, e.keyRows(list.Keys))
			})
		},
	}
	f := c.Flags()
	f.StringVar(&q.Status, "status", "", "only keys that are active, expired or revoked")
	f.StringVar(&mode, "mode", "", "only keys of this mode: live or sandbox")
	f.StringVar(&q.User, "user", "", "with an admin's key: the `ID` of a user, or all")
	return pages(e.reaches(c), &q.Page)
}

func (e *env) keyRows(keys []client.Key) [][]string {
	rows := make([][]string, 0, len(keys))
	for _, k := range keys {
		used, expires, name := "never", "never", k.Name
		if k.LastUsedAt != nil {
			used = relative(*k.LastUsedAt, e.now())
		}
		if k.ExpiresAt != nil {
			expires = k.ExpiresAt.Local().Format(time.DateOnly)
		}
		switch {
		case k.RevokedAt != nil:
			name = "(revoked) " + name
		case k.ExpiresAt != nil && !e.now().Before(*k.ExpiresAt):
			name = "(expired) " + name
		case k.ReplacedBy != "":
			name = "(replaced) " + name
		}
		rows = append(rows, []string{string(k.ID), string(k.Mode), k.LastFour, relative(k.CreatedAt, e.now()), expires, used, strings.Join(k.Scopes, " "), name})
	}
	return rows
}

func keyRotateCommand(e *env) *cobra.Command {
	var overlap time.Duration
	c := &cobra.Command{
		Use: "rotate ID", Short: "Replace an API key, which ends after an overlap", Args: exactly("ID"),
		Long: `Makes a key with the rights of another and prints it, this once. The old key goes
on for the overlap, so that what uses it can be changed in peace.`,
		Example: `  hodl key rotate key_01KAQ3M7T4Z0X8W2V6R5N9P1JC
  hodl key rotate key_01KAQ3M7T4Z0X8W2V6R5N9P1JC --overlap 0s`,
		RunE: func(c *cobra.Command, args []string) error {
			api, err := e.client()
			if err != nil {
				return err
			}
			k, err := api.RotateKey(c.Context(), hodl.KeyID(args[0]), overlap)
			return e.show(err, func() error {
				e.note("key %s takes the place of %s, which ends in %s; it is shown this once", k.ID, args[0], overlap)
				return e.printLine(k.Key)
			})
		},
	}
	c.Flags().DurationVar(&overlap, "overlap", 24*time.Hour, "how long the old key goes on, up to 720h")
	return e.reaches(c)
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
