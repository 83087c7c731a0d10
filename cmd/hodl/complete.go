package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"hodl"
	"hodl/client"
)

func completionCommand(e *env) *cobra.Command {
	shells := map[string]func(*cobra.Command) error{
		"bash":       func(root *cobra.Command) error { return root.GenBashCompletionV2(e.out, true) },
		"zsh":        func(root *cobra.Command) error { return root.GenZshCompletion(e.out) },
		"fish":       func(root *cobra.Command) error { return root.GenFishCompletion(e.out, true) },
		"powershell": func(root *cobra.Command) error { return root.GenPowerShellCompletionWithDesc(e.out) },
	}
	return &cobra.Command{
		Use: "completion bash|zsh|fish|powershell", Short: "Print what makes a shell complete hodl's commands", Args: exactly("SHELL"),
		Long: `Prints a script for a shell. With it, the shell completes commands, flags, and the
ids and labels that the server of HODL_URL and HODL_API_KEY knows. In bash that
needs the package bash-completion.`,
		Example: `  source <(hodl completion bash)                                   in ~/.bashrc
  hodl completion zsh >"${fpath[1]}/_hodl"
  hodl completion fish >~/.config/fish/completions/hodl.fish
  hodl completion powershell | Out-String | Invoke-Expression      in $PROFILE`,
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(c *cobra.Command, args []string) error {
			generate, known := shells[args[0]]
			if !known {
				return hint(usagef("no shell called %q", args[0]), "one of bash, zsh, fish, powershell")
			}
			if e.json {
				return usagef("a script is no JSON: leave out --json")
			}
			return generate(c.Root())
		},
	}
}

// A completer returns what a shell may put where the cursor stands.
type completer = func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective)

// completes asks the server for words, briefly: somebody holds the tab key. What
// fails completes nothing.
func (e *env) completes(most int, words func(context.Context, *client.Client) ([]string, error)) completer {
	return func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if most > 0 && len(args) >= most || e.fill(c) != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		api, err := e.client()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		list, err := words(ctx, api)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

var recent = client.Page{Limit: hodl.MaxPerPage}

func completeHodls(ctx context.Context, api *client.Client) ([]string, error) {
	list, err := api.Hodls(ctx, recent)
	var out []string
	for _, h := range list.Hodls {
		out = append(out, cobra.CompletionWithDesc(string(h.ID), describe(&h)))
	}
	return out, err
}

func completeTags(ctx context.Context, api *client.Client) ([]string, error) {
	list, err := api.Tags(ctx, "", recent)
	var out []string
	for _, t := range list.Tags {
		out = append(out, clean(t.Tag))
	}
	return out, err
}

func completeSessions(ctx context.Context, api *client.Client) ([]string, error) {
	list, err := api.Sessions(ctx, recent)
	var out []string
	for _, s := range list.Sessions {
		out = append(out, cobra.CompletionWithDesc(string(s.ID), clean(s.Title)))
	}
	return out, err
}

func completeTokens(ctx context.Context, api *client.Client) ([]string, error) {
	list, err := api.Tokens(ctx, client.TokenFilter{Page: recent})
	var out []string
	for _, t := range list.Tokens {
		out = append(out, cobra.CompletionWithDesc(string(t.ID), clean(t.Audience)))
	}
	return out, err
}

func (e *env) completeQueue(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var out []string
	_, list, _ := e.queued() // what cannot be read completes nothing
	for _, x := range list {
		out = append(out, x.ID)
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// completeFlag completes a flag as an argument is.
func completeFlag(c *cobra.Command, flag string, f completer) {
	if err := c.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // it names a flag of c
	}
}
