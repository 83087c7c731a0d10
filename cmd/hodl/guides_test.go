package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hodl/hodltest"
)

// TestGuides does what the guides tell, in their order, against a real server: what
// is pasted from them works.
func TestGuides(t *testing.T) {
	for _, name := range []string{"start.md", "api.md"} {
		t.Run(name, func(t *testing.T) {
			server := hodltest.Start(t)
			guide, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
			if err != nil {
				t.Fatal(err)
			}
			if set, used, _ := strings.Cut(string(guide), "export HODL_URL="); used == "" || strings.Contains(set, "$HODL_URL") {
				t.Error("the guide uses HODL_URL before it says what that is")
			}
			shell := exec.Command("bash", "-euo", "pipefail", "-c", requestsOf(string(guide)))
			shell.Dir = t.TempDir()
			if err := os.WriteFile(filepath.Join(shell.Dir, "README.md"), []byte("# shop\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			shell.Env = append(os.Environ(), "HODL_URL="+server.URL, "HODL_API_KEY="+server.SandboxKey, "HODL_DATA="+server.Data, "XDG_STATE_HOME="+shell.Dir)
			if out, err := shell.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// requestsOf is what a guide's blocks of shell say, one after the other.
func requestsOf(guide string) string {
	var out strings.Builder
	for i, block := range strings.Split(guide, "\n```") {
		if code, found := strings.CutPrefix(block, "sh\n"); found && i%2 == 1 {
			out.WriteString(code + "\n")
		}
	}
	return out.String()
}
