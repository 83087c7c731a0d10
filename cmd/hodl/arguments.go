package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// group is a command that only holds others.
func group(name, short string, members ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: name, Short: short, Example: members[0].Example,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error { return lost(c, args) },
	}
	c.AddCommand(members...)
	return c
}

// helpOrLost is what the command without a name does.
func helpOrLost(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return c.Help()
	}
	return lost(c, args)
}

// lost is what a command says that only holds others.
func lost(c *cobra.Command, args []string) error {
	names := make([]string, 0, len(c.Commands()))
	for _, member := range c.Commands() {
		names = append(names, member.Name())
	}
	err := usagef("%s wants a command", c.CommandPath())
	if len(args) > 0 {
		err = usagef("%s has no command %q", c.CommandPath(), args[0])
	}
	return hint(err, "use one of: %s", strings.Join(names, ", "))
}

// exactly wants one argument for each name.
func exactly(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		return misused(c, args, len(names))
	}
}

// atMost wants no more arguments than n.
func atMost(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) <= n {
			return nil
		}
		return misused(c, args, n)
	}
}

func misused(c *cobra.Command, args []string, want int) error {
	err := usagef("%s takes %d arguments, not %d", c.CommandPath(), want, len(args))
	if want == 1 {
		err = usagef("%s takes one argument, not %d", c.CommandPath(), len(args))
	}
	return hint(err, "write: %s", c.UseLine())
}

// misgiven is what is wrong with a flag, in words of ours: the parser tells which of
// its functions failed.
func misgiven(c *cobra.Command, err error) error {
	return hint(usage(misread(err)), "%s --help names its flags and what each takes", c.CommandPath())
}

// kinds is what the flags of a type take.
var kinds = map[string]string{"int": "a whole number", "int64": "a whole number", "float64": "a number", "bool": "true or false", "duration": "a time such as 90s, 10m or 24h"}

func misread(err error) error {
	bad, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	kind, known := kinds[bad.GetFlag().Value.Type()]
	if !known {
		return err
	}
	return fmt.Errorf("--%s is %q; it must be %s", bad.GetFlag().Name, bad.GetValue(), kind)
}

// atLeastOne wants one argument or more, each a name.
func atLeastOne(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return nil
		}
		return hint(usagef("%s wants at least one %s", c.CommandPath(), name), "write: %s", c.UseLine())
	}
}
