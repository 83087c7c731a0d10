package hodl

import (
	"bytes"
	"crypto/ecdh"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A JWK is the public half of an audience's key (RFC 7517): the members its
// thumbprint is made of, and no others.
type JWK struct {
	Type  string `json:"kty" enum:"EC,OKP" doc:"EC or OKP"`
	Curve string `json:"crv" enum:"P-256,Ed25519" doc:"P-256 or Ed25519"`
	X     string `json:"x" doc:"Coordinate, or all of an Ed25519 key, in base64url"`
	Y     string `json:"y,omitempty" doc:"The other coordinate of a P-256 key, in base64url"`
}

// Names of the algorithms a proof may be signed with (RFC 7518 §3.1, RFC 8037 §3.1).
const (
	ES256 = "ES256"
	EdDSA = "EdDSA"
)

// Algorithm is the one the key signs with: it follows from the key alone.
func (k *JWK) Algorithm() string {
	if k.Type == "EC" {
		return ES256
	}
	return EdDSA
}

// Thumbprint hashes the required members in the order of their names (RFC 7638 §3).
func (k *JWK) Thumbprint() string {
	text := fmt.Sprintf(`{"crv":%q,"kty":%q,"x":%q}`, k.Curve, k.Type, k.X)
	if k.Type == "EC" {
		text = fmt.Sprintf(`{"crv":%q,"kty":%q,"x":%q,"y":%q}`, k.Curve, k.Type, k.X, k.Y)
	}
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Point returns the key's bytes: 32 of Ed25519, or x and y of P-256, 32 each.
func (k *JWK) Point() (x, y []byte) {
	x, _ = coordinate(k.X) // ParseJWK has read both
	y, _ = coordinate(k.Y)
	return x, y
}

// private are the members that only a private or a shared key has (RFC 7518 §6).
var private = []string{"d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"}

// ParseJWK reads a public key. Members beside those of [JWK] must not contradict
// them; what they say else is dropped. The error is a phrase that follows the name
// of the field.
func ParseJWK(members map[string]any) (*JWK, error) {
	for _, name := range private {
		if _, holds := members[name]; holds {
			return nil, fmt.Errorf("holds the private member %q: send the public half alone, and replace the key, because it has left its owner", name)
		}
	}
	text := func(name string) string { s, _ := members[name].(string); return s }
	k := &JWK{Type: text("kty"), Curve: text("crv"), X: text("x"), Y: text("y")}
	if err := k.check(); err != nil {
		return nil, err
	}
	if alg, given := members["alg"]; given && alg != k.Algorithm() && (k.Type == "EC" || alg != "Ed25519") {
		return nil, fmt.Errorf("has an alg that is not %s, which its key signs with", k.Algorithm())
	}
	if use, given := members["use"]; given && use != "sig" {
		return nil, errors.New(`has a use that is not "sig"`)
	}
	if ops, given := members["key_ops"]; given {
		if list, _ := ops.([]any); !slices.Contains(list, any("verify")) {
			return nil, errors.New(`has key_ops without "verify"`)
		}
	}
	return k, nil
}

func (k *JWK) check() error {
	switch {
	case k.Type == "EC" && k.Curve == "P-256":
		x, okX := coordinate(k.X)
		y, okY := coordinate(k.Y)
		if !okX || !okY {
			return errors.New("must have x and y of 43 base64url characters")
		}
		if _, err := ecdh.P256().NewPublicKey(slices.Concat([]byte{4}, x, y)); err != nil {
			return errors.New("is no point of P-256")
		}
		return nil
	case k.Type == "OKP" && k.Curve == "Ed25519":
		x, ok := coordinate(k.X)
		if !ok || k.Y != "" {
			return errors.New("must have x of 43 base64url characters, and no y")
		}
		if weak(x) {
			return errors.New("is a key of small order, for which anybody can sign")
		}
		return nil
	}
	return errors.New("must be a P-256 key (kty EC, crv P-256) or an Ed25519 key (kty OKP, crv Ed25519)")
}

// coordinate reads 32 bytes in their one spelling.
func coordinate(s string) ([]byte, bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	return b, err == nil && len(b) == 32 && !strings.ContainsAny(s, "\r\n")
}

// smallOrder are the y coordinates of the eight points of small order, low byte
// first. A signature by such a "key" says nothing about who made it.
var smallOrder = []string{
	"0000000000000000000000000000000000000000000000000000000000000000",
	"0100000000000000000000000000000000000000000000000000000000000000",
	"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
	"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
	"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
}

// weak reports whether 32 bytes are a point of small order, or a y that is not
// below the prime of the field and so has a second spelling.
func weak(point []byte) bool {
	y := slices.Clone(point)
	y[31] &= 0x7f // without the sign of x
	spelling := y[0] >= 0xed && y[31] == 0x7f && bytes.Count(y[1:31], []byte{0xff}) == 30
	return spelling || slices.Contains(smallOrder, hex.EncodeToString(y))
}
