package dpop

import (
	"net"
	"net/url"
	"strings"
)

// normal brings an http address to the one form it is compared in (RFC 9449 §4.3,
// RFC 3986 §6.2.2 and §6.2.3): scheme and host in lower case, no default port, no
// query, no fragment, percent-encoding only where it is needed and in capitals. It
// reports false for what is not such an address.
func normal(address string) (string, bool) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return "", false
	}
	host := strings.ToLower(u.Host)
	if port := u.Port(); port == "" || port == defaultPort[u.Scheme] {
		host = strings.ToLower(u.Hostname())
		if strings.Contains(host, ":") {
			host = strings.TrimSuffix(net.JoinHostPort(host, ""), ":")
		}
	}
	path := unescape(u.EscapedPath())
	if path == "" {
		path = "/"
	}
	return u.Scheme + "://" + host + path, true
}

var defaultPort = map[string]string{"http": "80", "https": "443"}

// unescape decodes the escapes that are not needed and writes the others in
// capitals. Escapes are well-formed: url.Parse has seen them.
func unescape(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] != '%' {
			b.WriteByte(path[i])
			continue
		}
		if c := hexByte(path[i+1])<<4 | hexByte(path[i+2]); unreserved(c) {
			b.WriteByte(c)
		} else {
			b.WriteString(strings.ToUpper(path[i : i+3]))
		}
		i += 2
	}
	return b.String()
}

func hexByte(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return (c | 0x20) - 'a' + 10
}

// unreserved are the characters that mean the same escaped (RFC 3986 §2.3).
func unreserved(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}
