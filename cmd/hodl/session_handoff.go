package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"hodl"
	"hodl/client"
)

func sessionHandOffCommand(e *env) *cobra.Command {
	var d hodl.HandOffDraft
	var scopes []string
	var ttl time.Duration
	var yes bool
	c := &cobra.Command{
		Use: "handoff ID", Short: "Give a session to another principal", Args: exactly("ID"),
		Long: `Mints a token for whoever takes the session over, and prints it, this once. A
hand-off wants a person's word: without --yes it only tells what it would give to
whom, and --yes is recorded as your confirmation, with its time.`,
		Example: `  hodl session handoff ses_8f3aZ91b --audience claude.anthropic.com --scope read:context
  TOKEN=$(hodl session handoff ses_8f3aZ91b --audience claude.anthropic.com --scope read:context --yes)`,
		ValidArgsFunction: e.completes(1, completeSessions),
		RunE: func(c *cobra.Command, args []string) error {
			for _, s := range scopes {
				d.Scopes = append(d.Scopes, hodl.Scope(s))
			}
			if c.Flags().Changed("ttl") {
				seconds := int(ttl / time.Second)
				d.TTLSeconds = &seconds
			}
			draft := hodl.TokenDraft{Session: hodl.SessionID(args[0]), Audience: d.Audience, Scopes: d.Scopes, TTLSeconds: d.TTLSeconds}
			if err := draft.Check(); err != nil {
				return usage(err)
			}
			return e.handOff(c.Context(), hodl.SessionID(args[0]), d, yes)
		},
	}
	f := c.Flags()
	f.StringVar(&d.Audience, "audience", "", "who it is for, such as claude.anthropic.com")
	f.StringSliceVar(&scopes, "scope", nil, "what they may do; may be given more than once")
	f.DurationVar(&ttl, "ttl", hodl.DefaultTTL, "how long the token lives, 1m to 24h")
	f.BoolVar(&yes, "yes", false, "you confirm it, now")
	return e.reaches(c)
}

func (e *env) handOff(ctx context.Context, id hodl.SessionID, d hodl.HandOffDraft, yes bool) error {
	api, err := e.client()
	if err != nil {
		return err
	}
	if !yes {
		return e.tellHandOff(ctx, api, id, d)
	}
	h, err := api.HandOff(ctx, id, e.now(), d)
	return e.show(err, func() error {
		e.note("link for the person: %s", h.URL)
		return e.printMinted(&h.Minted)
	})
}

// tellHandOff tells what a hand-off would do.
func (e *env) tellHandOff(ctx context.Context, api *client.Client, id hodl.SessionID, d hodl.HandOffDraft) error {
	s, err := api.Session(ctx, id)
	if err != nil {
		return e.failed(err)
	}
	if e.json {
		return e.printJSON(map[string]any{"session_id": id, "audience": d.Audience, "scopes": d.Scopes, "dry_run": true})
	}
	if err := e.printLine(fmt.Sprintf("would give %s to %s: %s (%s)", id, d.Audience, s.Title, joined(d.Scopes, " "))); err != nil {
		return err
	}
	e.note("nothing is handed off yet: add --yes")
	return nil
}
