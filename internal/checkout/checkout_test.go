package checkout_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hodl/internal/checkout"
)

// git runs the real thing, which is what is to be understood.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("git", append([]string{"-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main"}, args...)...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// repository makes one with a commit on branch main.
func repository(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "shop")
	write(t, filepath.Join(dir, "cache", "evict.go"), "package cache\n")
	git(t, dir, "init", "-q")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "first")
	return dir
}

func around(t *testing.T, dir string) checkout.Checkout {
	t.Helper()
	c, err := checkout.Around(dir)
	if err != nil || c == nil {
		t.Fatalf("around %s: %+v, %v", dir, c, err)
	}
	return *c
}

// TestAround compares what is read with what git says, in checkouts of all kinds.
func TestAround(t *testing.T) {
	main := repository(t)
	remote := func(address string) { git(t, main, "config", "remote.origin.url", address) }
	for _, c := range []struct {
		name                string
		prepare             func() (dir string)
		repository, branch  string
		withoutAnyCommitYet bool
	}{
		{"no remote", func() string { return main }, "shop", "main", false},
		{"a linked working tree without one", func() string {
			tree := filepath.Join(t.TempDir(), "another")
			git(t, main, "worktree", "add", "-qb", "another", tree)
			return tree
		}, "shop", "another", false},
		{"a remote", func() string { remote("https://example.com/shop.git"); return main }, "https://example.com/shop.git", "main", false},
		{"a folder below", func() string { return filepath.Join(main, "cache") }, "https://example.com/shop.git", "main", false},
		{"a branch with a slash", func() string { git(t, main, "checkout", "-qb", "ada/fix"); return main }, "https://example.com/shop.git", "ada/fix", false},
		{"packed references", func() string { git(t, main, "pack-refs", "--all"); return main }, "https://example.com/shop.git", "ada/fix", false},
		{"a linked working tree", func() string {
			tree := filepath.Join(t.TempDir(), "tree")
			git(t, main, "worktree", "add", "-qb", "other", tree)
			return tree
		}, "https://example.com/shop.git", "other", false},
		{"a submodule", func() string {
			inner := repository(t)
			git(t, main, "submodule", "add", "-q", inner, "lib")
			git(t, filepath.Join(main, "lib"), "config", "remote.origin.url", "git@example.com:lib.git")
			return filepath.Join(main, "lib")
		}, "git@example.com:lib.git", "main", false},
		{"the remote the branch follows", func() string {
			git(t, main, "remote", "add", "fork", "https://example.com/fork.git")
			git(t, main, "config", "branch.ada/fix.remote", "fork")
			return main
		}, "https://example.com/fork.git", "ada/fix", false},
		{"a detached HEAD", func() string { git(t, main, "checkout", "-q", "--detach"); return main }, "https://example.com/shop.git", "", false},
		{"nothing committed", func() string {
			dir := filepath.Join(t.TempDir(), "new")
			write(t, filepath.Join(dir, "a"), "")
			git(t, dir, "init", "-q")
			return dir
		}, "new", "main", true},
	} {
		dir := c.prepare()
		commit := ""
		if !c.withoutAnyCommitYet {
			commit = git(t, dir, "rev-parse", "HEAD")
		}
		got := around(t, dir)
		if got.Repository != c.repository || got.Branch != c.branch || got.Commit != commit {
			t.Errorf("%s: %+v, want %s on %q at %q", c.name, got, c.repository, c.branch, commit)
		}
		if root, _ := filepath.EvalSymlinks(git(t, dir, "rev-parse", "--show-toplevel")); got.Root != root {
			t.Errorf("%s: root %s, want %s", c.name, got.Root, root)
		}
	}
}

func TestAddresses(t *testing.T) {
	dir := repository(t)
	secret := "ghp_" + "x1"
	for address, want := range map[string]string{
		"https://ada:" + secret + "@example.com/a.git": "https://example.com/a.git",
		"https://" + secret + "@example.com/a.git":     "https://example.com/a.git",
		"https://example.com/a.git?token=" + secret:    "https://example.com/a.git",
		"ssh://git:" + secret + "@example.com:2222/a":  "ssh://git@example.com:2222/a",
		"ssh://example.com/a":                          "ssh://example.com/a",
		"git@example.com:group/a.git":                  "git@example.com:group/a.git",
		"git@example.com:group/a@b.git":                "git@example.com:group/a@b.git",
		"example.com:a.git":                            "example.com:a.git",
		"ada:" + secret + "@example.com:a.git":         "shop",
		"ext::sh -c 'curl " + secret + "'":             "shop",
		"/home/ada/a.git":                              "shop",
		"../a.git":                                     "shop",
		"file:///home/ada/a.git":                       "shop",
		`C:\ada\a.git`:                                 "shop",
		"https://ada:" + secret + "@exa mple.com/%zz":  "shop",
		"": "shop",
		"https://example.com/quo\"ted;" + secret + ".gi": "https://example.com/quo%22ted;" + secret + ".gi",
	} {
		git(t, dir, "config", "remote.origin.url", address)
		if got := around(t, dir).Repository; got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

// TestHostile reads checkouts that want to lead elsewhere.
func TestHostile(t *testing.T) {
	id := strings.Repeat("0123456789", 4)
	for name, c := range map[string]struct {
		head, branch, commit string
	}{
		"climbing":             {"ref: refs/heads/../../../secret", "", ""},
		"not a reference":      {"ref: ../secret", "", ""},
		"another line":         {"ref: refs/heads/a\x1b[31m", "", ""},
		"no commit":            {"hello", "", ""},
		"a missing branch":     {"ref: refs/heads/none", "none", ""},
		"a branch that is not": {"ref: refs/heads/text", "text", ""},
		"a reftable":           {"ref: refs/heads/.invalid", "", ""},
		"an empty HEAD":        {"", "", ""},
		"a commit":             {id, "", id},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "secret"), id)
		write(t, filepath.Join(dir, ".git", "HEAD"), c.head+"\n")
		write(t, filepath.Join(dir, ".git", "refs", "heads", "text"), "root:x:0:0\n")
		if got := around(t, dir); got.Branch != c.branch || got.Commit != c.commit {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if c, err := checkout.Around(t.TempDir()); err != nil || c != nil {
		t.Errorf("no checkout: %+v, %v", c, err)
	}
}

func TestPath(t *testing.T) {
	dir := repository(t)
	c := around(t, dir)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Join(dir, "cache"), link); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{filepath.Join(dir, "cache", "evict.go"), filepath.Join(link, "evict.go")} {
		if got, err := c.Path(file); err != nil || got != "cache/evict.go" {
			t.Errorf("%s: %s, %v", file, got, err)
		}
	}
	if got, err := c.Path(filepath.Join(dir, "..", "x")); err == nil {
		t.Errorf("a file outside is %s", got)
	}
}

func TestSame(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"https://example.com/a/b.git", "git@example.com:a/b.git", true},
		{"ssh://git@Example.com:2222/a/b", "https://example.com/a/b/", true},
		{"shop", "shop", true},
		{"https://example.com/a/b", "https://example.com/a/c", false},
		{"https://example.com/a/b", "https://example.org/a/b", false},
		{"shop", "https://example.com/shop", false},
	} {
		if got := checkout.Same(c.a, c.b); got != c.want {
			t.Errorf("%s and %s: %t", c.a, c.b, got)
		}
	}
}
