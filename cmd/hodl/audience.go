package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"

	"github.com/spf13/cobra"

	"hodl"
	"hodl/client"
)

func audienceAddCommand(e *env) *cobra.Command {
	var d hodl.AudienceDraft
	var key string
	c := &cobra.Command{
		Use: "add NAME", Short: "Register an audience", Args: exactly("NAME"),
		Long: `Registers who tokens may be minted for: an https address, or a name with a dot or
a colon in it. A built-in audience may be registered too, to bind it to addresses or
a key in this workspace. It takes an admin's key and the plan startup or larger.`,
		Example: `  hodl audience add agent.example.com --description 'the nightly agent'
  hodl audience add agent.example.com --address 192.0.2.0/24 --address 2001:db8::7
  hodl audience add agent.example.com --jwk public.jwk`,
		RunE: func(c *cobra.Command, args []string) (err error) {
			d.Name = args[0]
			if d.JWK, err = readJWK(key); err != nil {
				return err
			}
			api, err := e.client()
			if err != nil {
				return err
			}
			a, err := api.AddAudience(c.Context(), d)
			return e.show(err, func() error { return e.printAudience(a) })
		},
	}
	f := c.Flags()
	f.StringVar(&d.Description, "description", "", "what it is")
	f.StringSliceVar(&d.Addresses, "address", nil, "`CIDR` its calls must come from; may be given more than once")
	f.StringVar(&key, "jwk", "", "`FILE` of the public key it proves possession of on every use")
	return e.reaches(c)
}

func audienceListCommand(e *env) *cobra.Command {
	var page client.Page
	c := &cobra.Command{
		Use: "list", Short: "List audiences: registered ones, then the built-in ones", Args: exactly(),
		Example: `  hodl audience list
  hodl audience list --limit 100 --json`,
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := e.client()
			if err != nil {
				return err
			}
			list, err := api.Audiences(c.Context(), page)
			return e.show(err, func() error {
				defer e.more(list.Next)
				return e.printTable([]string{"ID", "NAME", "BOUND TO", "DESCRIPTION"}, audienceRows(list.Audiences))
			})
		},
	}
	return pages(e.reaches(c), &page)
}

func audienceRows(list []hodl.Audience) [][]string {
	rows := make([][]string, 0, len(list))
	for _, a := range list {
		bound := "nothing"
		switch {
		case a.JWK != nil && len(a.Addresses) > 0:
			bound = "a key, addresses"
		case a.JWK != nil:
			bound = "a key"
		case len(a.Addresses) > 0:
			bound = "addresses"
		}
		about := a.Description
		if a.Builtin {
			about = "(built in) " + about
		}
		rows = append(rows, []string{string(a.ID), a.Name, bound, about})
	}
	return rows
}

func audienceShowCommand(e *env) *cobra.Command {
	c := &cobra.Command{
		Use: "show ID", Short: "Show an audience", Args: exactly("ID"),
		Example: `  hodl audience show aud_01KAQ3M7T4Z0X8W2V6R5N9P1JC`,
		RunE: func(c *cobra.Command, args []string) error {
			api, err := e.client()
			if err != nil {
				return err
			}
			a, err := api.Audience(c.Context(), hodl.AudienceID(args[0]))
			return e.show(err, func() error { return e.printAudience(a) })
		},
	}
	return e.reaches(c)
}

// audienceOrder is the change that was asked for.
type audienceOrder struct {
	description, key  string
	addresses         []string
	anywhere, keyless bool
}

func audienceChangeCommand(e *env) *cobra.Command {
	var order audienceOrder
	c := &cobra.Command{
		Use: "change ID", Aliases: []string{"update"}, Short: "Change what an audience is bound to", Args: exactly("ID"),
		Long: `Changes the description, the addresses or the key of a registered audience. It
holds for tokens that are out already: one bound to another key, or to none, works
no more once the audience has a new key.`,
		Example: `  hodl audience change aud_01KAQ3M7T4Z0X8W2V6R5N9P1JC --address 192.0.2.0/24
  hodl audience change aud_01KAQ3M7T4Z0X8W2V6R5N9P1JC --anywhere --no-jwk`,
		RunE: func(c *cobra.Command, args []string) error {
			change, err := order.change(c)
			if err != nil {
				return err
			}
			api, err := e.client()
			if err != nil {
				return err
			}
			a, err := api.ChangeAudience(c.Context(), hodl.AudienceID(args[0]), change)
			return e.show(err, func() error { return e.printAudience(a) })
		},
	}
	f := c.Flags()
	f.StringVar(&order.description, "description", "", "what it is")
	f.StringSliceVar(&order.addresses, "address", nil, "`CIDR` its calls must come from, in place of those before; may be given more than once")
	f.BoolVar(&order.anywhere, "anywhere", false, "let its calls come from anywhere")
	f.StringVar(&order.key, "jwk", "", "`FILE` of its new public key")
	f.BoolVar(&order.keyless, "no-jwk", false, "take its key away")
	return e.reaches(c)
}

func (o *audienceOrder) change(c *cobra.Command) (hodl.AudienceChange, error) {
	var out hodl.AudienceChange
	switch {
	case o.anywhere && len(o.addresses) > 0:
		return out, usagef("--address and --anywhere exclude each other")
	case o.keyless && o.key != "":
		return out, usagef("--jwk and --no-jwk exclude each other")
	}
	if c.Flags().Changed("description") {
		out.Description = &o.description
	}
	if c.Flags().Changed("address") || o.anywhere {
		list := append([]string{}, o.addresses...)
		out.Addresses = &list
	}
	if o.keyless {
		out.JWK = &map[string]any{}
	}
	if o.key != "" {
		key, err := readJWK(o.key)
		if err != nil {
			return out, err
		}
		out.JWK = &key
	}
	if out == (hodl.AudienceChange{}) {
		return out, hint(usagef("nothing to change"), "give --description, --address, --anywhere, --jwk or --no-jwk")
	}
	return out, nil
}

func audienceDeleteCommand(e *env) *cobra.Command {
	c := &cobra.Command{
		Use: "delete ID", Aliases: []string{"remove"}, Short: "Take an audience out of the registry", Args: exactly("ID"),
		Long: `Takes an audience out of the registry: its tokens work no more. A built-in one
that was registered is bound to nothing after that.`,
		Example: `  hodl audience delete aud_01KAQ3M7T4Z0X8W2V6R5N9P1JC`,
		RunE: func(c *cobra.Command, args []string) error {
			api, err := e.client()
			if err != nil {
				return err
			}
			err = api.DeleteAudience(c.Context(), hodl.AudienceID(args[0]))
			return e.show(err, func() error { return e.printLine("deleted " + args[0]) })
		},
	}
	return e.reaches(c)
}

// readJWK reads a public key from a file. Whether it is one the server says, but a
// private key is not even sent.
func readJWK(file string) (map[string]any, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var members map[string]any
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, hint(errors.New(file+" is not a key in JSON"), "give a public JWK (RFC 7517)")
	}
	if _, err := hodl.ParseJWK(members); err != nil {
		return nil, fmt.Errorf("the key in %s %w", file, err)
	}
	return members, nil
}

func (e *env) printAudience(a *hodl.Audience) error {
	kind := "registered"
	if a.Builtin {
		kind = "built in"
	}
	key := ""
	if a.JWK != nil {
		key = a.JWK.Type + " " + a.JWK.Curve + " " + a.JKT
	}
	return e.printFacts([][2]string{
		{"id", string(a.ID)},
		{"name", a.Name},
		{"kind", kind},
		{"description", a.Description},
		{"addresses", joined(texts(a.Addresses), " ")},
		{"key", key},
	})
}

func texts(list []netip.Prefix) []string {
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = p.String()
	}
	return out
}
