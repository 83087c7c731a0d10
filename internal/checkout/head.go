package checkout

import (
	"bufio"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var commitID = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// head reads which branch and commit are checked out. A repository that keeps its
// references in a reftable tells neither.
func head(git, common string) (branch, commit string) {
	line := first(filepath.Join(git, "HEAD"))
	name, symbolic := strings.CutPrefix(line, "ref:")
	if !symbolic {
		return "", idOf(line)
	}
	name = strings.TrimSpace(name)
	if !referenceName(name) {
		return "", ""
	}
	branch = strings.TrimPrefix(name, "refs/heads/")
	for _, dir := range []string{git, common} {
		if id := idOf(first(filepath.Join(dir, filepath.FromSlash(name)))); id != "" {
			return branch, id
		}
	}
	return branch, packed(filepath.Join(common, "packed-refs"), name)
}

// referenceName holds a name to git-check-ref-format(1) as far as it could lead
// out of the folder of references or forge a line.
func referenceName(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || strings.HasPrefix(part, ".") {
			return false
		}
	}
	return strings.HasPrefix(name, "refs/") && !strings.Contains(name, "..") && !strings.ContainsAny(name, "\\ ~^:?*[\x7f") &&
		!strings.ContainsFunc(name, func(r rune) bool { return r < ' ' })
}

// packed looks a reference up among those that Git put in one file, which may be
// large.
func packed(name, reference string) string {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // it was only read
	for lines := bufio.NewScanner(f); lines.Scan(); {
		id, named, _ := strings.Cut(lines.Text(), " ")
		if named == reference {
			return idOf(id)
		}
	}
	return ""
}

func idOf(s string) string {
	if commitID.MatchString(s) {
		return s
	}
	return ""
}
