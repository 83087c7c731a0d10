// Package token mints and verifies resume tokens, and says when signing keys
// change.
//
// A resume token is a JWT in JWS compact form of one fixed profile: Ed25519
// under the name EdDSA (RFC 8037), one header text per key, one payload text
// per set of claims, unpadded canonical base64url. Whatever [Key.Sign] would not
// have written is refused, so that one token has one spelling, no member can be
// read in two ways, and the algorithm comes from the key and never from the
// token (RFC 8725 §3.1). No other algorithm is compiled in, and no other
// package of the module signs or verifies a JWT.
package token

import (
	"crypto/ed25519"
	"encoding/base64"

	"hodl"
)

// MaxSize is the longest token there is, in bytes: what is longer is refused
// unread, and never minted.
const MaxSize = 4 << 10

// MaxDepth is how many actors a delegation chain may name.
const MaxDepth = hodl.MaxDepth

// encoding is base64url without padding and with all unused bits zero. It still
// skips CR and LF, as every decoder of encoding/base64 does; split refuses them.
var encoding = base64.RawURLEncoding.Strict()

// signatureSize is the length of an encoded signature.
const signatureSize = (ed25519.SignatureSize*8 + 5) / 6

// Sign returns claims as a token signed with k. Claims that [Verifier.Verify]
// would not take are refused with [hodl.ValidationFailed], naming the claim.
func (k *Key) Sign(claims *hodl.Claims) (string, error) {
	if err := check(claims); err != nil {
		return "", err
	}
	payload := appendClaims(make([]byte, 0, 1024), claims)
	size := len(k.public.header) + 1 + encoding.EncodedLen(len(payload)) + 1 + signatureSize
	if size > MaxSize {
		return "", hodl.Errorf(hodl.ValidationFailed, "the token would be %d bytes; at most %d are allowed", size, MaxSize).
			WithHint("use a shorter audience, or hand off over fewer steps")
	}
	out := make([]byte, 0, 1536) // on the stack, and large enough for nearly all
	out = append(append(out, k.public.header...), '.')
	out = encoding.AppendEncode(out, payload)
	signature := ed25519.Sign(k.private, out)
	out = encoding.AppendEncode(append(out, '.'), signature)
	return string(out), nil
}
