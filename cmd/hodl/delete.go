package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"hodl"
	"hodl/client"
)

func deleteCommand(e *env) *cobra.Command {
	var undo bool
	c := &cobra.Command{
		Use: "delete ID…", Short: "Delete hodls, or take that back", Args: atLeastOne("ID"),
		Long: `Deletes hodls. For 30 days --undo takes it back, and hodl search is:deleted finds
them; then they are gone.`,
		Example: `  hodl delete hdl_01KAQ3M7T4Z0X8W2V6R5N9P1JC
  hodl delete hdl_01KAQ3M7T4Z0X8W2V6R5N9P1JC --undo
  hodl search is:deleted`,
		ValidArgsFunction: e.completes(0, completeHodls),
		RunE: func(c *cobra.Command, ids []string) error {
			if undo {
				return e.each(c.Context(), "restored", ids, func(ctx context.Context, api *client.Client, id hodl.HodlID) error {
					_, err := api.RestoreHodl(ctx, id)
					return err
				})
			}
			return e.each(c.Context(), "deleted", ids, func(ctx context.Context, api *client.Client, id hodl.HodlID) error {
				return api.DeleteHodl(ctx, id)
			})
		},
	}
	c.Flags().BoolVar(&undo, "undo", false, "restore what was deleted")
	return e.reaches(c)
}

// each does something to hodls in turn, until one fails, and tells to which it was
// done.
func (e *env) each(ctx context.Context, what string, ids []string, do func(context.Context, *client.Client, hodl.HodlID) error) error {
	api, err := e.client()
	if err != nil {
		return err
	}
	done := []string{}
	for _, id := range ids {
		if err = do(ctx, api, hodl.HodlID(id)); err != nil {
			break
		}
		done = append(done, id)
	}
	if what == "deleted" && len(done) > 0 {
		e.note("to take it back: hodl delete --undo %s", joined(done, " "))
	}
	return errors.Join(e.showDone(what, done), e.failed(err))
}

func (e *env) showDone(what string, ids []string) error {
	if e.json && len(ids) > 0 {
		return e.printJSON(map[string]any{what: ids})
	}
	for _, id := range ids {
		if err := e.printLine(what + " " + id); err != nil {
			return err
		}
	}
	return nil
}
