package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// env is what a command works with. Nothing else of this package reads the
// process's own files, variables or clock.
type env struct {
	in       io.Reader
	out, err *os.File
	lookup   func(name string) (string, bool)
	now      func() time.Time

	json    bool
	started bool              // what fails before a command has started is a mistake in its use
	sources map[string]string // what stood in for a flag that was not given, by the flag's name
	remote  remote
}

// Every flag can be set by a variable as well. Those that hold a secret can also
// be read from a file that the variable's twin in _FILE names, and never show
// their value in --help.
const prefix = "HODL_"

// renamed is the one flag whose variable is not its own name: a variable is seen by
// every program, and says which key it is.
var renamed = map[string]string{"key": "API_KEY"}

var secrets = map[string]bool{"key": true, "token": true, "database": true, "database-admin": true}

func variable(flag string) string {
	if name, ok := renamed[flag]; ok {
		return prefix + name
	}
	return prefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// mirror names each flag's variable in the help of c and of all below it.
func mirror(c *cobra.Command) {
	name := func(f *pflag.Flag) {
		note := " [$" + variable(f.Name) + "]"
		if f.Name != "help" && !strings.HasSuffix(f.Usage, note) {
			f.Usage += note
		}
	}
	c.Flags().VisitAll(name)
	c.PersistentFlags().VisitAll(name)
	for _, member := range c.Commands() {
		mirror(member)
	}
}

// start runs before every command.
func (e *env) start(c *cobra.Command, _ []string) error {
	if err := e.fill(c); err != nil {
		return err
	}
	e.started = true
	if c.Flags().Lookup("key") != nil && c.Name() != "send" {
		e.flush(c.Context())
	}
	return nil
}

// fill fills the flags that were not given from their variables.
func (e *env) fill(c *cobra.Command) error {
	var faults []error
	e.sources = map[string]string{}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Changed || f.Name == "help" {
			return
		}
		value, source, err := e.variable(f.Name)
		if err == nil && value != "" {
			e.sources[f.Name] = source
			err = c.Flags().Set(f.Name, value)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("read %s: %w", source, misread(err)))
		}
	})
	if len(faults) > 0 {
		return faults[0]
	}
	return nil
}

// variable returns what stands in for a flag, "" when nothing does, and where it was
// found. An empty variable is none.
func (e *env) variable(flag string) (value, source string, err error) {
	name := variable(flag)
	value, _ = e.lookup(name)
	if value != "" || !secrets[flag] {
		return value, "$" + name, nil
	}
	file, _ := e.lookup(name + "_FILE")
	if file == "" {
		return "", "", nil
	}
	content, err := os.ReadFile(file)
	return strings.TrimSpace(string(content)), "$" + name + "_FILE", err
}

// secret returns a flag's value, read from standard input when it is "-", so that
// no other user finds it in the list of processes.
func (e *env) secret(value string) (string, error) {
	if value != "-" {
		return value, nil
	}
	const most = 64 << 10
	content, err := io.ReadAll(io.LimitReader(e.in, most))
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	value = strings.TrimSpace(string(content))
	if value == "" {
		return "", errors.New("standard input is empty")
	}
	return value, nil
}
