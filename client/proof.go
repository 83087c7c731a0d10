package client

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"hodl"
)

// A ProofKey is the private key of an audience. An agent that holds it proves so on
// every call (DPoP, RFC 9449), without which tokens for that audience are of no use.
// Printing or logging one shows its thumbprint alone.
type ProofKey struct {
	public  hodl.JWK
	private crypto.Signer
}

// NewProofKey makes a P-256 key, which every DPoP library can use.
func NewProofKey() (*ProofKey, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	return newP256(private)
}

func newP256(private *ecdsa.PrivateKey) (*ProofKey, error) {
	point, err := private.PublicKey.Bytes()
	if err != nil {
		return nil, fmt.Errorf("encode the public key: %w", err)
	}
	return &ProofKey{hodl.JWK{Type: "EC", Curve: "P-256", X: b64(point[1:33]), Y: b64(point[33:])}, private}, nil
}

// ParseProofKey reads a private JWK (RFC 7517), EC P-256 or OKP Ed25519, as
// [ProofKey.MarshalJWK] writes it.
func ParseProofKey(text []byte) (*ProofKey, error) {
	var jwk struct {
		hodl.JWK
		D string `json:"d"`
	}
	if err := json.Unmarshal(text, &jwk); err != nil {
		return nil, errors.New("the key is not JSON")
	}
	d, err := base64.RawURLEncoding.DecodeString(jwk.D)
	if err != nil || len(d) != 32 {
		return nil, errors.New("the key has no private member d of 43 base64url characters")
	}
	k, err := proofKey(jwk.JWK, d)
	if err != nil {
		return nil, err
	}
	if k.public != jwk.JWK {
		return nil, errors.New("the private member d of the key does not belong to the public ones")
	}
	return k, nil
}

func proofKey(public hodl.JWK, d []byte) (*ProofKey, error) {
	switch {
	case public.Type == "EC" && public.Curve == "P-256":
		private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), d)
		if err != nil {
			return nil, errors.New("the private member d is no key of P-256")
		}
		return newP256(private)
	case public.Type == "OKP" && public.Curve == "Ed25519":
		private := ed25519.NewKeyFromSeed(d)
		return &ProofKey{hodl.JWK{Type: "OKP", Curve: "Ed25519", X: b64(private[32:])}, private}, nil
	}
	return nil, errors.New("the key is neither P-256 (kty EC, crv P-256) nor Ed25519 (kty OKP, crv Ed25519)")
}

// Public is what an audience is registered with.
func (k *ProofKey) Public() hodl.JWK { return k.public }

// MarshalJWK writes the key with its private half, for a file that only its owner
// reads.
func (k *ProofKey) MarshalJWK() ([]byte, error) {
	d, err := k.raw()
	if err != nil {
		return nil, fmt.Errorf("encode the private key: %w", err)
	}
	return json.Marshal(struct {
		hodl.JWK
		D string `json:"d"`
	}{k.public, b64(d)})
}

func (k *ProofKey) raw() ([]byte, error) {
	if private, ok := k.private.(*ecdsa.PrivateKey); ok {
		return private.Bytes()
	}
	return k.private.(ed25519.PrivateKey).Seed(), nil
}

// String and the next two keep the private half out of logs.
func (k ProofKey) String() string { return "client.ProofKey(" + k.public.Thumbprint() + ")" }

// GoString is String.
func (k ProofKey) GoString() string { return k.String() }

// LogValue is String.
func (k ProofKey) LogValue() slog.Value { return slog.StringValue(k.String()) }

// Proving makes an agent prove with every call that it holds key. The address it
// calls must be the server's public one: the proof names it.
func Proving(key *ProofKey) Option { return func(c *caller) { c.prover = &prover{key: key} } }

// A prover makes proofs, with the nonce the server gave last.
type prover struct {
	key   *ProofKey
	nonce atomic.Pointer[string]
}

// prove puts a proof for r and its token into the headers of r.
func (p *prover) prove(r *http.Request, token string, now time.Time) error {
	nonce := ""
	if last := p.nonce.Load(); last != nil {
		nonce = *last
	}
	at := url.URL{Scheme: r.URL.Scheme, Host: r.URL.Host, Path: r.URL.Path, RawPath: r.URL.RawPath}
	sum := sha256.Sum256([]byte(token))
	proof, err := p.key.sign(map[string]any{
		"jti": rand.Text(), "htm": r.Method, "htu": at.String(), "iat": now.Unix(), "ath": b64(sum[:]), "nonce": nonce,
	})
	r.Header.Set("Authorization", "DPoP "+token)
	r.Header.Set("DPoP", proof)
	return err
}

// wanted keeps the nonce of an answer, and reports whether the answer only asks for
// it: then nothing else has happened, and the call may go again.
func (p *prover) wanted(answer *http.Response) bool {
	nonce := answer.Header.Get("DPoP-Nonce")
	if nonce == "" {
		return false
	}
	p.nonce.Store(&nonce)
	return answer.StatusCode == http.StatusUnauthorized && strings.Contains(answer.Header.Get("WWW-Authenticate"), `error="use_dpop_nonce"`)
}

func (k *ProofKey) sign(claims map[string]any) (string, error) {
	if claims["nonce"] == "" {
		delete(claims, "nonce")
	}
	head, err := json.Marshal(map[string]any{"typ": "dpop+jwt", "alg": k.public.Algorithm(), "jwk": k.public})
	if err != nil {
		return "", fmt.Errorf("encode a proof: %w", err)
	}
	body, err := json.Marshal(claims)
	if err != nil {
		return "", fmt.Errorf("encode a proof: %w", err)
	}
	text := b64(head) + "." + b64(body)
	signature, err := k.signature([]byte(text))
	if err != nil {
		return "", fmt.Errorf("sign a proof: %w", err)
	}
	return text + "." + b64(signature), nil
}

// signature is r and s of 32 bytes each for P-256 (RFC 7518 §3.4).
func (k *ProofKey) signature(text []byte) ([]byte, error) {
	private, ok := k.private.(*ecdsa.PrivateKey)
	if !ok {
		return k.private.Sign(nil, text, crypto.Hash(0))
	}
	sum := sha256.Sum256(text)
	r, s, err := ecdsa.Sign(rand.Reader, private, sum[:])
	if err != nil {
		return nil, err
	}
	return slices.Concat(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))), nil
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
