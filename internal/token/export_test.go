package token

// NewSmallVerifier returns a Verifier that remembers about size tokens.
func NewSmallVerifier(issuer string, size int, keys ...*PublicKey) *Verifier {
	return newVerifier(issuer, size, keys)
}

// Remembered counts the tokens v remembers.
func Remembered(v *Verifier) int {
	n := 0
	for i := range v.seen.shards {
		n += len(v.seen.shards[i].young) + len(v.seen.shards[i].old)
	}
	return n
}

// Payload is the text Sign puts into a token.
var Payload = appendClaims
