package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"hodl"
	"hodl/client"
)

func policyPreviewCommand(e *env) *cobra.Command {
	var d hodl.PreviewDraft
	var session, file string
	var scopes []string
	var diff bool
	c := &cobra.Command{
		Use: "preview NAME", Short: "See what an agent would receive of a session, before there is a token", Args: exactly("NAME"),
		Long: `Prints what an agent would receive of a session of yours if the policy were the current
one: the exact text, and how many tokens it is. With --diff it prints each field that would change, before (-) and
after (+), and why. It is no hydration and uses nothing up; it is recorded as a preview.
--document tries a document that was not saved.`,
		Example: `  hodl policy preview default-strict --session ses_8f3aZ91b --diff
  hodl policy preview ours --document policy.json --session ses_8f3aZ91b --format markdown`,
		RunE: func(c *cobra.Command, args []string) error {
			if session == "" {
				return hint(usagef("--session is missing"), "list yours: hodl session list")
			}
			d.Session = hodl.SessionID(session)
			for _, s := range scopes {
				d.Scopes = append(d.Scopes, hodl.Scope(s))
			}
			if file != "" {
				document, err := documentIn(file)
				if err != nil {
					return err
				}
				d.Document = &document
			}
			api, err := e.client()
			if err != nil {
				return err
			}
			p, err := api.PreviewPolicy(c.Context(), args[0], d)
			if err != nil || !diff || e.json {
				return e.show(err, func() error {
					e.note("%d bytes, %d tokens, fields that change: %d", p.Bytes, p.Tokens, len(p.Changes))
					return e.printText(p.Body)
				})
			}
			return e.printChanges(c, api, p)
		},
	}
	f := c.Flags()
	f.StringVar(&session, "session", "", "`ID` of the session")
	f.StringVar(&d.Audience, "audience", "", "who the agent is")
	f.StringSliceVar(&scopes, "scope", nil, "scopes its token would carry; repeat, or separate by commas")
	f.StringVar(&d.Format, "format", "", "the rendering; json when absent")
	f.StringVar(&d.RedactionPolicy, "redaction-policy", "", "`NAME` of the policy its token would name, applied in addition")
	f.IntVar(&d.MaxTokens, "max-tokens", 0, "at most so many `TOKENS`; what is left out is listed")
	f.StringVar(&file, "document", "", "`FILE` with a document in place of the policy's")
	f.BoolVar(&diff, "diff", false, "print what changes, and why")
	return e.reaches(c)
}

// printChanges sets what an agent would read beside the content, which the owner's
// key alone may read.
func (e *env) printChanges(c *cobra.Command, api *client.Client, p *hodl.Preview) error {
	content, err := api.Content(c.Context(), p.Session)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(content)
	if err != nil {
		return err
	}
	var before any
	if err := json.Unmarshal(raw, &before); err != nil {
		return err
	}
	var out strings.Builder
	for _, x := range p.Changes {
		fmt.Fprintf(&out, "%s\n", x.Field)
		if was, ok := at(before, x.Field); ok {
			out.WriteString(prefixed("- ", was))
		}
		out.WriteString(prefixed("+ ", x.After))
		for _, r := range x.Redactions {
			fmt.Fprintf(&out, "  %s: %s (%s)\n", r.Placeholder, r.Reason, r.Rule)
		}
	}
	e.note("%d bytes, %d tokens, fields that change: %d", p.Bytes, p.Tokens, len(p.Changes))
	return e.printText(strings.TrimSuffix(out.String(), "\n"))
}

func prefixed(mark, text string) string {
	return mark + strings.ReplaceAll(text, "\n", "\n"+mark) + "\n"
}

// at returns the text at a path such as tabs[3].url.
func at(v any, path string) (string, bool) {
	for part := range strings.SplitSeq(strings.ReplaceAll(path, "[", ".["), ".") {
		if i, err := strconv.Atoi(strings.Trim(part, "[]")); err == nil && strings.HasPrefix(part, "[") {
			list, _ := v.([]any)
			if i >= len(list) {
				return "", false
			}
			v = list[i]
			continue
		}
		object, _ := v.(map[string]any)
		v = object[part]
	}
	text, ok := v.(string)
	return text, ok
}
