package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"hodl/internal/queue"
)

func queueListCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List what waits to be sent, first held first", Args: exactly(),
		Example: `  hodl queue list
  hodl queue list --json`,
		RunE: func(*cobra.Command, []string) error {
			q, list, err := e.queued()
			if err != nil || q == nil {
				return err
			}
			if e.json {
				return e.printJSON(map[string]any{"queue": list})
			}
			rows := make([][]string, 0, len(list))
			for _, x := range list {
				d := x.Draft
				rows = append(rows, []string{x.ID, e.when(x.HeldAt), cmp.Or(d.Title, d.Note, d.URL, placeOf(d.Location)), x.Server, stateOf(x)})
			}
			return e.printTable([]string{"ID", "HELD", "WHAT", "FOR", "STATE"}, rows)
		},
	}
}

func stateOf(x queue.Entry) string {
	switch {
	case x.Fault != "":
		return x.Fault
	case x.Refusal != nil:
		return string(x.Refusal.Code) + ": " + x.Refusal.Message
	}
	return "waiting"
}

func (e *env) queued() (*queue.Queue, []queue.Entry, error) {
	q, err := e.queue()
	if err != nil {
		return nil, nil, err
	}
	list, err := q.List()
	if list == nil {
		list = []queue.Entry{}
	}
	return q, list, err
}

func queueSendCommand(e *env) *cobra.Command {
	c := &cobra.Command{
		Use: "send [ID…]", Short: "Send what waits, and what was refused once more",
		Long: `Sends what was kept for this server and key: all of it, or the ones named. Each is
taken once, however often it is sent. What is refused stays, with the reason.`,
		Example: `  hodl queue send
  hodl queue send q019d8f3a5c21k7zq2mfa`,
		ValidArgsFunction: e.completeQueue,
		RunE:              func(c *cobra.Command, ids []string) error { return e.queueSend(c, ids) },
	}
	return e.reaches(c)
}

// outcome is what became of an entry.
type outcome struct {
	ID   string `json:"id"`
	Sent bool   `json:"sent"`
	Why  string `json:"error,omitempty"`
}

func (e *env) queueSend(c *cobra.Command, ids []string) error {
	api, err := e.client()
	if err != nil {
		return err
	}
	q, list, err := e.queued()
	if err != nil {
		return err
	}
	key, err := e.secret(e.remote.key)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(x queue.Entry) bool {
		if len(ids) > 0 {
			return !slices.Contains(ids, x.ID)
		}
		return x.Server != e.server() || x.Account != account(key)
	})
	if missing := unknown(ids, list); missing != "" {
		return hint(errors.New("nothing is kept as "+missing), "hodl queue list tells what is")
	}
	if len(list) == 0 {
		e.note("nothing is kept for %s and this key; hodl queue list shows what is for others", e.server())
	}
	results := []outcome{}
	var last error
	for _, x := range list {
		why := foreign(x, e.server(), account(key))
		if why == nil {
			why = e.failed(e.sendKept(c.Context(), api, q, x.ID))
		}
		o := outcome{ID: x.ID, Sent: why == nil}
		if why != nil {
			last, o.Why = why, why.Error()
		}
		results = append(results, o)
	}
	if err := e.showOutcomes(results); err != nil {
		return err
	}
	return last
}

// foreign refuses an entry that is for another server or key.
func foreign(x queue.Entry, server, account string) error {
	switch {
	case x.Fault != "":
		return errors.New(x.Fault)
	case x.Server != server:
		return hint(fmt.Errorf("%s is for %s", x.ID, x.Server), "add --url %s, and the key it was held with", x.Server)
	case x.Account != account:
		return hint(fmt.Errorf("%s was held with another key", x.ID), "give that key; hodl queue list --json shows what is in it, hodl queue drop drops it")
	}
	return nil
}

func (e *env) showOutcomes(results []outcome) error {
	if e.json {
		return e.printJSON(map[string]any{"results": results})
	}
	for _, o := range results {
		line := "sent " + o.ID
		if !o.Sent {
			continue // the failure is told at the end
		}
		if err := e.printLine(line); err != nil {
			return err
		}
	}
	return nil
}

func unknown(ids []string, list []queue.Entry) string {
	for _, id := range ids {
		if !slices.ContainsFunc(list, func(x queue.Entry) bool { return x.ID == id }) {
			return id
		}
	}
	return ""
}

func queueDropCommand(e *env) *cobra.Command {
	var all, yes bool
	c := &cobra.Command{
		Use: "drop [ID…]", Short: "Drop what waits, for good",
		Long: `Drops what was kept and not sent: the ones named, or --all of it. Nothing brings
it back, so without --yes it only tells what it would drop.`,
		Example: `  hodl queue drop q019d8f3a5c21k7zq2mfa --yes
  hodl queue drop --all`,
		ValidArgsFunction: e.completeQueue,
		RunE: func(_ *cobra.Command, ids []string) error {
			if all == (len(ids) > 0) {
				return hint(usagef("which ones?"), "name them, or give --all")
			}
			return e.queueDrop(ids, yes)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "drop all of it")
	c.Flags().BoolVar(&yes, "yes", false, "do it, instead of telling what would be done")
	return c
}

func (e *env) queueDrop(ids []string, yes bool) error {
	q, list, err := e.queued()
	if err != nil {
		return err
	}
	if missing := unknown(ids, list); missing != "" {
		return hint(errors.New("nothing is kept as "+missing), "hodl queue list tells what is")
	}
	dropped := []string{}
	for _, x := range list {
		if len(ids) > 0 && !slices.Contains(ids, x.ID) {
			continue
		}
		if yes {
			if err := drop(q, x.ID); err != nil {
				return err
			}
		}
		dropped = append(dropped, x.ID)
	}
	return e.showDropped(dropped, yes)
}

func drop(q *queue.Queue, id string) error {
	c, err := q.Claim(id)
	if c == nil {
		return fmt.Errorf("drop %s: %w", id, err)
	}
	return c.Drop()
}

func (e *env) showDropped(ids []string, done bool) error {
	if e.json {
		return e.printJSON(map[string]any{"dropped": ids, "dry_run": !done})
	}
	verb := "dropped "
	if !done {
		verb = "would drop "
	}
	for _, id := range ids {
		if err := e.printLine(verb + id); err != nil {
			return err
		}
	}
	if !done && len(ids) > 0 {
		e.note("nothing is dropped yet: add --yes")
	}
	return nil
}
