// Package checkout tells where a file lies in a Git checkout: its path in the
// repository, the branch and the commit. It reads .git itself, so that no git
// program is needed, and runs nothing that a checkout names: a folder that was
// cloned from who knows where is only data.
package checkout

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// A Checkout is a working tree. A field that could not be found out is empty.
type Checkout struct {
	Root       string // absolute path of the working tree
	Repository string // address of its remote, without credentials; the folder's name without one
	Branch     string // "" when HEAD is detached
	Commit     string // 40 or 64 hexadecimal digits; "" before the first one
}

// Around returns the checkout that holds dir, the innermost one: of a submodule
// its own, of a linked working tree that tree. It is nil when there is none.
func Around(dir string) (*Checkout, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, err
	}
	for {
		if git, ok := gitFolder(dir); ok {
			return read(dir, git), nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return nil, nil
		}
		dir = parent
	}
}

// Path returns file's path from the root, with slashes. It fails for a file that
// lies elsewhere.
func (c *Checkout) Path(file string) (string, error) {
	dir, err := filepath.Abs(filepath.Dir(file))
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", err
	}
	path, err := filepath.Rel(c.Root, filepath.Join(dir, filepath.Base(file)))
	if err != nil {
		return "", err
	}
	if !filepath.IsLocal(path) {
		return "", errors.New(file + " lies outside of " + c.Root)
	}
	return filepath.ToSlash(path), nil
}

// gitFolder returns where Git keeps what it knows about the working tree at root:
// .git, or the folder that a file .git names (gitrepository-layout(5)).
func gitFolder(root string) (string, bool) {
	git := filepath.Join(root, ".git")
	info, err := os.Stat(git)
	if err != nil {
		return "", false
	}
	if info.IsDir() {
		_, err := os.Lstat(filepath.Join(git, "HEAD"))
		return git, err == nil
	}
	target, found := strings.CutPrefix(first(git), "gitdir:")
	if !found {
		return "", false
	}
	return beside(root, strings.TrimSpace(target)), true
}

func read(root, git string) *Checkout {
	common := git
	if named := first(filepath.Join(git, "commondir")); named != "" {
		common = beside(git, named)
	}
	c := &Checkout{Root: root}
	c.Branch, c.Commit = head(git, common)
	if c.Repository = repository(common, c.Branch); c.Repository == "" {
		c.Repository = folderName(root, common)
	}
	return c
}

// folderName names a repository without a remote by its folder: of a linked working
// tree, by that of the first one.
func folderName(root, common string) string {
	if filepath.Base(common) == ".git" {
		root = filepath.Dir(common)
	}
	return filepath.Base(root)
}

// beside resolves a path that a file in dir gave.
func beside(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, filepath.FromSlash(path))
}

const mostRead = 1 << 20

// content returns what is in a regular file, up to a bound, "" when there is none:
// a pipe in its place is not waited for.
func content(name string) string {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > mostRead {
		return ""
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	return string(text)
}

// first returns the first line of a file.
func first(name string) string {
	line, _, _ := strings.Cut(content(name), "\n")
	return strings.TrimSpace(line)
}
