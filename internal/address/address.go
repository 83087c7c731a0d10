// Package address tells whether two addresses lead to the same page.
package address

import (
	"net/url"
	"path"
	"slices"
	"strings"
)

// Normal returns the form that addresses of the same page share. Of http and https
// addresses it drops the scheme, user, "www.", the default port, a closing slash,
// tracking parameters and the fragment, unless that is a route of its own (#/ or
// #!), and sorts the parameters. Any other address is left as it is, but for the
// case of its scheme and host.
func Normal(s string) string {
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil || u.Scheme == "" {
		return s
	}
	u.Host = strings.ToLower(u.Host) // Parse has lowered the scheme
	if u.Scheme != "http" && u.Scheme != "https" {
		return u.String()
	}
	out := host(u) + strings.TrimSuffix(cleaned(u), "/")
	if q := parameters(u); q != "" {
		out += "?" + q
	}
	return out + route(u)
}

func host(u *url.URL) string {
	name := strings.TrimPrefix(strings.TrimSuffix(u.Hostname(), "."), "www.")
	if strings.Contains(name, ":") { // IPv6
		name = "[" + name + "]"
	}
	if port := u.Port(); port != "" && port != "80" && port != "443" {
		return name + ":" + port
	}
	return name
}

// cleaned is the path in one spelling of its escapes, without . and .. segments.
func cleaned(u *url.URL) string {
	if u.Path == "" {
		return ""
	}
	if raw := strings.ToUpper(u.RawPath); strings.Contains(raw, "%2F") { // a slash within a segment, not to be undone
		return path.Clean("/" + u.RawPath)
	}
	return (&url.URL{Path: path.Clean("/" + u.Path)}).EscapedPath()
}

// tracking are the parameters that tell who sent a visitor, and nothing else.
var tracking = []string{
	"fbclid", "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "msclkid", "yclid", "twclid", "ttclid", "li_fat_id", "igshid", "igsh",
	"mc_cid", "mc_eid", "mkt_tok", "_ga", "_gl", "_hsenc", "_hsmi", "vero_id", "oly_anon_id", "oly_enc_id", "ref_src", "ref_url",
}

func parameters(u *url.URL) string {
	var kept []string
	for part := range strings.SplitSeq(u.RawQuery, "&") {
		name, _, _ := strings.Cut(strings.ToLower(part), "=")
		if part != "" && !strings.HasPrefix(name, "utm_") && !slices.Contains(tracking, name) {
			kept = append(kept, part)
		}
	}
	slices.Sort(kept)
	return strings.Join(kept, "&")
}

// route is the fragment where it tells pages apart. A text fragment never does.
func route(u *url.URL) string {
	f, _, _ := strings.Cut(u.EscapedFragment(), ":~:")
	if strings.HasPrefix(f, "/") || strings.HasPrefix(f, "!") {
		return "#" + strings.TrimSuffix(f, "/")
	}
	return ""
}
