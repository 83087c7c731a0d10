package main

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"hodl"
	"hodl/client"
	"hodl/internal/redact"
)

func policyListCommand(e *env) *cobra.Command {
	var page client.Page
	c := &cobra.Command{
		Use: "list", Short: "List redaction policies, and which is the current one", Args: exactly(),
		Example: `  hodl policy list
  hodl policy list --json`,
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := e.client()
			if err != nil {
				return err
			}
			list, err := api.Policies(c.Context(), page)
			return e.show(err, func() error {
				defer e.more(list.Next)
				var rows [][]string
				for _, p := range append(list.Policies, list.Presets...) {
					rows = append(rows, []string{p.Name, strconv.Itoa(p.Version), mark(p.Current, "current"), mark(p.Preset, "preset")})
				}
				return e.printTable([]string{"NAME", "VERSION", "", ""}, rows)
			})
		},
	}
	return pages(e.reaches(c), &page)
}

func mark(is bool, word string) string {
	if is {
		return word
	}
	return ""
}

func policyShowCommand(e *env) *cobra.Command {
	var version int
	var history bool
	c := &cobra.Command{
		Use: "show NAME", Short: "Show the document of a redaction policy", Args: exactly("NAME"),
		Example: `  hodl policy show default-strict
  hodl policy show ours --version 2
  hodl policy show ours --history`,
		RunE: func(c *cobra.Command, args []string) error {
			api, err := e.client()
			if err != nil {
				return err
			}
			if history {
				list, err := api.PolicyVersions(c.Context(), args[0], client.Page{Limit: hodl.MaxPerPage})
				return e.show(err, func() error {
					var rows [][]string
					for _, p := range list.Versions {
						rows = append(rows, []string{strconv.Itoa(p.Version), relative(p.CreatedAt, e.now()), string(p.Author)})
					}
					return e.printTable([]string{"VERSION", "MADE", "BY"}, rows)
				})
			}
			p, err := api.Policy(c.Context(), args[0], version)
			return e.show(err, func() error { return e.printText(strings.TrimSuffix(asText(p.Document), "\n")) })
		},
	}
	c.Flags().IntVar(&version, "version", 0, "a version; the last one when absent")
	c.Flags().BoolVar(&history, "history", false, "list its versions instead")
	return e.reaches(c)
}

// asText is a document as a file holds it.
func asText(d hodl.PolicyDocument) string {
	text, _ := json.MarshalIndent(d, "", "  ") // strings, numbers and times always encode
	return string(text) + "\n"
}

func policySetCommand(e *env) *cobra.Command {
	var ifMatch int
	var use bool
	c := &cobra.Command{
		Use: "set NAME FILE", Short: "Make a redaction policy, or its next version, as an admin", Args: exactly("NAME", "FILE"),
		Long: `Makes the first version of a policy from a document, or the next one. The document is
YAML or JSON; "hodl policy show" prints one, and docs/redaction.md tells what it may say. A fault
is told by its path. It changes nothing for agents until the policy is used: by --use,
by "hodl policy use", or by a token that names it.`,
		Example: `  hodl policy set ours policy.json
  hodl policy set ours policy.json --if-version 3 --use`,
		RunE: func(c *cobra.Command, args []string) error {
			d, err := documentIn(args[1])
			if err != nil {
				return err
			}
			api, err := e.client()
			if err != nil {
				return err
			}
			var options []client.CallOption
			if ifMatch != 0 {
				options = append(options, client.IfMatch(strconv.Itoa(ifMatch)))
			}
			p, err := api.PutPolicy(c.Context(), args[0], d, options...)
			if err == nil && use {
				p, err = api.UsePolicy(c.Context(), args[0])
			}
			return e.show(err, func() error { return e.printPolicy(p) })
		},
	}
	c.Flags().IntVar(&ifMatch, "if-version", 0, "only if the policy stands at this `VERSION`")
	c.Flags().BoolVar(&use, "use", false, "make it the current one as well")
	return e.reaches(c)
}

func (e *env) printPolicy(p *hodl.Policy) error {
	line := p.Name + " version " + strconv.Itoa(p.Version)
	if p.Current {
		line += ", the current one"
	}
	return e.printLine(line)
}

func policyUseCommand(e *env) *cobra.Command {
	c := &cobra.Command{
		Use: "use NAME", Short: "Make a redaction policy the current one, as an admin", Args: exactly("NAME"),
		Long: `Makes a policy the workspace's current one. It applies to every hydration from then on,
on every server, together with what tokens name. "off" removes nothing.`,
		Example: `  hodl policy use balanced`,
		RunE: func(c *cobra.Command, args []string) error {
			api, err := e.client()
			if err != nil {
				return err
			}
			p, err := api.UsePolicy(c.Context(), args[0])
			return e.show(err, func() error { return e.printPolicy(p) })
		},
	}
	return e.reaches(c)
}

func policyRollbackCommand(e *env) *cobra.Command {
	c := &cobra.Command{
		Use: "rollback NAME VERSION", Short: "Make a version that says what an older one said, as an admin", Args: exactly("NAME", "VERSION"),
		Example: `  hodl policy rollback ours 2`,
		RunE: func(c *cobra.Command, args []string) error {
			version, err := strconv.Atoi(args[1])
			if err != nil {
				return usagef("VERSION is %q; it must be a number", args[1])
			}
			api, err := e.client()
			if err != nil {
				return err
			}
			p, err := api.RollbackPolicy(c.Context(), args[0], version)
			return e.show(err, func() error { return e.printPolicy(p) })
		},
	}
	return e.reaches(c)
}

func policyDeleteCommand(e *env) *cobra.Command {
	c := &cobra.Command{
		Use: "delete NAME", Short: "Erase a redaction policy and its history, as an admin", Args: exactly("NAME"),
		Long: `Erases a policy and its history. Tokens that name it are good for nothing from then on.
The current policy is not deleted: use another one first.`,
		Example: `  hodl policy delete ours`,
		RunE: func(c *cobra.Command, args []string) error {
			api, err := e.client()
			if err != nil {
				return err
			}
			err = api.DeletePolicy(c.Context(), args[0])
			return e.show(err, func() error { return e.printLine("deleted " + args[0]) })
		},
	}
	return e.reaches(c)
}

func policyDiffCommand(e *env) *cobra.Command {
	c := &cobra.Command{
		Use: "diff OLD NEW", Short: "Tell what differs between two redaction policies", Args: exactly("OLD", "NEW"),
		Long: `Compares two documents line by line. Each is a policy of the workspace (ours), a version
of one (ours@2), a preset, or a file. Exit code 1 when they differ.`,
		Example: `  hodl policy diff ours@1 ours
  hodl policy diff ours policy.json`,
		RunE: func(c *cobra.Command, args []string) error {
			var texts [2]string
			for i, name := range args {
				d, err := e.documentOf(c, name)
				if err != nil {
					return err
				}
				texts[i] = asText(d)
			}
			if texts[0] == texts[1] {
				return nil
			}
			if err := e.printText(strings.TrimSuffix(lineDiff(texts[0], texts[1]), "\n")); err != nil {
				return err
			}
			return &told{errors.New("the policies differ")}
		},
	}
	return e.reaches(c)
}

// documentOf reads a document: of a file, of a preset, or of the workspace.
func (e *env) documentOf(c *cobra.Command, name string) (hodl.PolicyDocument, error) {
	if d, ok := redact.Preset(name); ok {
		return d, nil
	}
	if strings.ContainsAny(name, "./\\") {
		return documentIn(name)
	}
	name, at, _ := strings.Cut(name, "@")
	version := 0
	if at != "" {
		var err error
		if version, err = strconv.Atoi(at); err != nil {
			return hodl.PolicyDocument{}, usagef("the version of %s is %q; it must be a number", name, at)
		}
	}
	api, err := e.client()
	if err != nil {
		return hodl.PolicyDocument{}, err
	}
	p, err := api.Policy(c.Context(), name, version)
	if err != nil {
		return hodl.PolicyDocument{}, answer(err)
	}
	return p.Document, nil
}

// lineDiff marks what is in only one of two texts: - the first, + the second.
func lineDiff(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	common := make([][]int, len(x)+1) // longest common subsequence from here on
	for i := range common {
		common[i] = make([]int, len(y)+1)
	}
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if x[i] == y[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out strings.Builder
	for i, j := 0, 0; i < len(x) || j < len(y); {
		switch {
		case i < len(x) && j < len(y) && x[i] == y[j]:
			out.WriteString("  " + x[i] + "\n")
			i, j = i+1, j+1
		case j == len(y) || i < len(x) && common[i+1][j] >= common[i][j+1]:
			out.WriteString("- " + x[i] + "\n")
			i++
		default:
			out.WriteString("+ " + y[j] + "\n")
			j++
		}
	}
	return strings.TrimSuffix(out.String(), "  \n")
}
