package main

import (
	"context"
	"errors"
	"net/url"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"hodl"
)

// What is opened was captured from pages and written by others. It goes to the
// platform's opener as one argument and through no shell, and only what that opener
// hands to a browser or an editor goes at all: another scheme starts another program.

// editors that links are made for. fileEditors open a file of this machine by a scheme
// of their name; those of JetBrains find it by the name of the project.
var (
	fileEditors = []string{"vscode", "vscode-insiders", "vscodium", "cursor", "windsurf", "zed"}
	editors     = append(slices.Clone(fileEditors), "clion", "goland", "idea", "phpstorm", "pycharm", "rider", "rubymine", "webstorm")
)

// fileLink opens a file of this machine in an editor.
func fileLink(editor, file string, l *hodl.Location) string {
	path := filepath.ToSlash(file)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive of Windows
	}
	return editor + "://file" + (&url.URL{Path: path}).EscapedPath() + placeNumbers(l)
}

// safeLink returns a hodl's link, or an error when it is none to open.
func safeLink(link string) (string, error) {
	u, err := url.Parse(link)
	switch {
	case link == "":
		return "", hint(errors.New("the hodl has no place to open: it is a note"), "read it with hodl show")
	case err != nil || u.Host == "" || u.User != nil:
		return "", notOpened(link)
	case u.Scheme == "http" || u.Scheme == "https",
		slices.Contains(fileEditors, u.Scheme) && u.Host == "hodl.hodl" && u.Path == "/open",
		u.Scheme == "jetbrains" && u.Path == "/navigate/reference":
		return u.String(), nil
	}
	return "", notOpened(link)
}

func notOpened(link string) error {
	return hint(errors.New("this is not opened: "+link), "only pages (http, https) and places in files are; copy the address if you trust it")
}

// opener is the program that opens links on this platform, and its first arguments.
func opener() []string {
	switch runtime.GOOS {
	case "darwin":
		return []string{"open"}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	return []string{"xdg-open"}
}

// open opens a link that safeLink or fileLink made. Without a way to, as over SSH,
// the link that is printed has to do.
func (e *env) open(ctx context.Context, link string) bool {
	program := append(opener(), link)
	c := exec.CommandContext(ctx, program[0], program[1:]...)
	c.Stdout, c.Stderr = e.err, e.err
	if err := c.Run(); err != nil {
		e.note("nothing opened it (%s: %v)", program[0], err)
		return false
	}
	return true
}
