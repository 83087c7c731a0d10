package hodl

import (
	"net/netip"
	"slices"
	"time"
)

// An APIKey is a long-lived credential of a user in a workspace. The key itself
// is shown once and kept only as a hash.
type APIKey struct {
	ID         KeyID
	Workspace  WorkspaceID
	User       UserID
	Mode       Mode
	Name       string
	LastFour   string
	Scopes     []string       // of [KeyScopes]
	Addresses  []netip.Prefix // where it may be used from; none for anywhere
	Origins    []string       // the web origins whose pages may use it; none for no page
	CreatedAt  time.Time
	ExpiresAt  time.Time // zero for never
	LastUsedAt time.Time // zero when never
	RevokedAt  time.Time // zero while it is not
	ReplacedBy KeyID     // the key it was last rotated to
}

// Rights returns what bounds the key.
func (k *APIKey) Rights() Rights {
	return Rights{k.Mode, k.Scopes, k.ExpiresAt, k.Addresses, k.Origins}
}

// Grant gives the key the rights r.
func (k *APIKey) Grant(r Rights) {
	k.Mode, k.Scopes, k.ExpiresAt, k.Addresses, k.Origins = r.Mode, r.Scopes, r.ExpiresAt, r.Addresses, r.Origins
}

// Rotate returns the key that takes the place of k: as wide as k is now, and no
// wider. k itself ends at until, if not before.
func (k *APIKey) Rotate(id KeyID, lastFour string, now, until time.Time) (*APIKey, error) {
	if !k.RevokedAt.IsZero() || !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt) {
		return nil, Errorf(Conflict, "key %s has ended", k.ID).WithHint("make a new key: POST /v1/api_keys")
	}
	next := *k
	next.ID, next.LastFour, next.CreatedAt, next.LastUsedAt, next.ReplacedBy = id, lastFour, now, time.Time{}, ""
	if k.ExpiresAt.IsZero() || until.Before(k.ExpiresAt) {
		k.ExpiresAt = until
	}
	k.ReplacedBy = id
	return &next, nil
}

// A Principal is who is calling with an API key. It is made by the auth package
// alone, from the stored key.
type Principal struct {
	Workspace WorkspaceID
	User      UserID
	Key       KeyID
	Mode      Mode
	Role      Role
	Plan      PlanName
	Scopes    []string
	ExpiresAt time.Time // zero for never
	Addresses []netip.Prefix
	Origins   []string
}

// Rights returns what bounds the key of the principal.
func (p *Principal) Rights() Rights {
	return Rights{p.Mode, p.Scopes, p.ExpiresAt, p.Addresses, p.Origins}
}

// May reports whether the key carries scope, such as "sessions:read". A write
// scope implies the read of the same resource.
func (p *Principal) May(scope string) bool { return may(p.Scopes, scope) }

// CaptureOnly reports whether the key may make new things and see nothing.
func (p *Principal) CaptureOnly() bool { return slices.Contains(p.Scopes, CaptureOnly) }

// Allows reports whether pages of an origin may use the key.
func (p *Principal) Allows(origin string) bool { return slices.Contains(p.Origins, origin) }

// CheckPlace refuses with [Forbidden] a key that is used from an address it is not
// bound to, or by a page of an origin that is not on its list. origin is "" when no
// page is calling.
func (p *Principal) CheckPlace(address, origin string) error {
	if origin != "" && !p.Allows(origin) {
		return Errorf(Forbidden, "this key is not for pages of %.256q", origin).WithHint("add the origin to the key's origins, or make a key that has it")
	}
	if len(p.Addresses) == 0 || inside(p.Addresses, address) {
		return nil
	}
	return Errorf(Forbidden, "this key does not work from %.64q", address).WithHint("use it from the addresses it is bound to, or make a key for this one")
}
