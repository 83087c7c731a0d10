package hodl

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
)

// An Audience is who a token may be for: one that every server knows, or one that
// the workspace has registered. To register a built-in one binds it to addresses or
// a key for that workspace alone. Any member may read them; admins change them.
type Audience struct {
	ID          AudienceID     `json:"id" doc:"Identifier"`
	Name        string         `json:"name" doc:"What stands in a token's aud" example:"agent.example.com"`
	Description string         `json:"description,omitempty" doc:"What it is"`
	Addresses   []netip.Prefix `json:"addresses" doc:"Where its calls must come from, as CIDR; empty for anywhere" example:"[\"192.0.2.0/24\"]"`
	JWK         *JWK           `json:"jwk,omitempty" doc:"The key whose possession its calls must prove (DPoP, RFC 9449)"`
	JKT         string         `json:"jkt,omitempty" doc:"Thumbprint of the key (RFC 7638), the cnf.jkt of its tokens"`
	Builtin     bool           `json:"builtin" doc:"Whether every server knows it"`
	CreatedAt   time.Time      `json:"created_at,omitzero" doc:"When it was registered (RFC 3339, UTC)"`
	UpdatedAt   time.Time      `json:"updated_at,omitzero" doc:"When it last changed (RFC 3339, UTC)"`
}

// Admits reports whether a call may come from address.
func (a *Audience) Admits(address string) bool {
	return len(a.Addresses) == 0 || inside(a.Addresses, address)
}

// AudienceDraft is what a client sends to register an audience.
type AudienceDraft struct {
	Name        string         `json:"name" doc:"What stands in a token's aud: an https address, or a name with a dot or colon in it. A built-in one may be registered, to bind it" example:"agent.example.com"`
	Description string         `json:"description,omitempty" doc:"What it is; at most 1 KiB"`
	Addresses   []string       `json:"addresses,omitempty" doc:"Where its calls must come from: addresses or CIDR ranges"`
	JWK         map[string]any `json:"jwk,omitempty" doc:"Public key (RFC 7517), EC P-256 or OKP Ed25519: then every use of its tokens carries a DPoP proof by it"`
}

// AudienceChange is a partial update: a nil field stays as it is. The name is who
// it is, and stays.
type AudienceChange struct {
	Description *string         `json:"description,omitempty" doc:"New description"`
	Addresses   *[]string       `json:"addresses,omitempty" doc:"New ranges, replacing the old ones; empty for anywhere"`
	JWK         *map[string]any `json:"jwk,omitempty" doc:"New public key; {} takes the key away. Tokens bound to another key end"`
}

// NewAudience returns the audience d describes, without what the server gives it,
// or every fault of d. reserved is this server's MCP address, which nobody may
// register.
func NewAudience(d AudienceDraft, reserved string) (*Audience, error) {
	var f faults
	checkAudienceName(&f, d.Name, reserved)
	a := &Audience{Name: d.Name, Builtin: slices.Contains(Audiences, d.Name)}
	a.fill(&f, AudienceChange{Description: &d.Description, Addresses: &d.Addresses, JWK: &d.JWK})
	return a, f.err()
}

// Change makes the change to a, or reports every fault of it and leaves a as it is.
func (a *Audience) Change(c AudienceChange) error {
	var f faults
	changed := *a
	changed.fill(&f, c)
	if err := f.err(); err != nil {
		return err
	}
	*a = changed
	return nil
}

func (a *Audience) fill(f *faults, c AudienceChange) {
	if c.Description != nil {
		f.text("description", *c.Description, MaxTitle)
		a.Description = *c.Description
	}
	if c.Addresses != nil {
		a.Addresses = parseAddresses(f, *c.Addresses)
	}
	if c.JWK != nil {
		a.setKey(f, *c.JWK)
	}
}

func (a *Audience) setKey(f *faults, members map[string]any) {
	a.JWK, a.JKT = nil, ""
	if len(members) == 0 {
		return
	}
	k, err := ParseJWK(members)
	if err != nil {
		f.add("jwk", "%s", err)
		return
	}
	a.JWK, a.JKT = k, k.Thumbprint()
}

var identity = form(`^[A-Za-z0-9][A-Za-z0-9._~:/@-]*[A-Za-z0-9]$`)

func checkAudienceName(f *faults, name, reserved string) {
	const form = "must be an address such as https://agent.example.com, or a name with a dot or a colon in it such as agent.example.com or team:planner"
	if f.required("name", name, MaxAudience); name == "" || len(name) > MaxAudience {
		return
	}
	if strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII || r <= ' ' || r == 0x7f }) {
		f.add("name", "holds a character other than printable ASCII; "+form)
		return
	}
	if strings.TrimRight(strings.ToLower(name), "/") == strings.ToLower(reserved) {
		f.add("name", "is this server's own MCP address, which needs no registration and takes none")
		return
	}
	if u, err := url.Parse(name); err == nil && (u.Scheme == "https" || u.Scheme == "http") {
		if u.Host == "" || u.User != nil || u.Fragment != "" || strings.HasSuffix(name, "#") {
			f.add("name", "is an address without a host, or with a user or a fragment in it")
		}
		return
	}
	if !identity(name) || !strings.ContainsAny(name, ".:") {
		f.add("name", form)
	}
}

// BuiltinAudience returns the built-in audience of that name, bound to nothing, or
// nil. Its id is made from the name, for there is no row of it.
func BuiltinAudience(name string) *Audience {
	if !slices.Contains(Audiences, name) {
		return nil
	}
	return &Audience{ID: builtinID(name), Name: name, Builtin: true, Addresses: []netip.Prefix{}}
}

// BuiltinAudienceOf returns the built-in audience of that id, or nil.
func BuiltinAudienceOf(id AudienceID) *Audience {
	i := slices.IndexFunc(Audiences, func(name string) bool { return builtinID(name) == id })
	if i < 0 {
		return nil
	}
	return BuiltinAudience(Audiences[i])
}

func builtinID(name string) AudienceID {
	return AudienceID("aud_" + strings.ReplaceAll(name, ".", ""))
}
