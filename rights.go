package hodl

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Scopes of keys that are no resource:read or resource:write.
const (
	Everything  = "*"       // every right there is, and those to come
	CaptureOnly = "capture" // make new hodls and sessions, and nothing else; stands alone
	Joining     = "join"    // of an invitation, which is traded for a first key; stands alone
)

// KeyScopes lists every scope a key can be made with. A write implies the read of
// the same resource.
var KeyScopes = []string{
	Everything, CaptureOnly,
	"hodls:read", "hodls:write", "sessions:read", "sessions:write", "tokens:read", "tokens:write",
	"records:read", "log:read", "usage:read", "policies:read", "policies:write", "audiences:read", "audiences:write",
	"webhooks:read", "webhooks:write", "keys:read", "keys:write", "members:read", "members:write", "workspaces:read", "workspaces:write",
}

// Rights is what bounds a key.
type Rights struct {
	Mode      Mode
	Scopes    []string
	ExpiresAt time.Time // zero for never
	Addresses []netip.Prefix
	Origins   []string
}

// May reports whether the rights carry scope, such as "sessions:read".
func (r *Rights) May(scope string) bool { return may(r.Scopes, scope) }

func may(scopes []string, scope string) bool {
	if slices.Contains(scopes, Everything) || slices.Contains(scopes, scope) {
		return true
	}
	resource, isRead := strings.CutSuffix(scope, ":read")
	return isRead && slices.Contains(scopes, resource+":write")
}

// Within returns nil when whoever has r can do nothing that outer does not allow,
// and a [Forbidden] that names every field in which r is wider otherwise. It is a
// partial order: however keys make keys, none is wider than the first.
//
// A page may be let in by a key that no page uses: its holder could as well pass on
// what the page asks. A key that lives in pages names no others.
func (r *Rights) Within(outer *Rights) error {
	var f faults
	if r.Mode != outer.Mode && outer.Mode != Live {
		f.add("mode", "is live, and your key is a sandbox key")
	}
	for i, s := range r.Scopes {
		if !outer.covers(s) {
			f.add(fmt.Sprintf("scopes[%d]", i), "is %.80q, which your key does not carry", s)
		}
	}
	if end := outer.ExpiresAt; !end.IsZero() && (r.ExpiresAt.IsZero() || r.ExpiresAt.After(end)) {
		f.add("expires_at", "is later than %s, when your key ends", end.Format(time.RFC3339))
	}
	narrower(&f, "addresses", r.Addresses, outer.Addresses, func(in, out netip.Prefix) bool {
		return in.Bits() >= out.Bits() && out.Contains(in.Addr())
	})
	narrower(&f, "origins", r.Origins, outer.Origins, func(in, out string) bool { return in == out })
	if len(f.list) == 0 {
		return nil
	}
	e := Errorf(Forbidden, "a key makes no key that is wider than itself: %s %s", f.list[0].Path, f.list[0].Message).
		WithHint("ask for what your own key has, or less; GET /v1/me shows it")
	e.Fields = f.list
	return e
}

func (r *Rights) covers(scope string) bool {
	if scope == CaptureOnly && r.May("hodls:write") && r.May("sessions:write") {
		return true
	}
	return scope != Joining && r.May(scope)
}

// narrower faults a list that is not within a list that binds: an empty one binds
// nothing.
func narrower[T any](f *faults, path string, in, out []T, within func(in, out T) bool) {
	if len(out) > 0 && len(in) == 0 {
		f.add(path, "is empty, and your key is bound to %v", out)
	}
	for i, x := range in {
		if len(out) > 0 && !slices.ContainsFunc(out, func(o T) bool { return within(x, o) }) {
			f.add(fmt.Sprintf("%s[%d]", path, i), "is %v, and your key is bound to %v", x, out)
		}
	}
}

// KeyDraft is what a client sends to make an API key. What is absent is as in the
// calling key.
type KeyDraft struct {
	Name      string     `json:"name" doc:"What it is for; at most 256 bytes"`
	Mode      Mode       `json:"mode,omitempty" enum:"live,sandbox" doc:"Live or sandbox data; a sandbox key makes no live one"`
	Scopes    []string   `json:"scopes,omitempty" doc:"What it may do: resource:read, resource:write, * for everything, or capture alone for a capture-only key"`
	ExpiresAt *time.Time `json:"expires_at,omitempty" doc:"When it ends (RFC 3339)"`
	Addresses []string   `json:"addresses,omitempty" doc:"Where it may be used from: addresses and CIDR ranges; at most 32"`
	Origins   []string   `json:"origins,omitempty" doc:"Web origins whose pages may use it, such as https://app.example.com; at most 32"`
}

// Rights returns the rights the draft asks for, under a key that has outer. It
// refuses with [ValidationFailed] what is no such right and with [Forbidden] what
// would be wider than outer.
func (d *KeyDraft) Rights(outer Rights, now time.Time) (Rights, error) {
	r := Rights{outer.Mode, outer.Scopes, outer.ExpiresAt, outer.Addresses, outer.Origins}
	if d.Mode != "" {
		r.Mode = d.Mode
	}
	var f faults
	f.required("name", d.Name, MaxName)
	f.oneOf("mode", string(r.Mode), string(Live), string(Sandbox))
	r.fill(&f, d.Scopes, d.ExpiresAt, d.Addresses, d.Origins, now)
	if err := f.err(); err != nil {
		return r, err
	}
	return r, r.Within(&outer)
}

// KeyChange is a partial update of a key: a nil field stays as it is.
type KeyChange struct {
	Name      *string    `json:"name,omitempty" doc:"New name"`
	Scopes    []string   `json:"scopes,omitempty" doc:"New scopes, replacing the old ones"`
	ExpiresAt *time.Time `json:"expires_at,omitempty" doc:"New end (RFC 3339)"`
	Addresses []string   `json:"addresses,omitempty" doc:"New addresses, replacing the old ones"`
	Origins   []string   `json:"origins,omitempty" doc:"New origins, replacing the old ones"`
}

// Apply changes k, on behalf of a key that has the rights outer. A change that
// only narrows k is anybody's who manages it; one that widens it in any way leaves
// it no wider than outer.
func (c *KeyChange) Apply(k *APIKey, outer Rights, now time.Time) error {
	var f faults
	if set(&k.Name, c.Name); c.Name != nil {
		f.required("name", k.Name, MaxName)
	}
	before := k.Rights()
	after := before
	after.fill(&f, c.Scopes, c.ExpiresAt, c.Addresses, c.Origins, now)
	if err := f.err(); err != nil {
		return err
	}
	k.Grant(after)
	if after.Within(&before) == nil {
		return nil
	}
	return after.Within(&outer)
}

// fill sets the rights that were given, and faults what is none.
func (r *Rights) fill(f *faults, scopes []string, expires *time.Time, addresses, origins []string, now time.Time) {
	if scopes != nil {
		r.Scopes = scopes
		checkKeyScopes(f, scopes)
	}
	if expires != nil {
		r.ExpiresAt = expires.UTC().Truncate(time.Microsecond)
		if !r.ExpiresAt.After(now) {
			f.add("expires_at", "is not in the future")
		}
	}
	if addresses != nil {
		r.Addresses = parseAddresses(f, addresses)
	}
	if origins != nil {
		r.Origins = origins
		checkOrigins(f, origins)
	}
}

func checkKeyScopes(f *faults, scopes []string) {
	if len(scopes) == 0 {
		f.add("scopes", "is empty; name at least one, or leave it out")
	}
	for i, s := range scopes {
		at := fmt.Sprintf("scopes[%d]", i)
		switch {
		case slices.Contains(scopes[:i], s):
			f.add(at, "repeats %.80q", s)
		case s == CaptureOnly && len(scopes) > 1:
			f.add(at, "stands alone: a capture-only key does nothing else")
		default:
			f.oneOf(at, s, KeyScopes...)
		}
	}
}

func parseAddresses(f *faults, list []string) []netip.Prefix {
	f.count("addresses", len(list), MaxPlaces)
	out := make([]netip.Prefix, 0, len(list))
	for i, s := range list {
		p, err := ParseAddresses(s)
		if err != nil {
			f.add(fmt.Sprintf("addresses[%d]", i), "is no address such as 192.0.2.7 and no range such as 2001:db8::/32")
			continue
		}
		out = append(out, p)
	}
	return out
}

// ParseAddresses reads an address or a CIDR range. An address is a range of one.
func ParseAddresses(s string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" {
		a = a.Unmap()
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(s)
	if err == nil && p.Addr().Is4In6() {
		return p, fmt.Errorf("an IPv4 range in IPv6 form")
	}
	return p.Masked(), err
}

// inside reports whether an address lies in one of the ranges. One that cannot be
// read lies nowhere.
func inside(list []netip.Prefix, address string) bool {
	a, err := netip.ParseAddr(address)
	return err == nil && slices.ContainsFunc(list, func(in netip.Prefix) bool { return in.Contains(a.Unmap().WithZone("")) })
}

func checkOrigins(f *faults, list []string) {
	f.count("origins", len(list), MaxPlaces)
	for i, s := range list {
		if !isOrigin(s) {
			f.add(fmt.Sprintf("origins[%d]", i), "is no origin as browsers send it: a scheme, a host and maybe a port, in lower case, such as https://app.example.com")
		}
	}
}

// isOrigin reports whether s is the serialisation of an origin (RFC 6454 §6.2) that
// names somebody: null is everybody's.
func isOrigin(s string) bool {
	u, err := url.Parse(s)
	return err == nil && len(s) <= MaxName && u.Scheme != "" && u.Host != "" && u.Scheme+"://"+u.Host == s && strings.ToLower(s) == s && !strings.ContainsAny(s, "*@ ")
}
