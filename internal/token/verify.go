package token

import (
	"crypto/ed25519"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"hodl"
)

// A Verifier tells good tokens from all others. It is safe for concurrent use,
// [Verifier.SetKeys] included.
type Verifier struct {
	issuer string
	keys   atomic.Pointer[map[string]*PublicKey] // by header segment; replaced, never changed
	seen   *cache
}

// cacheSize is how many verified tokens are remembered, at about a kilobyte each.
const cacheSize = 16 << 10

// NewVerifier returns a Verifier of tokens that issuer signed with one of keys.
func NewVerifier(issuer string, keys ...*PublicKey) *Verifier {
	return newVerifier(issuer, cacheSize, keys)
}

func newVerifier(issuer string, size int, keys []*PublicKey) *Verifier {
	v := &Verifier{issuer: issuer, seen: newCache(size)}
	v.SetKeys(keys...)
	return v
}

// SetKeys replaces the keys. A token of a key that is gone is refused from the
// next call on, however often it was accepted before.
func (v *Verifier) SetKeys(keys ...*PublicKey) {
	byHeader := make(map[string]*PublicKey, len(keys))
	for _, k := range keys {
		byHeader[k.header] = k
	}
	v.keys.Store(&byHeader)
}

// Verify returns the claims of token if one of the keys signed it for the issuer
// and now lies between its nbf and exp, give or take [hodl.ClockSkew].
// Revocation, audience and what is left of the token are for the caller to check.
//
// A refusal is a [hodl.Error] with code [hodl.TokenNotYetValid],
// [hodl.TokenExpired] or, for any other fault, [hodl.InvalidToken]. The claims are
// not nil with an error exactly when the signature was good and the claims are
// well formed: such a refusal can be put on record, though the claims grant
// nothing. The caller owns them.
func (v *Verifier) Verify(token string, now time.Time) (*hodl.Claims, error) {
	p, err := split(token)
	if err != nil {
		return nil, err
	}
	key := (*v.keys.Load())[p.header]
	if key == nil {
		return nil, refuse("the token's header is not one of this server's", "send a token this server minted; the key of an older one is no longer served")
	}
	// The key is looked up each time, so that a remembered token dies with it.
	sum := digestOf(token)
	claims := v.seen.get(sum)
	if claims == nil {
		if claims, err = open(key, p); err != nil {
			return nil, err
		}
		v.seen.put(sum, claims)
	}
	return clone(claims), v.admit(claims, now)
}

// parts are the segments of a token.
type parts struct{ header, payload, signature, signed string }

// split cuts token in three. What decoding would forgive is refused here: any
// length but that of one signature, and the line ends encoding/base64 skips.
func split(token string) (p parts, err error) {
	if len(token) > MaxSize {
		return p, malformed("is longer than %d bytes", MaxSize)
	}
	header, rest, _ := strings.Cut(token, ".")
	payload, signature, found := strings.Cut(rest, ".")
	if !found || len(signature) != signatureSize {
		return p, malformed("is not three parts joined by full stops")
	}
	if strings.IndexByte(rest, '\n') >= 0 || strings.IndexByte(rest, '\r') >= 0 {
		return p, malformed("holds a line end")
	}
	return parts{header, payload, signature, token[:len(header)+1+len(payload)]}, nil
}

// open checks the signature of a token and reads its claims.
func open(key *PublicKey, p parts) (*hodl.Claims, error) {
	signature, err := encoding.DecodeString(p.signature)
	if err != nil {
		return nil, malformed("has a signature that is not canonical base64url")
	}
	payload, err := encoding.AppendDecode(make([]byte, 0, MaxSize), []byte(p.payload))
	if err != nil {
		return nil, malformed("has a payload that is not canonical base64url")
	}
	if !ed25519.Verify(key.key, []byte(p.signed), signature) {
		return nil, refuse("the token's signature does not match", "send the token exactly as it was minted")
	}
	claims := parseClaims(string(payload))
	if claims == nil {
		return nil, refuse("the token's claims are not in the form this server writes", "mint a new token")
	}
	if err := check(claims); err != nil {
		return nil, refuse("the token's claims are not well formed: "+faultOf(err), "mint a new token")
	}
	return claims, nil
}

// admit checks what depends on who verifies, and when.
func (v *Verifier) admit(c *hodl.Claims, now time.Time) error {
	switch {
	case c.Issuer != v.issuer:
		return refuse("the token is from another issuer", "send it to the server that minted it, or mint one here")
	case now.Before(time.Unix(c.NotBefore, 0).Add(-hodl.ClockSkew)):
		return hodl.Errorf(hodl.TokenNotYetValid, "the token is not valid before %s", stamp(c.NotBefore)).
			WithHint("wait until then, and check that the clocks agree")
	case !now.Before(time.Unix(c.Expires, 0).Add(hodl.ClockSkew)):
		return hodl.Errorf(hodl.TokenExpired, "the token expired at %s", stamp(c.Expires)).
			WithHint("ask whoever handed it over for a new one")
	}
	return nil
}

func stamp(unix int64) string { return time.Unix(unix, 0).UTC().Format(time.RFC3339) }

func refuse(message, hint string) error {
	return &hodl.Error{Code: hodl.InvalidToken, Message: message, Hint: hint}
}

func malformed(format string, args ...any) error {
	return hodl.Errorf(hodl.InvalidToken, "the token "+format, args...).
		WithHint("send the resume token exactly as it was minted, on one line; an API key is not one")
}

// faultOf is the message of an error check returned.
func faultOf(err error) string {
	if e, ok := errors.AsType[*hodl.Error](err); ok {
		return e.Message
	}
	return err.Error()
}
