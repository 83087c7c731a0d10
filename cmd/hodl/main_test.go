package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hodl/hodltest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"hodl": main})
}

// TestScripts runs the real command. Each script has a server of its own, which
// HODL_URL and HODL_API_KEY name; script.go adds commands to testscript's.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(s *testscript.Env) error {
			server := hodltest.Start(t)
			s.Defer(server.Stop)
			s.Setenv("HODL_URL", server.URL)
			s.Setenv("HODL_API_KEY", server.LiveKey)
			s.Setenv("SANDBOX_KEY", server.SandboxKey)
			s.Setenv("SERVED", server.Data)
			s.Setenv("XDG_STATE_HOME", filepath.Join(s.WorkDir, ".state"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   exits,
			"json":    matchJSON,
			"let":     let,
			"serve":   untilStopped("serve", "HODL_URL"),
			"stop":    stop,
			"witness": untilStopped("witness", "WITNESS_URL"),
		},
		RequireExplicitExec: true,
	})
}

func TestHelp(t *testing.T) {
	walk(commands(&env{}), func(c *cobra.Command) {
		if c.RunE == nil {
			if c.Long == "" {
				t.Errorf("%s: a topic says nothing", c.CommandPath())
			}
			return
		}
		if c.Example == "" {
			t.Errorf("%s: --help shows no example", c.CommandPath())
		}
		if c.Short == "" || strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: short help %q", c.CommandPath(), c.Short)
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" && !strings.Contains(f.Usage, "[$HODL_") {
				t.Errorf("%s: --%s does not name its variable", c.CommandPath(), f.Name)
			}
		})
	})
}

func walk(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, member := range c.Commands() {
		walk(member, visit)
	}
}
