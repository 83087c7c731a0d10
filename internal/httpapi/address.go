package httpapi

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// addressOf is where a request comes from: the peer's address, or, when the peer is
// a proxy the operator trusts, the last address in X-Forwarded-For that is not one.
// Everything before that a stranger may have written.
func addressOf(r *http.Request, trusted []netip.Prefix) string {
	at, ok := parseHop(r.RemoteAddr)
	if !ok {
		return r.RemoteAddr
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		before, ok := parseHop(strings.TrimSpace(hop))
		if !ok || !covers(trusted, at) {
			break
		}
		at = before
	}
	return at.String()
}

func covers(list []netip.Prefix, ip netip.Addr) bool {
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// parseHop reads an address with or without a port.
func parseHop(s string) (netip.Addr, bool) {
	if with, err := netip.ParseAddrPort(s); err == nil {
		return with.Addr().Unmap().WithZone(""), true
	}
	ip, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"))
	return ip.Unmap().WithZone(""), err == nil
}
