package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "rewrite docs/cli.md")

// TestGoldenManual holds docs/cli.md to what the commands say of themselves.
func TestGoldenManual(t *testing.T) {
	name := filepath.Join("..", "..", "docs", "cli.md")
	got := manual(commands(&env{}))
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("docs/cli.md is not what the commands say; go test ./cmd/hodl -run Golden -update rewrites it (-file +commands)\n%s", diff)
	}
}

func manual(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# The command line\n\nMade from the commands' own help by `make golden`. Every flag is also a variable, named in brackets; `--json` prints one JSON value everywhere. [Getting started](start.md) shows the commands at work.\n\n")
	walk(root, func(c *cobra.Command) {
		if c.IsAvailableCommand() && !c.HasSubCommands() {
			fmt.Fprintf(&b, "- [%s](#%s): %s\n", c.CommandPath(), strings.ReplaceAll(c.CommandPath(), " ", "-"), c.Short)
		}
	})
	walk(root, func(c *cobra.Command) {
		switch {
		case c.HasSubCommands() || c.Name() == "errors": // that page is docs/errors.md itself
		case c.RunE == nil:
			fmt.Fprintf(&b, "\n## hodl help %s\n\n```\n%s\n```\n", c.Name(), c.Long)
		default:
			describeCommand(&b, c)
		}
	})
	b.WriteString("\n## hodl help errors\n\nWhat each code of a refusal means: [errors.md](errors.md).\n")
	return b.String()
}

func describeCommand(b *strings.Builder, c *cobra.Command) {
	about := c.Long
	if about == "" {
		about = c.Short + "."
	}
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n```\n%s\n\n%s\n```\n", c.CommandPath(), about, c.UseLine(), c.Example)
	flags := ""
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" {
			flags += flagLine(f)
		}
	})
	if flags != "" {
		b.WriteString("\n" + flags)
	}
}

func flagLine(f *pflag.Flag) string {
	kind, usage := pflag.UnquoteUsage(f)
	name := strings.TrimSpace("--" + f.Name + " " + kind)
	standard := ""
	if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" && f.DefValue != "0" && f.DefValue != "0s" {
		standard = "; `" + f.DefValue + "` without it"
	}
	usage, variable, _ := strings.Cut(usage, " [$")
	return fmt.Sprintf("- `%s`: %s%s [`$%s`]\n", name, usage, standard, strings.TrimSuffix(variable, "]"))
}
