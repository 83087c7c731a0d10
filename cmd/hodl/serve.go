package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"hodl"
	"hodl/internal/serve"
)

func serveCommand(e *env) *cobra.Command {
	var config serve.Config
	var logs string
	c := &cobra.Command{
		Use: "serve", Short: "Serve the API", Args: exactly(),
		Long: `Serves the API until it is told to stop. The first start on a new database makes
a live and a sandbox key and prints them, this once, with three requests to try.

SIGTERM and SIGINT let the requests in flight end; a second one ends at once.
Request lines go to standard error: no content, no secrets.`,
		Example: `  hodl serve                                      on SQLite in ./data
  hodl serve --listen 127.0.0.1:0 --json          on a free port, for a program to read
  hodl serve --public-url https://hodl.example.com --data /var/lib/hodl
  HODL_DATABASE_FILE=/run/secrets/database hodl serve --master-key-file /run/secrets/master`,
		RunE: func(c *cobra.Command, _ []string) error { return e.serve(c.Context(), config, logs) },
	}
	e.serves(c, &config, &logs)
	return c
}

// serves gives c the flags of the server.
func (e *env) serves(c *cobra.Command, config *serve.Config, logs *string) {
	e.stores(c, config)
	f := c.Flags()
	f.StringVar(&config.Listen, "listen", "127.0.0.1:8484", "`ADDRESS` to serve on; port 0 takes a free one")
	f.StringVar(&config.PublicURL, "public-url", "", "`URL` clients reach the server by, fixed at first start")
	f.BoolVar(&config.Demo, "demo", false, "seed a public sandbox key and session")
	f.StringSliceVar(&config.TrustedProxies, "trusted-proxy", nil, "`CIDR` of proxies whose X-Forwarded-For is believed; may be given more than once")
	f.StringVar(logs, "log", "text", "form of the request lines: text or json")
	f.DurationVar(&config.KeyRotation, "key-rotation", 0, "how long a key signs tokens before the next does (default 720h)")
}

// stores gives c the flags of a command that opens the database itself.
func (e *env) stores(c *cobra.Command, config *serve.Config) {
	f := c.Flags()
	f.StringVar(&config.Data, "data", "./data", "`FOLDER` of the SQLite database and its master key")
	f.StringVar(&config.Database, "database", "", "PostgreSQL `URL` of the role the server works as")
	f.StringVar(&config.DatabaseAdmin, "database-admin", "", "PostgreSQL `URL` of the role that owns the tables (default --database)")
	f.StringVar(&config.MasterKeyFile, "master-key-file", "", "`FILE` that holds the master key; needed with --database")
}

func (e *env) serve(ctx context.Context, config serve.Config, logs string) error {
	ctx, stop := untilSignal(ctx)
	defer stop()
	log, err := e.logger(logs)
	if err != nil {
		return err
	}
	config.Log, config.Now, config.Release = log, e.now, release()
	server, err := serve.Open(ctx, config)
	if err != nil {
		return err
	}
	if err := e.announce(server, config); err != nil {
		_ = server.Close() // what could not be printed is what went wrong
		return err
	}
	return server.Run(ctx)
}

func (e *env) logger(form string) (*slog.Logger, error) {
	switch form {
	case "text":
		return slog.New(slog.NewTextHandler(e.err, nil)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(e.err, nil)), nil
	}
	return nil, usagef("--log is text or json, not %q", form)
}

// announce tells where the server is, and the keys of a first start.
func (e *env) announce(server *serve.Server, config serve.Config) error {
	if e.json {
		keys := make([]madeKey, 0, len(server.FirstKeys))
		for _, k := range server.FirstKeys {
			keys = append(keys, made(k))
		}
		return e.printJSON(map[string]any{"url": server.URL, "public_url": server.PublicURL, "keys": keys})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "hodl serves on %s (%s)\n", server.URL, server.Database())
	if server.PublicURL != server.URL {
		fmt.Fprintf(&b, "tokens and links say %s\n", server.PublicURL)
	}
	for _, k := range server.FirstKeys {
		fmt.Fprintf(&b, "\n%-12s %s", string(k.Stored.Mode)+" key", k.Key)
	}
	if len(server.FirstKeys) > 0 {
		b.WriteString("\n\nThe keys are shown this once; " + anotherKey(config) + " makes another.\nTo try it, paste:\n\n")
		b.WriteString(requests(server.URL, sandboxKey(server.FirstKeys)))
	}
	_, err := e.out.WriteString(b.String())
	return err
}

// anotherKey is the command that makes a key, for the same database. The database's
// address may hold a password, so its variable stands in for it.
func anotherKey(config serve.Config) string {
	if config.Database != "" {
		return `hodl key create --database "$` + variable("database") + `" --master-key-file ` + quoted(config.MasterKeyFile)
	}
	command := "hodl key create --data " + quoted(config.Data)
	if config.MasterKeyFile != "" {
		command += " --master-key-file " + quoted(config.MasterKeyFile)
	}
	return command
}

// quoted is s as one word of a shell.
func quoted(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+=-"
	if s != "" && strings.Trim(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func sandboxKey(keys []*serve.Credential) string {
	for _, k := range keys {
		if k.Stored.Mode == hodl.Sandbox {
			return k.Key
		}
	}
	return ""
}

// requests is a session captured, a token minted and the session hydrated, for any
// shell with curl and sed. It is sandbox data: it counts against the sandbox's own
// quota alone.
func requests(url, key string) string {
	const (
		capture = `{"title":"The cache bug","tabs":[{"url":"https://example.com/issues/7","title":"Stale reads after a deploy"}],` +
			`"reasoning_thread":[{"id":"n1","kind":"observation","text":"Only the second node is stale."}]}`
		mint = `{"session_id":"ses_first","audience":"claude.anthropic.com","scopes":["read:context","read:reasoning"]}`
	)
	request := func(method, path, credential string) string {
		return `curl -sS -w '\n' -X ` + method + ` ` + quoted(url+path) + ` -H "Authorization: Bearer ` + credential + `"`
	}
	body := func(s string) string { return ` -H 'Content-Type: application/json' -d '` + s + `'` }
	return request("PUT", "/v1/sessions/ses_first", key) + body(capture) + "\n" +
		`TOKEN=$(` + request("POST", "/v1/resume_tokens", key) + body(mint) + ` | sed -n 's/.*"token":"\([^"]*\)".*/\1/p')` + "\n" +
		request("POST", "/v1/sessions/ses_first/hydrate", "$TOKEN") + "\n"
}

// untilSignal is done at the first SIGINT or SIGTERM. By then the second is not ours
// any more: it ends the program.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	arrived := make(chan os.Signal, 1)
	signal.Notify(arrived, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		select {
		case <-arrived:
		case <-ctx.Done():
		}
		signal.Stop(arrived)
		cancel()
	}()
	return ctx, cancel
}
