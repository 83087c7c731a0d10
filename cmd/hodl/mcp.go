package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"hodl/client"
	"hodl/internal/mcpserver"
)

// localAudience is who an agent is that speaks with this program.
const localAudience = "mcp:local"

func mcpCommand(e *env) *cobra.Command {
	c := &cobra.Command{
		Use: "mcp", Short: "Speak the Model Context Protocol on standard input and output", Args: exactly(),
		Long: `Lets an agent on this machine use a hodl server: it speaks the Model Context
Protocol on standard input and output and hands what the agent asks to the server,
under the API key. The server decides what the agent may see, redacts it and records
each session that is handed over.

Agents start it themselves; docs/mcp.md tells how. It ends when its input does.`,
		Example: `  claude mcp add hodl --env HODL_API_KEY="$HODL_API_KEY" -- hodl mcp
  HODL_URL=https://hodl.example.com HODL_API_KEY_FILE=~/.config/hodl/key hodl mcp`,
		RunE: func(c *cobra.Command, _ []string) error { return e.mcp(c.Context()) },
	}
	return e.reaches(c)
}

func (e *env) mcp(ctx context.Context) error {
	ctx, stop := untilSignal(ctx)
	defer stop()
	if e.json {
		return usagef("what it prints are messages of the protocol: leave --json out")
	}
	if e.remote.key == "-" {
		return usagef("standard input belongs to the protocol: set HODL_API_KEY or HODL_API_KEY_FILE")
	}
	key, err := e.key()
	if err != nil {
		return err
	}
	remote := client.New(e.remote.url, key, userAgent(), client.As(localAudience))
	err = mcpserver.NewRelay(remote, protocolError, release()).Run(ctx, e.in, e.out)
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// protocolError is what a refusal of the protocol says.
func protocolError(err error) (code int64, message string, data json.RawMessage, ok bool) {
	e, ok := errors.AsType[*client.MCPError](err)
	if !ok {
		return 0, "", nil, false
	}
	return e.Code, e.Message, e.Data, true
}
