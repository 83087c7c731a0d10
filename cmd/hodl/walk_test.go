package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"hodl"
	"hodl/hodltest"
)

// TestJSON runs every command with --json and nothing else: what it prints is one JSON
// value on standard output, or a refusal on standard error, and never both.
func TestJSON(t *testing.T) {
	server := hodltest.Start(t)
	if _, err := server.Client().CaptureHodl(t.Context(), hodl.HodlDraft{Note: "a note"}); err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	walk(commands(&env{}), func(c *cobra.Command) {
		if c.RunE == nil || c.HasSubCommands() || c.Name() == "serve" { // serve serves until it is told to stop
			return
		}
		args := append(strings.Fields(c.CommandPath())[1:], "--json")
		out, failed := capture(t, server, args)
		printed := out
		if printed == "" {
			printed = failed
		}
		var v any
		if err := json.Unmarshal([]byte(printed), &v); err != nil {
			t.Errorf("hodl %v printed %q and %q: %v", args, out, failed, err)
		}
		if out != "" && failed != "" {
			t.Errorf("hodl %v printed %q as well as %q", args, failed, out)
		}
		if _, refused := v.(map[string]any)["error"]; out == "" && !refused {
			t.Errorf("hodl %v failed without an error body: %q", args, failed)
		}
	})
}

// capture runs a command against a server and returns what it printed.
func capture(t *testing.T, server *hodltest.Server, args []string) (out, failed string) {
	t.Helper()
	dir := t.TempDir()
	variables := map[string]string{"HODL_URL": server.URL, "HODL_API_KEY": server.LiveKey, "XDG_STATE_HOME": dir}
	e := &env{
		in: strings.NewReader(""), now: time.Now,
		lookup: func(name string) (string, bool) { v, ok := variables[name]; return v, ok },
	}
	for name, f := range map[string]**os.File{"out": &e.out, "err": &e.err} {
		made, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer made.Close()
		*f = made
	}
	root := commands(e)
	root.SetOut(io.Discard)
	root.SetArgs(args)
	err := root.ExecuteContext(t.Context())
	e.report(err)
	return text(t, filepath.Join(dir, "out")), text(t, filepath.Join(dir, "err"))
}

func text(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
