package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"hodl"
	"hodl/client"
)

func tokenMintCommand(e *env) *cobra.Command {
	var session, audience, policy string
	var scopes []string
	var ttl time.Duration
	var hydrations int
	c := &cobra.Command{
		Use: "mint", Short: "Mint a resume token", Args: exactly(),
		Long: `Mints a token that lets one audience take up one session, and prints it, this
once. Scopes: read:context, read:reasoning, read:transcript, read:redacted,
write:notes, write:next_step, session:hand_off.`,
		Example: `  hodl token mint --session ses_8f3aZ91b --audience claude.anthropic.com --scope read:context --scope read:reasoning
  TOKEN=$(hodl token mint --session ses_8f3aZ91b --audience sdk.unihodl.app --scope read:context --ttl 5m --max-hydrations 1)`,
		RunE: func(c *cobra.Command, _ []string) error {
			d := hodl.TokenDraft{Session: hodl.SessionID(session), Audience: audience, RedactionPolicy: policy}
			for _, s := range scopes {
				d.Scopes = append(d.Scopes, hodl.Scope(s))
			}
			seconds := int(ttl / time.Second)
			d.TTLSeconds, d.MaxHydrations = &seconds, &hydrations
			if err := d.Check(); err != nil {
				return usage(err)
			}
			return e.mint(c, d)
		},
	}
	f := c.Flags()
	f.StringVar(&session, "session", "", "`ID` of the session it opens")
	completeFlag(c, "session", e.completes(0, completeSessions))
	f.StringVar(&audience, "audience", "", "who it is for, such as claude.anthropic.com")
	f.StringSliceVar(&scopes, "scope", nil, "what it may do; may be given more than once")
	f.DurationVar(&ttl, "ttl", hodl.DefaultTTL, "how long it lives, 1m to 24h")
	f.IntVar(&hydrations, "max-hydrations", hodl.DefaultHydrations, "how many hydrations it is good for, 1 to 1000")
	f.StringVar(&policy, "redaction-policy", "", "`NAME` of a policy applied in addition to the workspace's")
	return e.reaches(c)
}

func (e *env) mint(c *cobra.Command, d hodl.TokenDraft) error {
	api, err := e.client()
	if err != nil {
		return err
	}
	m, err := api.Mint(c.Context(), d)
	return e.show(err, func() error { return e.printMinted(m) })
}

func tokenListCommand(e *env) *cobra.Command {
	var filter client.TokenFilter
	var session string
	c := &cobra.Command{
		Use: "list", Short: "List resume tokens, newest first", Args: exactly(),
		Example: `  hodl token list
  hodl token list --session ses_8f3aZ91b --json`,
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := e.client()
			if err != nil {
				return err
			}
			filter.Session = hodl.SessionID(session)
			list, err := api.Tokens(c.Context(), filter)
			return e.show(err, func() error {
				defer e.more(list.Next)
				return e.printTable([]string{"ID", "SESSION", "AUDIENCE", "LEFT", "ENDS", "SCOPES"}, e.tokenRows(list.Tokens))
			})
		},
	}
	c.Flags().StringVar(&session, "session", "", "only tokens of the session with this `ID`")
	completeFlag(c, "session", e.completes(0, completeSessions))
	return pages(e.reaches(c), &filter.Page)
}

func (e *env) tokenRows(tokens []client.Token) [][]string {
	rows := make([][]string, 0, len(tokens))
	for _, t := range tokens {
		ends := relative(t.ExpiresAt, e.now())
		if t.RevokedAt != nil {
			ends = "revoked"
		}
		left := fmt.Sprintf("%d/%d", t.HydrationsLeft, t.MaxHydrations)
		rows = append(rows, []string{string(t.ID), string(t.Session), t.Audience, left, ends, joined(t.Scopes, " ")})
	}
	return rows
}
