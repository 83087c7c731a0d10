// Package dpop checks proofs of possession: JWTs that a client makes for one
// request each, signed with the key its token is bound to (RFC 9449).
//
// As in package token, one profile is accepted and nothing else: ES256 or Ed25519,
// as the embedded key says; the header's three members and no others; JSON without
// repeated names; canonical base64url. Whether a proof was used before is for the
// caller to know: [Proof.Digest] names it until [Proof.ExpiresAt].
package dpop

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"hodl"
)

const (
	// MaxSize is the longest proof there is, in bytes.
	MaxSize = 4 << 10
	// MaxAge is how old a proof may be.
	MaxAge = time.Minute
	// Ahead is how far the clock of whoever made it may be ahead of ours, and the
	// clocks of servers that share a database apart.
	Ahead = hodl.ClockSkew

	maxID   = 256          // bytes of a jti
	maxTime = 253402300799 // the last second of the year 9999
)

// Algorithms are what proofs may be signed with. Ed25519 is the name that RFC 9864
// gives to what RFC 8037 calls EdDSA.
var Algorithms = []string{hodl.ES256, hodl.EdDSA, "Ed25519"}

// A Proof is one whose signature was good.
type Proof struct {
	JKT   string // thumbprint of the key that signed it
	ID    string
	Nonce string

	claims claims
}

// claims are the members we read (RFC 9449 §4.2); others are allowed and mean
// nothing.
type claims struct {
	ID        string `json:"jti"`
	Method    string `json:"htm"`
	URL       string `json:"htu"`
	IssuedAt  *int64 `json:"iat"`
	Hash      string `json:"ath"`
	Nonce     string `json:"nonce"`
	Expires   *int64 `json:"exp"`
	NotBefore *int64 `json:"nbf"`
}

type header struct {
	Type      string         `json:"typ"`
	Algorithm string         `json:"alg"`
	Key       map[string]any `json:"jwk"`
}

var encoding = base64.RawURLEncoding.Strict()

// Parse reads a proof and checks its signature by the key it carries. The error is
// [hodl.InvalidProof].
func Parse(s string) (*Proof, error) {
	if len(s) > MaxSize {
		return nil, invalid("is longer than %d bytes", MaxSize)
	}
	parts := strings.Split(s, ".")
	if len(parts) != 3 || strings.ContainsAny(s, "\r\n") {
		return nil, invalid("is not one JWT: three parts joined by full stops, in one DPoP header")
	}
	var raw [3][]byte
	for i, part := range parts {
		var err error
		if raw[i], err = encoding.DecodeString(part); err != nil {
			return nil, invalid("is not canonical base64url")
		}
	}
	key, err := readHeader(raw[0])
	if err != nil {
		return nil, err
	}
	if !signed(key, s[:len(parts[0])+1+len(parts[1])], raw[2]) {
		return nil, invalid("has a signature that does not match the key it carries")
	}
	p := &Proof{JKT: key.Thumbprint()}
	if err := json.Unmarshal(raw[1], &p.claims); err != nil {
		return nil, invalid("has claims that are not JSON of the right types")
	}
	p.ID, p.Nonce = p.claims.ID, p.claims.Nonce
	return p, p.complete()
}

func readHeader(raw []byte) (*hodl.JWK, error) {
	var h header
	if err := json.Unmarshal(raw, &h, json.RejectUnknownMembers(true)); err != nil {
		return nil, invalid("has a header with other members than typ, alg and jwk")
	}
	if h.Type != "dpop+jwt" {
		return nil, invalid("has a typ other than dpop+jwt")
	}
	if !slices.Contains(Algorithms, h.Algorithm) {
		return nil, invalid("is signed with another algorithm than %s", strings.Join(Algorithms, ", "))
	}
	key, err := hodl.ParseJWK(h.Key)
	if err != nil {
		return nil, invalid("has a jwk that %s", err)
	}
	if key.Algorithm() != h.Algorithm && (key.Type == "EC" || h.Algorithm == hodl.ES256) {
		return nil, invalid("has an alg that does not fit its key")
	}
	return key, nil
}

// signed checks a signature: r and s of 32 bytes each for P-256 (RFC 7518 §3.4).
func signed(key *hodl.JWK, text string, signature []byte) bool {
	if len(signature) != 64 {
		return false
	}
	x, y := key.Point()
	if key.Type == "OKP" {
		return ed25519.Verify(x, []byte(text), signature)
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), slices.Concat([]byte{4}, x, y))
	if err != nil {
		return false
	}
	sum := sha256.Sum256([]byte(text))
	return ecdsa.Verify(public, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:]))
}

func (p *Proof) complete() error {
	c := &p.claims
	switch {
	case c.ID == "" || len(c.ID) > maxID:
		return invalid("has no jti of 1 to %d bytes", maxID)
	case c.Method == "" || c.URL == "":
		return invalid("has no htm or no htu")
	case c.IssuedAt == nil || *c.IssuedAt < 0 || *c.IssuedAt > maxTime:
		return invalid("has no iat, or one that is no time")
	}
	return nil
}

// A Use is the request a proof must be for.
type Use struct {
	JKT    string   // thumbprint of the key that must have signed
	Method string   // of the request
	URLs   []string // what the request's address may be called, without query
	Token  string   // the token that came with it
	Now    time.Time
}

// Check holds the proof against the request (RFC 9449 §4.3). The error is
// [hodl.InvalidProof]; it may name the address and the method that are wanted,
// which whoever sent the request knows.
func (p *Proof) Check(u Use) error {
	c := &p.claims
	if p.JKT != u.JKT {
		return invalid("is made with another key than the token is bound to")
	}
	if c.Method != u.Method {
		return invalid("is for the method %.20q, not for %s", c.Method, u.Method)
	}
	if at, ok := normal(c.URL); !ok || !slices.ContainsFunc(u.URLs, func(s string) bool { want, _ := normal(s); return at == want }) {
		return invalid("is for another address than %s", strings.Join(u.URLs, " or "))
	}
	if err := c.timely(u.Now); err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(u.Token))
	if c.Hash != base64.RawURLEncoding.EncodeToString(sum[:]) {
		return invalid("has an ath that is not the hash of the token it came with")
	}
	return nil
}

func (c *claims) timely(now time.Time) error {
	at := time.Unix(*c.IssuedAt, 0)
	switch {
	case now.Sub(at) > MaxAge:
		return invalid("is older than %v", MaxAge)
	case at.Sub(now) > Ahead:
		return invalid("has an iat that lies in the future; check the clock")
	case c.Expires != nil && !now.Before(time.Unix(*c.Expires, 0).Add(Ahead)):
		return invalid("has expired")
	case c.NotBefore != nil && now.Before(time.Unix(*c.NotBefore, 0).Add(-Ahead)):
		return invalid("is not valid yet")
	}
	return nil
}

// ExpiresAt is when no server takes the proof any more, whatever its clock says.
func (p *Proof) ExpiresAt() time.Time { return time.Unix(*p.claims.IssuedAt, 0).Add(MaxAge + Ahead) }

// Digest names the proof among those of all keys: its jti need only be unique
// among those of its own.
func (p *Proof) Digest() [32]byte { return sha256.Sum256([]byte(p.JKT + "\x00" + p.ID)) }

func invalid(format string, args ...any) error {
	return hodl.Errorf(hodl.InvalidProof, "the proof "+format, args...).
		WithHint("make a DPoP proof (RFC 9449) for this request and this token, with the key of its audience")
}
