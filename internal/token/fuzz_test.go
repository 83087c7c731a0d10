package token_test

import (
	"strings"
	"testing"
	"time"

	"hodl"
	"hodl/internal/token"
	"hodl/internal/token/tokentest"

	"github.com/google/go-cmp/cmp"
)

// Whatever arrives, Verify does not panic, and it accepts a token only if signing
// its claims again gives the very same token.
func FuzzVerify(f *testing.F) {
	key := testKey(f, 1)
	s := signer(key)
	v := token.NewSmallVerifier(issuer, 64, key.Public())
	good := mint(f, key, goodClaims())
	f.Add(good, false)
	f.Add(mint(f, key, plainClaims()), false)
	for _, c := range tokentest.Hostile(s, good) {
		f.Add(c.Token, false)
	}
	header := strings.SplitN(good, ".", 2)[0]
	f.Add(string(token.Payload(nil, goodClaims())), true)
	f.Add(string(token.Payload(nil, plainClaims())), true)
	f.Fuzz(func(t *testing.T, tok string, asPayload bool) {
		if asPayload { // the fuzzer cannot sign, so it is signed here
			tok = s.Close(header + "." + tokentest.Encode(tok))
		}
		claims, err := v.Verify(tok, testNow)
		if err != nil && hodl.CodeOf(err) == hodl.Internal {
			t.Fatalf("Verify = %v, which is no refusal", err)
		}
		if claims == nil {
			return
		}
		again, signErr := key.Sign(claims)
		if signErr != nil || again != tok {
			t.Errorf("Verify(%q) = %+v, %v; signed again: %q, %v", tok, claims, err, again, signErr)
		}
	})
}

// Whatever Sign signs, Verify gives back unchanged.
func FuzzSign(f *testing.F) {
	key := testKey(f, 1)
	add := func(c *hodl.Claims) {
		f.Add(c.Subject, c.Audience, string(c.ID), string(c.Session), c.RedactionPolicy, c.Delegator, c.Nonce, string(c.Mode), "a", "", c.IssuedAt, int64(0), int64(3600), c.MaxHydrations, uint8(3), uint8(2))
	}
	add(goodClaims())
	add(plainClaims())
	f.Fuzz(func(t *testing.T, sub, aud, jti, session, policy, delegator, nonce, mode, actor, jkt string, iat, nbf, ttl int64, most int, scopes, depth uint8) {
		c := &hodl.Claims{
			Issuer: issuer, Subject: sub, Audience: aud, ID: hodl.TokenID(jti), IssuedAt: iat, NotBefore: iat + nbf, Expires: iat + ttl,
			Session: hodl.SessionID(session), RedactionPolicy: policy, MaxHydrations: most, Delegator: delegator, Nonce: nonce, Mode: hodl.Mode(mode),
		}
		for i, s := range hodl.Scopes {
			if scopes>>i&1 == 1 {
				c.Scopes = append(c.Scopes, s)
			}
		}
		for range depth % 6 {
			c.Actor = &hodl.Actor{Subject: actor, Actor: c.Actor}
		}
		if jkt != "" {
			c.Confirm = &hodl.Thumbprint{JKT: jkt}
		}
		tok, err := key.Sign(c)
		if err != nil {
			if hodl.CodeOf(err) != hodl.ValidationFailed {
				t.Fatalf("Sign = %v, which is no refusal", err)
			}
			return
		}
		if len(tok) > token.MaxSize {
			t.Errorf("Sign made a token of %d bytes", len(tok))
		}
		v := token.NewSmallVerifier(issuer, 16, key.Public())
		got, err := v.Verify(tok, time.Unix(c.NotBefore, 0))
		if diff := cmp.Diff(c, got); err != nil || diff != "" {
			t.Errorf("Verify = %v (-signed +got):\n%s", err, diff)
		}
	})
}
