package capture

import (
	"cmp"
	"maps"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"hodl"
)

// Link returns what opens a hodl at its exact place: an editor link for a place in
// a file, else its address with the selected text or the second it stood at, ""
// when it has neither. It is the link for who has said nothing about an editor.
func Link(h *hodl.Hodl) string {
	link, _ := LinkFor(h, Opening{}) // the default editor asks for nothing
	return link
}

// An Opening says how a person wants a place in a file to be opened.
type Opening struct {
	Editor string // one of [Editors]; vscode when empty
	Root   string // the folder of the repository on that person's machine, if known
}

// Editors lists the editors a link can be made for.
func Editors() []string { return slices.Clone(editors()) }

// editors is asked for every hodl that is answered.
var editors = sync.OnceValue(func() []string {
	return append(append(slices.Clone(codeFamily), "zed"), slices.Sorted(maps.Keys(jetbrains))...)
})

var (
	// codeFamily are the editors of the family of VS Code, each with the scheme of
	// its name.
	codeFamily = []string{"vscode", "vscode-insiders", "vscodium", "cursor", "windsurf"}
	// jetbrains are the names that JetBrains' links have for its editors.
	jetbrains = map[string]string{
		"jetbrains": "idea", "idea": "idea", "goland": "goland", "pycharm": "pycharm", "webstorm": "web-storm", "phpstorm": "php-storm",
		"clion": "clion", "rider": "rd", "rubymine": "rubymine",
	}
)

// LinkFor is Link for a chosen editor. It refuses an editor it does not know, and
// one that cannot find the file without Root.
func LinkFor(h *hodl.Hodl, o Opening) (string, error) {
	editor := cmp.Or(o.Editor, codeFamily[0])
	product, isJetBrains := jetbrains[editor]
	switch l := h.Location; {
	case !slices.Contains(editors(), editor):
		return "", hodl.Invalid("editor", "is none a link can be made for; use one of "+strings.Join(editors(), ", "))
	case l == nil || l.File == "":
		return pageLink(h), nil
	case isJetBrains:
		return "jetbrains://" + product + "/navigate/reference?" + url.Values{"project": {project(l.Repository)}, "path": {l.File + position(l)}}.Encode(), nil
	case o.Root != "":
		return fileLink(editor, o.Root, l), nil
	case editor == "zed":
		return "", hodl.Invalid("root", "is missing: zed opens a file by its full path; send the folder of the repository")
	}
	return extensionLink(editor, h), nil
}

// fileLink opens a file by its full path, which needs no extension.
func fileLink(editor, root string, l *hodl.Location) string {
	full := path.Join("/", strings.ReplaceAll(root, `\`, "/"), l.File)
	return editor + "://file" + (&url.URL{Path: full}).EscapedPath() + position(l)
}

// extensionLink opens a place in an editor that runs the hodl extension. The
// extension finds the folder by the repository, because absolute paths differ from
// machine to machine.
func extensionLink(editor string, h *hodl.Hodl) string {
	l := h.Location
	q := url.Values{"id": {string(h.ID)}, "file": {l.File}}
	for name, value := range map[string]string{"repository": l.Repository, "branch": l.Branch, "commit": l.Commit} {
		if value != "" {
			q.Set(name, value)
		}
	}
	for name, n := range map[string]int{"line": l.Line, "column": l.Column} {
		if n > 0 {
			q.Set(name, strconv.Itoa(n))
		}
	}
	return editor + "://hodl.hodl/open?" + q.Encode()
}

// position is :line:column, as far as it is known.
func position(l *hodl.Location) string {
	if l.Line == 0 {
		return ""
	}
	s := ":" + strconv.Itoa(l.Line)
	if l.Column > 0 {
		s += ":" + strconv.Itoa(l.Column)
	}
	return s
}

// project is what a checkout of a repository is usually called.
func project(repository string) string {
	return strings.TrimSuffix(path.Base(strings.TrimRight(repository, "/")), ".git")
}

func withLink(h hodl.Hodl) *hodl.Hodl {
	h.DeepLink = Link(&h)
	return &h
}
