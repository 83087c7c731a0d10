package main

import (
	"github.com/spf13/cobra"

	"hodl"
	"hodl/client"
)

func hydrateCommand(e *env) *cobra.Command {
	var token, audience, key, since string
	var ask client.Ask
	c := &cobra.Command{
		Use: "hydrate SESSION", Short: "Receive a session as an agent does", Args: exactly("SESSION"),
		Long: `Presents a resume token and prints the resume context, byte for byte as it came;
only on a terminal are control characters made visible. It uses up one hydration
of the token, but for --include, and for --since when nothing changed.`,
		Example: `  hodl hydrate ses_8f3aZ91b --token "$TOKEN"
  hodl token mint … | hodl hydrate ses_8f3aZ91b --token - --format prompt-ready
  hodl hydrate ses_8f3aZ91b --max-tokens 4000
  hodl hydrate ses_8f3aZ91b --since acr_01JD8Z6T3YQ4XW5V7B9C2K1MHN`,
		RunE: func(c *cobra.Command, args []string) error {
			token, err := e.secret(token)
			if err != nil {
				return err
			}
			if token == "" {
				return hint(usagef("no resume token"), "set HODL_TOKEN, or HODL_TOKEN_FILE, or give --token; - reads it from standard input")
			}
			if err := checkURL(e.remote.url); err != nil {
				return err
			}
			options := e.options()
			if audience != "" {
				options = append(options, client.As(audience))
			}
			if key != "" {
				proving, err := readProofKey(key)
				if err != nil {
					return err
				}
				options = append(options, client.Proving(proving))
			}
			ask.Since = hodl.RecordID(since)
			return e.hydrate(c, client.NewAgent(e.remote.url, token, options...), hodl.SessionID(args[0]), ask)
		},
	}
	f := c.Flags()
	f.StringVar(&token, "token", "", "resume `TOKEN`; - reads it from standard input")
	f.StringVar(&ask.Format, "format", "json", "rendering: json, prompt-ready, markdown, anthropic, gemini, openai-agents or mcp")
	f.IntVar(&ask.MaxTokens, "max-tokens", 0, "the most tokens of what is printed, 1200 at least; what is left out stands in omitted, with handles")
	f.StringSliceVar(&ask.Include, "include", nil, "`HANDLE` from omitted: what it names; as often as there are")
	f.StringVar(&since, "since", "", "`ID` of an earlier hydration with this token: only what changed after it")
	f.StringVar(&audience, "audience", "", "who you are; refused when the token is for another")
	f.StringVar(&key, "dpop-key", "", "`FILE` of the audience's private key, for a token that is bound to it")
	e.finds(c)
	return c
}

func (e *env) hydrate(c *cobra.Command, agent *client.Agent, id hodl.SessionID, ask client.Ask) error {
	if e.json && ask.Format != "json" {
		return usagef("--json and --format %s exclude each other", ask.Format)
	}
	r, err := agent.Render(c.Context(), id, ask)
	if err != nil {
		return e.failed(err)
	}
	_, terminal := width(e.out)
	switch {
	case terminal && ask.Format == "json":
		return writeBody(e.out, r.Body)
	case terminal:
		return e.printText(string(r.Body))
	}
	_, err = e.out.Write(r.Body)
	return err
}
