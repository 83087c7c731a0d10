package main

import (
	"github.com/spf13/cobra"

	"hodl"
	"hodl/client"
)

func hydrateCommand(e *env) *cobra.Command {
	var token, format, audience, key string
	c := &cobra.Command{
		Use: "hydrate SESSION", Short: "Receive a session as an agent does", Args: exactly("SESSION"),
		Long: `Presents a resume token and prints the resume context, byte for byte as it came;
only on a terminal are control characters made visible. It uses up one hydration
of the token.`,
		Example: `  hodl hydrate ses_8f3aZ91b --token "$TOKEN"
  hodl token mint … | hodl hydrate ses_8f3aZ91b --token - --format prompt-ready`,
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
			return e.hydrate(c, client.NewAgent(e.remote.url, token, options...), hodl.SessionID(args[0]), format)
		},
	}
	f := c.Flags()
	f.StringVar(&token, "token", "", "resume `TOKEN`; - reads it from standard input")
	f.StringVar(&format, "format", "json", "rendering: json, prompt-ready, markdown, anthropic, gemini, openai-agents or mcp")
	f.StringVar(&audience, "audience", "", "who you are; refused when the token is for another")
	f.StringVar(&key, "dpop-key", "", "`FILE` of the audience's private key, for a token that is bound to it")
	e.finds(c)
	return c
}

func (e *env) hydrate(c *cobra.Command, agent *client.Agent, id hodl.SessionID, format string) error {
	if e.json && format != "json" {
		return usagef("--json and --format %s exclude each other", format)
	}
	r, err := agent.Render(c.Context(), id, format)
	if err != nil {
		return e.failed(err)
	}
	_, terminal := width(e.out)
	switch {
	case terminal && format == "json":
		return writeBody(e.out, r.Body)
	case terminal:
		return e.printText(string(r.Body))
	}
	_, err = e.out.Write(r.Body)
	return err
}
