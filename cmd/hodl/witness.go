package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"hodl/internal/witness"
)

func witnessCommand(e *env) *cobra.Command {
	var listen, data, name string
	var logs []string
	c := &cobra.Command{
		Use: "witness", Short: "Cosign the checkpoints of other people's logs", Args: exactly(),
		Long: `Serves a witness (c2sp.org/tlog-witness): it cosigns a checkpoint of a log it knows
if the log has only grown since the last one. Run it where the log's operator has no
say. Its key and what it cosigned last are kept in --data, which no other witness may
use; the verifier key that it prints is what others check its cosignatures with.`,
		Example: `  hodl witness --name witness.example.com --data ./witness --log "$(cat log.vkey)"`,
		RunE: func(c *cobra.Command, _ []string) error {
			if len(logs) == 0 {
				return hint(usagef("no log to witness"), "give --log, the verifier key of one")
			}
			w, err := witness.Open(data, name, logs, e.now)
			switch {
			case errors.Is(err, witness.ErrTaken):
				return err
			case err != nil:
				return usage(err)
			}
			return errors.Join(e.witness(c.Context(), w, listen), w.Close())
		},
	}
	f := c.Flags()
	f.StringVar(&listen, "listen", "127.0.0.1:8485", "`ADDRESS` to serve on; port 0 takes a free one")
	f.StringVar(&data, "data", "./witness", "`FOLDER` of its key, and of what it cosigned")
	f.StringVar(&name, "name", "", "its `NAME` in cosignatures, such as witness.example.com")
	f.StringArrayVar(&logs, "log", nil, "verifier `KEY` of a log; may be given more than once")
	return c
}

func (e *env) witness(ctx context.Context, w *witness.Witness, listen string) error {
	ctx, stop := untilSignal(ctx)
	defer stop()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: w, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	ended := context.AfterFunc(ctx, func() { _ = server.Shutdown(context.WithoutCancel(ctx)) })
	defer ended()
	if err := e.announceWitness("http://"+listener.Addr().String(), w.VerifierKey()); err != nil {
		return errors.Join(err, listener.Close())
	}
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (e *env) announceWitness(url, vkey string) error {
	if e.json {
		return e.printJSON(map[string]any{"url": url, "verifier_key": vkey})
	}
	return e.printLine(fmt.Sprintf("hodl witnesses on %s as %s", url, vkey))
}
