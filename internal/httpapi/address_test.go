package httpapi_test

import (
	"net/http"
	"net/netip"
	"testing"

	"hodl/internal/httpapi"
)

// Nobody chooses the address they seem to come from, but a trusted proxy for those
// behind it.
func TestAddress(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8:1::/48")}
	for _, c := range []struct {
		name, peer string
		forwarded  []string
		want       string
	}{
		{"no proxy", "192.0.2.1:5000", nil, "192.0.2.1"},
		{"a stranger's word", "192.0.2.1:5000", []string{"203.0.113.9"}, "192.0.2.1"},
		{"behind a proxy", "10.0.0.1:5000", []string{"192.0.2.1"}, "192.0.2.1"},
		{"a stranger's word before the proxy's", "10.0.0.1:5000", []string{"203.0.113.9, 192.0.2.1"}, "192.0.2.1"},
		{"a stranger who names a proxy", "10.0.0.1:5000", []string{"10.0.0.7, 192.0.2.1"}, "192.0.2.1"},
		{"behind two", "10.0.0.1:5000", []string{"203.0.113.9, 192.0.2.1, 10.0.0.2"}, "192.0.2.1"},
		{"in two headers", "10.0.0.1:5000", []string{"192.0.2.1", "10.0.0.2"}, "192.0.2.1"},
		{"proxies alone", "10.0.0.1:5000", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		{"no header", "10.0.0.1:5000", nil, "10.0.0.1"},
		{"rubbish", "10.0.0.1:5000", []string{"192.0.2.1, unknown"}, "10.0.0.1"},
		{"with a port", "10.0.0.1:5000", []string{"192.0.2.1:4711"}, "192.0.2.1"},
		{"IPv6", "[2001:db8:1::1]:5000", []string{"2001:db8:2::9"}, "2001:db8:2::9"},
		{"IPv6 with a port", "10.0.0.1:5000", []string{"[2001:db8:2::9]:443"}, "2001:db8:2::9"},
		{"IPv4 in IPv6", "[::ffff:10.0.0.1]:5000", []string{"::ffff:192.0.2.1"}, "192.0.2.1"},
		{"a zone", "[fe80::1%eth0]:5000", nil, "fe80::1"},
	} {
		r := &http.Request{RemoteAddr: c.peer, Header: http.Header{"X-Forwarded-For": c.forwarded}}
		if got := httpapi.AddressOf(r, trusted); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
