package main

import "context"

const (
	bareVerify  = "token: crypto/ed25519 verify"
	verifyRatio = "token: crypto/ed25519 verify ÷ verify a token not seen before"
	signRatio   = "token: crypto/ed25519 sign ÷ mint a token"
	seenVerify  = "token: verify one seen before"
)

// tokenMeasures hold the codec against the bare primitive, on one core, a moment of
// the one and a moment of the other in turn: the package's own benchmarks do that.
func tokenMeasures(ctx context.Context, dir string) ([]measure, func(), error) {
	tokens, err := newGoTest(ctx, dir, "internal/token")
	if err != nil {
		return nil, nil, err
	}
	return []measure{
		tokens.measure(bareVerify, "ns", "^BenchmarkVerify$/^ratio$", "bare-ns"),
		tokens.measure(verifyRatio, "ratio", "^BenchmarkVerify$/^ratio$", "of-bare"),
		tokens.measure(signRatio, "ratio", "^BenchmarkSign$/^ratio$", "of-bare"),
		tokens.measure(seenVerify, "ns", "^BenchmarkVerify$/^hit$", "ns/op"),
	}, func() {}, nil
}
