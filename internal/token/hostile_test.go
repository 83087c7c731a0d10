package token_test

import (
	"crypto/ed25519"
	"testing"

	"hodl"
	"hodl/internal/token"
	"hodl/internal/token/tokentest"
)

// signer lends the tests a key that signs anything.
func signer(key *token.Key) tokentest.Signer {
	private := ed25519.NewKeyFromSeed(key.Seed())
	return tokentest.Signer{KID: key.KID(), Public: key.Public().Bytes(), Sign: func(message []byte) []byte {
		return ed25519.Sign(private, message)
	}}
}

// Each hostile token is one change away from the good one, which passes before
// and after it, so what refuses it is the change.
func TestHostileTokensAreRefused(t *testing.T) {
	key := testKey(t, 1)
	v := token.NewVerifier(issuer, key.Public(), testKey(t, 2).Public())
	good := mint(t, key, goodClaims())
	resealed := reseal(signer(key), good)
	if resealed != good {
		t.Fatalf("the forge signs\n%s\nwant\n%s", resealed, good)
	}
	cases := tokentest.Hostile(signer(key), good)
	const least = 110
	if len(cases) < least {
		t.Errorf("%d hostile tokens, want at least %d", len(cases), least)
	}
	names := map[string]bool{}
	for _, c := range cases {
		if names[c.Name] {
			t.Errorf("%s: the name is taken", c.Name)
		}
		names[c.Name] = true
		refused(t, v, c.Name, good, c.Token)
	}
	t.Logf("%d hostile tokens, all refused", len(cases))
}

// refused asserts that v takes the good token and not the hostile one.
func refused(t *testing.T, v *token.Verifier, name, good, hostile string) {
	t.Helper()
	if _, err := v.Verify(good, testNow); err != nil {
		t.Errorf("%s: the good twin is refused: %v", name, err)
	}
	for range 2 { // the second time it could be remembered
		if c, err := v.Verify(hostile, testNow); hodl.CodeOf(err) != hodl.InvalidToken {
			t.Errorf("%s: Verify = %v, %v; want %s\n%s", name, c, err, hodl.InvalidToken, hostile)
		}
	}
}

// reseal takes a token apart and signs its own texts again.
func reseal(s tokentest.Signer, tok string) string {
	h, p, _ := tokentest.Split(tok)
	return s.Close(h + "." + p)
}

// The claims of a hostile token come back only when its key signed them and they
// are well formed: then they are another issuer's.
func TestHostileTokensYieldNoClaims(t *testing.T) {
	key := testKey(t, 1)
	v := token.NewVerifier(issuer, key.Public())
	for _, c := range tokentest.Hostile(signer(key), mint(t, key, goodClaims())) {
		claims, _ := v.Verify(c.Token, testNow)
		if claims != nil && (!c.Signed || claims.Issuer == issuer) {
			t.Errorf("%s: claims %+v came back", c.Name, claims)
		}
	}
}
