package checkout

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// repository returns the address of the remote that a checkout belongs to: the one
// its branch follows, else origin, else the only one.
func repository(common, branch string) string {
	c := parseConfig(content(filepath.Join(common, "config")))
	names := []string{c.value(section{"branch", branch}, "remote"), "origin"}
	if len(c.remotes) == 1 {
		names = append(names, c.remotes[0])
	}
	for _, name := range names {
		if address := withoutSecrets(c.value(section{"remote", name}, "url")); address != "" {
			return address
		}
	}
	return ""
}

// withoutSecrets returns a remote's address as others may see it: without a
// password, and over HTTP without a user either, for a token stands there as well.
// It is "" for a path on this machine and for what is not understood.
func withoutSecrets(address string) string {
	if strings.Contains(address, "://") {
		return withoutUser(address)
	}
	host, path, isSCP := strings.Cut(address, ":")
	if !isSCP || strings.ContainsAny(host, `/\`) || len(host) < 2 || strings.HasPrefix(path, ":") {
		return "" // a path, a drive of Windows, or a helper's own form
	}
	if !strings.Contains(host, "@") && strings.Contains(path, "@") {
		return "" // user:password@host: nothing Git understands, so nobody's address
	}
	return address
}

func withoutUser(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	switch u.Scheme {
	case "ssh", "git+ssh":
		u.User = url.User(u.User.Username())
		if u.User.Username() == "" {
			u.User = nil
		}
	case "http", "https", "git":
		u.User = nil
	default:
		return ""
	}
	u.RawQuery, u.ForceQuery, u.Fragment = "", false, ""
	return u.String()
}

type section struct{ name, sub string }

// A config is what of a git-config(1) file names a remote. Files that it includes
// are not read.
type config struct {
	values  map[section]map[string]string
	remotes []string
}

func (c config) value(s section, key string) string { return c.values[s][key] }

func parseConfig(text string) config {
	c := config{values: map[section]map[string]string{}}
	var at section
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", "")) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			at = parseSection(line)
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		c.add(at, strings.ToLower(strings.TrimSpace(key)), unquote(strings.TrimSpace(value)))
	}
	return c
}

func (c *config) add(at section, key, value string) {
	if c.values[at] == nil {
		c.values[at] = map[string]string{}
	}
	if _, known := c.values[at][key]; known && key == "url" {
		return // the first URL is the one to fetch from
	}
	c.values[at][key] = value
	if at.name == "remote" && key == "url" && !slices.Contains(c.remotes, at.sub) {
		c.remotes = append(c.remotes, at.sub)
	}
}

// parseSection reads [name "sub"]; the name's case does not matter, sub's does.
func parseSection(line string) section {
	line, _, _ = strings.Cut(strings.TrimPrefix(line, "["), "]")
	name, sub, _ := strings.Cut(line, " ")
	return section{strings.ToLower(name), unquote(strings.TrimSpace(sub))}
}

// unquote resolves quotes and escapes, and drops a comment.
func unquote(s string) string {
	var b strings.Builder
	quoted, escaped := false, false
	for _, r := range s {
		switch {
		case escaped:
			b.WriteRune(r)
			escaped = false
		case r == '\\':
			escaped = true
		case r == '"':
			quoted = !quoted
		case (r == '#' || r == ';') && !quoted:
			return strings.TrimSpace(b.String())
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Same reports whether two addresses name one repository, however they are written:
// over HTTPS or SSH, with a user, with .git at the end.
func Same(a, b string) bool { return plain(a) == plain(b) }

// plain is an address as host/path.
func plain(address string) string {
	host, path, isSCP := strings.Cut(address, ":")
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		host, path, isSCP = u.Hostname(), u.Path, true
	}
	if isSCP {
		_, name, found := strings.Cut(host, "@")
		if found {
			host = name
		}
		address = strings.ToLower(host) + "/" + strings.TrimPrefix(path, "/")
	}
	return strings.TrimSuffix(strings.TrimSuffix(address, "/"), ".git")
}
