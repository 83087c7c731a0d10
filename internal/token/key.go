package token

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
)

// SeedSize is the length of a key's seed, its private half, in bytes.
const SeedSize = ed25519.SeedSize

// A Key signs tokens. Printing or logging one shows its id and never its
// private half.
type Key struct {
	public  *PublicKey
	private ed25519.PrivateKey
}

// GenerateKey makes a key from 32 bytes of random.
func GenerateKey(random io.Reader) (*Key, error) {
	seed := make([]byte, SeedSize)
	if _, err := io.ReadFull(random, seed); err != nil {
		return nil, fmt.Errorf("generate signing key: %w", err)
	}
	return KeyFromSeed(seed)
}

// KeyFromSeed returns the key that [Key.Seed] was asked of.
func KeyFromSeed(seed []byte) (*Key, error) {
	if len(seed) != SeedSize {
		return nil, fmt.Errorf("signing key: seed is %d bytes, want %d", len(seed), SeedSize)
	}
	private := ed25519.NewKeyFromSeed(seed)
	public, err := NewPublicKey(private.Public().(ed25519.PublicKey))
	if err != nil {
		return nil, err
	}
	return &Key{public, private}, nil
}

// Seed returns a copy of the private half (RFC 8032 §5.1.5), for sealing and
// storing. Whoever has it can mint any token.
func (k *Key) Seed() []byte { return k.private.Seed() }

// KID returns the id of the key.
func (k *Key) KID() string { return k.public.kid }

// Public returns the half that may be shown to anyone.
func (k *Key) Public() *PublicKey { return k.public }

// String and the next two stand on the value, so that a copied key is as silent
// as a pointer to one.
func (k Key) String() string { return "token.Key(" + k.public.kid + ")" }

// GoString keeps %#v from showing the private half.
func (k Key) GoString() string { return k.String() }

// LogValue keeps a logger from showing the private half.
func (k Key) LogValue() slog.Value { return slog.GroupValue(slog.String("kid", k.public.kid)) }

// A PublicKey verifies tokens. It is immutable.
type PublicKey struct {
	kid    string
	header string // the first segment of every token the key signs
	key    ed25519.PublicKey
}

// NewPublicKey returns the key whose 32 bytes (RFC 8032 §5.1.5) are public.
func NewPublicKey(public []byte) (*PublicKey, error) {
	if len(public) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("public key is %d bytes, want %d", len(public), ed25519.PublicKeySize)
	}
	kid := thumbprint(public)
	header := `{"alg":"EdDSA","kid":"` + kid + `","typ":"resume+jwt"}`
	return &PublicKey{kid, base64.RawURLEncoding.EncodeToString([]byte(header)), append(ed25519.PublicKey(nil), public...)}, nil
}

// KID returns the id of the key: its JWK thumbprint (RFC 7638, RFC 8037 §2),
// which no other key can have.
func (p *PublicKey) KID() string { return p.kid }

// Bytes returns a copy of the key's 32 bytes.
func (p *PublicKey) Bytes() []byte { return append([]byte(nil), p.key...) }

// thumbprint hashes the required members of the key's JWK in the order of their
// names (RFC 7638 §3.2).
func thumbprint(public []byte) string {
	sum := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + base64.RawURLEncoding.EncodeToString(public) + `"}`))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// JWKS returns the keys as a JWK set (RFC 7517 §5, RFC 8037 §2), in their order.
func JWKS(keys []*PublicKey) []byte {
	out := []byte(`{"keys":[`)
	for i, k := range keys {
		if i > 0 {
			out = append(out, ',')
		}
		out = fmt.Appendf(out, `{"alg":"EdDSA","crv":"Ed25519","kid":%q,"kty":"OKP","use":"sig","x":%q}`,
			k.kid, base64.RawURLEncoding.EncodeToString(k.key))
	}
	return append(out, "]}"...)
}
