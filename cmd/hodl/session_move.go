package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"hodl"
	"hodl/client"
)

// A move brings a session into another state.
type move struct {
	use, short, long string
	do               func(*client.Client, context.Context, hodl.SessionID) (*client.Session, error)
}

var moves = []move{
	{
		"hold", "Hold a session that is open", "Says that the work on an open session rests.",
		(*client.Client).HoldSession,
	},
	{
		"archive", "Put a session away; its tokens end for good", `Puts a session away: nothing captures into it, and no agent gets it. Its resume
tokens end, and restore does not bring them back.`,
		(*client.Client).ArchiveSession,
	},
	{
		"restore", "Bring an archived session back", "Brings an archived session back. Mint new tokens for it; the old ones stay ended.",
		(*client.Client).RestoreSession,
	},
}

func sessionMoveCommands(e *env) []*cobra.Command {
	var all []*cobra.Command
	for _, m := range moves {
		all = append(all, e.reaches(&cobra.Command{
			Use: m.use + " ID", Short: m.short, Long: m.long, Args: exactly("ID"),
			Example:           "  hodl session " + m.use + " ses_8f3aZ91b",
			ValidArgsFunction: e.completes(1, completeSessions),
			RunE: func(c *cobra.Command, args []string) error {
				api, err := e.client()
				if err != nil {
					return err
				}
				s, err := m.do(api, c.Context(), hodl.SessionID(args[0]))
				return e.show(err, func() error { return e.printSession(s) })
			},
		}))
	}
	return all
}

func sessionResumeCommand(e *env) *cobra.Command {
	var open bool
	c := &cobra.Command{
		Use: "resume ID", Short: "Take a session up again", Args: exactly("ID"),
		Long: `Says that you are at work on a session again, and prints the links of what was
open in it: pages, media, places in files. With --open it opens them; only pages
(http, https) and editors are opened, whatever was captured.`,
		Example: `  hodl session resume ses_8f3aZ91b
  hodl session resume ses_8f3aZ91b --open`,
		ValidArgsFunction: e.completes(1, completeSessions),
		RunE: func(c *cobra.Command, args []string) error {
			return e.sessionResume(c.Context(), hodl.SessionID(args[0]), open)
		},
	}
	c.Flags().BoolVar(&open, "open", false, "open the links")
	return e.reaches(c)
}

func (e *env) sessionResume(ctx context.Context, id hodl.SessionID, open bool) error {
	api, err := e.client()
	if err != nil {
		return err
	}
	content, err := api.Content(ctx, id)
	if err != nil {
		return e.failed(err)
	}
	s, err := api.ResumeSession(ctx, id)
	if err != nil {
		return e.failed(err)
	}
	links := linksOf(content)
	if open {
		e.openAll(ctx, links)
	}
	if e.json {
		return e.printJSON(map[string]any{"session": s, "links": links})
	}
	e.note("%s is %s: %s", s.ID, s.State, s.Title)
	for _, link := range links {
		if err := e.printLine(link); err != nil {
			return err
		}
	}
	return nil
}

// linksOf lists what was open in a session, each once.
func linksOf(x *client.Content) []string {
	links := []string{}
	add := func(link string) {
		if link != "" && !slices.Contains(links, link) {
			links = append(links, link)
		}
	}
	for _, t := range x.Tabs {
		add(t.URL)
	}
	for _, m := range x.Media {
		add(m.URL)
	}
	for _, h := range x.Hodls {
		add(h.DeepLink)
	}
	return links
}

func (e *env) openAll(ctx context.Context, links []string) {
	for _, link := range links {
		safe, err := safeLink(link)
		if err != nil {
			e.note("%v", err)
			continue
		}
		e.open(ctx, safe)
	}
}

func sessionDeleteCommand(e *env) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "delete ID", Short: "Erase a session for good", Args: exactly("ID"),
		Long: `Erases a session: all its versions go, and its tokens end. Its access records stay;
they hold none of its content. Nothing brings it back, so without --yes it only tells
what it would erase.`,
		Example: `  hodl session delete ses_8f3aZ91b
  hodl session delete ses_8f3aZ91b --yes`,
		ValidArgsFunction: e.completes(1, completeSessions),
		RunE: func(c *cobra.Command, args []string) error {
			return e.sessionDelete(c.Context(), hodl.SessionID(args[0]), yes)
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "do it, instead of telling what would be done")
	return e.reaches(c)
}

func (e *env) sessionDelete(ctx context.Context, id hodl.SessionID, yes bool) error {
	api, err := e.client()
	if err != nil {
		return err
	}
	s, err := api.Session(ctx, id)
	if err == nil && yes {
		err = api.DeleteSession(ctx, id)
	}
	if err != nil {
		return e.failed(err)
	}
	if e.json {
		return e.printJSON(map[string]any{"id": id, "deleted": yes, "dry_run": !yes})
	}
	if yes {
		return e.printLine("deleted " + string(id))
	}
	if err := e.printLine(fmt.Sprintf("would delete %s: %s", id, s.Title)); err != nil {
		return err
	}
	e.note("nothing is deleted yet: add --yes")
	return nil
}
