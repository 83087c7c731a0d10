package token_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"hodl"
	"hodl/internal/token"
)

// The benchmarks below measure each call beside the bare signature over the same
// bytes: the goals are ratios, since times differ from machine to machine.

func BenchmarkSign(b *testing.B) {
	key, claims := testKey(b, 1), goodClaims()
	private := ed25519.NewKeyFromSeed(key.Seed())
	message := []byte(signedPart(mint(b, key, claims)))
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			ed25519.Sign(private, message)
		}
	})
	b.Run("token", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := key.Sign(claims); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("ratio", func(b *testing.B) {
		interleave(b,
			func(int) { ed25519.Sign(private, message) },
			func(int) { _, _ = key.Sign(claims) })
	})
}

func BenchmarkVerify(b *testing.B) {
	const distinct = 512 // more than the small verifier remembers, so that it never does
	key := testKey(b, 1)
	small := token.NewSmallVerifier(issuer, distinct/4, key.Public())
	tokens := make([]string, distinct)
	messages, signatures := make([][]byte, distinct), make([][]byte, distinct)
	for i := range tokens {
		claims := goodClaims()
		claims.ID = hodl.TokenID(fmt.Sprintf("rt_%026d", i))
		tokens[i] = mint(b, key, claims)
		messages[i] = []byte(signedPart(tokens[i]))
		signatures[i], _ = base64.RawURLEncoding.DecodeString(tokens[i][len(messages[i])+1:])
	}
	public := ed25519.PublicKey(key.Public().Bytes())
	bare := func(i int) { ed25519.Verify(public, messages[i%distinct], signatures[i%distinct]) }
	miss := func(i int) {
		if _, err := small.Verify(tokens[i%distinct], testNow); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("bare", func(b *testing.B) { count(b, bare) })
	b.Run("miss", func(b *testing.B) { count(b, miss) })
	b.Run("ratio", func(b *testing.B) { interleave(b, bare, miss) })
	for name, tok := range map[string]string{"hit": mint(b, key, plainClaims()), "hit of the longest": tokens[0]} {
		b.Run(name, func(b *testing.B) {
			v := token.NewVerifier(issuer, key.Public())
			count(b, func(int) {
				if _, err := v.Verify(tok, testNow); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
	b.Run("refused", func(b *testing.B) {
		forged := tokens[0][:len(tokens[0])-8] + "AAAAAAAA"
		count(b, func(int) { _, _ = small.Verify(forged, testNow) })
	})
}

func count(b *testing.B, f func(i int)) {
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		f(i)
	}
}

// interleave reports how much of the speed of bare is left in full: the fastest
// round of each, taken in turns, so that a busy machine slows both.
func interleave(b *testing.B, bare, full func(i int)) {
	const rounds, calls = 60, 100
	for b.Loop() {
		best := [2]time.Duration{time.Hour, time.Hour}
		for round := range rounds {
			for j, f := range []func(int){bare, full} {
				start := time.Now()
				for i := range calls {
					f(round*calls + i)
				}
				best[j] = min(best[j], time.Since(start))
			}
		}
		b.ReportMetric(float64(best[0])/float64(best[1]), "of-bare")
		b.ReportMetric(float64(best[0].Nanoseconds())/calls, "bare-ns")
		b.ReportMetric(float64(best[1].Nanoseconds())/calls, "full-ns")
	}
}

func signedPart(tok string) string { return tok[:strings.LastIndexByte(tok, '.')] }
