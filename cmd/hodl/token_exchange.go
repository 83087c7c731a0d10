package main

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hodl"
	"hodl/client"
)

func tokenExchangeCommand(e *env) *cobra.Command {
	var token, audience string
	var scopes []string
	var ttl time.Duration
	var hydrations int
	c := &cobra.Command{
		Use: "exchange", Short: "Exchange a resume token for a narrower one", Args: exactly(),
		Long: `Makes a token for another audience from one that carries session:hand_off, and
prints it, this once. The new one does no more, lives no longer, draws on the
hydrations of the first, and ends with it.`,
		Example: `  hodl token exchange --token "$TOKEN" --audience agents.openai.com --scope read:context
  hodl token mint … | hodl token exchange --token - --audience crewai.com --scope read:context --ttl 5m`,
		RunE: func(c *cobra.Command, _ []string) error {
			token, err := e.secret(token)
			if err != nil {
				return err
			}
			if token == "" {
				return hint(usagef("no resume token"), "set HODL_TOKEN, or HODL_TOKEN_FILE, or give --token; - reads it from standard input")
			}
			d := hodl.ExchangeDraft{Audience: audience}
			for _, s := range scopes {
				d.Scopes = append(d.Scopes, hodl.Scope(s))
			}
			if seconds := int(ttl / time.Second); ttl != 0 {
				d.TTLSeconds = &seconds
			}
			if hydrations != 0 {
				d.MaxHydrations = &hydrations
			}
			if err := d.Check(); err != nil {
				return usage(err)
			}
			if err := checkURL(e.remote.url); err != nil {
				return err
			}
			m, err := client.NewAgent(e.remote.url, token, e.options()...).Exchange(c.Context(), d)
			return e.show(err, func() error { return e.printMinted(m) })
		},
	}
	f := c.Flags()
	f.StringVar(&token, "token", "", "resume `TOKEN`; - reads it from standard input")
	f.StringVar(&audience, "audience", "", "who the new one is for, such as agents.openai.com")
	f.StringSliceVar(&scopes, "scope", nil, "what it may do; may be given more than once")
	f.DurationVar(&ttl, "ttl", 0, "how long it lives; an hour, or what is left, when absent")
	f.IntVar(&hydrations, "max-hydrations", 0, "how many hydrations it is good for; 5, or as many as the first, when absent")
	e.finds(c)
	return c
}

func (e *env) printMinted(m *client.Minted) error {
	e.note("%s opens %s for %s until %s", m.ID, m.Session, m.Audience, m.ExpiresAt.Local().Format(time.DateTime))
	return e.printLine(m.Token)
}

func tokenIntrospectCommand(e *env) *cobra.Command {
	c := &cobra.Command{
		Use: "introspect TOKEN", Short: "Ask the server whether a resume token can be used now", Args: exactly("TOKEN"),
		Long: `Asks the server whether a token can be used now, and what it says. The answer is
no for a token of somebody else's. - reads the token from standard input.`,
		Example: `  hodl token introspect - <token.txt
  hodl token introspect "$TOKEN" --json`,
		RunE: func(c *cobra.Command, args []string) error {
			token, err := e.secret(args[0])
			if err != nil {
				return err
			}
			api, err := e.client()
			if err != nil {
				return err
			}
			x, err := api.Introspect(c.Context(), token)
			return e.show(err, func() error { return e.printIntrospection(x) })
		},
	}
	return e.reaches(c)
}

func (e *env) printIntrospection(x *client.Introspection) error {
	if !x.Active {
		return e.printFacts([][2]string{{"active", "no"}})
	}
	return e.printFacts([][2]string{
		{"active", "yes"},
		{"token", string(x.ID)},
		{"session", string(x.Session)},
		{"audience", x.Audience},
		{"scopes", x.Scope},
		{"hydrations", strconv.Itoa(x.HydrationsLeft) + " of " + strconv.Itoa(x.MaxHydrations) + " left"},
		{"expires", e.instant(x.Expires)},
		{"subject", x.Subject},
		{"delegator", x.Delegator},
		{"handed on by", strings.Join(x.Actor.Chain(), ", ")},
	})
}

func tokenRevokeCommand(e *env) *cobra.Command {
	var of client.TokensOf
	var session, key, user string
	c := &cobra.Command{
		Use: "revoke [JTI]", Short: "Revoke a resume token, or many, at once and for good", Args: atMost(1),
		Long: `Revokes a token and all that was exchanged for it; or all tokens of a session, of
an API key, of a user or of the workspace that were minted so far.`,
		ValidArgsFunction: e.completes(1, completeTokens),
		Example: `  hodl token revoke rt_01KAQ3M7T4Z0X8W2V6R5N9P1JC --reason 'sent to the wrong agent'
  hodl token revoke --session ses_8f3aZ91b
  hodl token revoke --all --reason 'laptop stolen'`,
		RunE: func(c *cobra.Command, args []string) error {
			of.Session, of.Key, of.User = hodl.SessionID(session), hodl.KeyID(key), hodl.UserID(user)
			if named := given(args...) + given(session, key, user); named > 1 || of.All == (named == 1) {
				return usagef("name one of: a token's id, --session, --by-key, --user, --all")
			}
			api, err := e.client()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				err := api.RevokeAll(c.Context(), of)
				return e.show(err, func() error { return e.printLine("revoked") })
			}
			r, err := api.Revoke(c.Context(), hodl.TokenID(args[0]), of.Reason)
			return e.show(err, func() error { return e.printLine("revoked " + string(r.ID)) })
		},
	}
	f := c.Flags()
	f.StringVar(&of.Reason, "reason", "", "why, for the record")
	f.StringVar(&session, "session", "", "all tokens of the session with this `ID`")
	f.StringVar(&key, "by-key", "", "all tokens minted by the API key with this `ID`")
	f.StringVar(&user, "user", "", "all tokens of the user with this `ID`")
	f.BoolVar(&of.All, "all", false, "all tokens of the workspace; for admins")
	return e.reaches(c)
}

// given counts what is not empty.
func given(texts ...string) int {
	n := 0
	for _, s := range texts {
		if s != "" {
			n++
		}
	}
	return n
}
