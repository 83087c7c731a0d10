package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"time"

	"hodl"
	"hodl/internal/token"
)

const (
	bareSign, ourSign     = "token: crypto/ed25519 sign", "token: mint"
	bareVerify, ourVerify = "token: crypto/ed25519 verify", "token: verify, not seen before"
	seenVerify            = "token: verify, seen before"
)

// tokenMeasures compares the codec with the bare primitive, on one core.
func tokenMeasures(context.Context, string) ([]measure, func(), error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	key, err := token.KeyFromSeed(private.Seed())
	if err != nil {
		return nil, nil, err
	}
	now := time.Now()
	claims := &hodl.Claims{
		Issuer: "http://127.0.0.1:8484", Subject: "wks_01KAQ3M7T4Z0X8W2V6R5N9P1JC:usr_01KAQ3M7T4Z0X8W2V6R5N9P1JD", Audience: "claude.anthropic.com",
		ID: "rt_01KAQ3M7T4Z0X8W2V6R5N9P1JE", IssuedAt: now.Unix(), NotBefore: now.Unix(), Expires: now.Unix() + 3600,
		Scopes: []hodl.Scope{hodl.ReadContext, hodl.ReadReasoning}, Session: "ses_01KAQ3M7T4Z0X8W2V6R5N9P1JF",
		RedactionPolicy: "off", MaxHydrations: 5, Mode: hodl.Live,
	}
	signed, err := key.Sign(claims)
	if err != nil {
		return nil, nil, err
	}
	message := []byte(signed[:len(signed)-87]) // without the dot and the signature
	signature := ed25519.Sign(private, message)
	seen := token.NewVerifier(claims.Issuer, key.Public())
	alone := func(name string, call func(n int) error) measure {
		return measure{name, "/s", func(ctx context.Context, d time.Duration) (result, error) {
			return closedLoop(ctx, 1, d, func(_ context.Context, _, n int) error { return call(n) })
		}}
	}
	// A thousand tokens in turn through a verifier made anew: none was seen before.
	many := make([]string, 1000)
	for i := range many {
		claims.IssuedAt = now.Unix() - int64(i)
		claims.NotBefore = claims.IssuedAt
		if many[i], err = key.Sign(claims); err != nil {
			return nil, nil, err
		}
	}
	fresh := seen
	return []measure{
		alone(bareSign, func(int) error { ed25519.Sign(private, message); return nil }),
		alone(ourSign, func(int) error { _, err := key.Sign(claims); return err }),
		alone(bareVerify, func(int) error { ed25519.Verify(public, message, signature); return nil }),
		alone(ourVerify, func(n int) error {
			if n%len(many) == 0 {
				fresh = token.NewVerifier(claims.Issuer, key.Public())
			}
			_, err := fresh.Verify(many[n%len(many)], now)
			return err
		}),
		alone(seenVerify, func(int) error { _, err := seen.Verify(signed, now); return err }),
	}, func() {}, nil
}
