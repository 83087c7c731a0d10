package token_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"math/big"
	"slices"
	"strings"

	"hodl/internal/token/tokentest"
)

// one is a mutation that makes one token.
func one(f func(m *mutant) string) func(m *mutant) []string {
	return func(m *mutant) []string { return []string{f(m)} }
}

var mutations = []mutation{
	{"rejectsMissingSignature", one(func(m *mutant) string { return m.h + "." + m.p + "." })},
	{"rejectsMissingSignatureAndSeparator", one(func(m *mutant) string { return m.h + "." + m.p })},
	{"rejectsModifiedPayload", func(m *mutant) []string { return replacements(m, m.h+".", m.p, "."+m.s) }},
	{"rejectsMissingPayload", one(func(m *mutant) string { return m.h + ".." + m.s })},
	{"rejectsMissingPayloadAndSeparator", one(func(m *mutant) string { return m.h + "." + m.s })},
	{"rejectsModifiedHeader", func(m *mutant) []string { return replacements(m, "", m.h, "."+m.p+"."+m.s) }},
	{"rejectsMissingHeader", one(func(m *mutant) string { return "." + m.p + "." + m.s })},
	{"rejectsMissingHeaderAndSeparator", one(func(m *mutant) string { return m.p + "." + m.s })},
	{"rejectsMissingHeaderAndSignature", one(func(m *mutant) string { return "." + m.p + "." })},
	{"rejectsMissingHeaderSignatureAndSeparators?", one(func(m *mutant) string { return m.p })},
	{"rejectsEmptyString", one(func(*mutant) string { return "" })},
	{"rejectsExtraEmptyComponent", one(func(m *mutant) string { return m.good + "." })},
	{"rejectsExtraComponent", one(func(m *mutant) string { return m.good + ".foo" })},
	{"rejectsNoneAlgorithmAndMissingSignature|algIsNone", func(m *mutant) []string { return m.renamed("none", "None", "NONE", "nOnE") }},
	{"rejectsValidJsonSerialization", jsonSerializations},
	{"rejectsSymmetryConfusionAttacks.*", symmetric},
	{"rejectsAttackerProvidedEmbeddedJwk", embeddedKey},
	{"rejectWrongUse|rejectWrongKeyOps", wrongKey},
	{"Using[RP]S.*", func(m *mutant) []string {
		return m.renamed("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "Ed25519")
	}},

	{"rejectsModifiedSignature|modifiedSignature|EmModified|DbChanged|MaskedDbChanged|PSModified|ZeroPaddingModified", bitFlips},
	{".*[Mm]hashModified|ModifiedHash", (*mutant).variants},
	{"Salt.*", (*mutant).variants},
	{"SignatureIs(0|1|n|Nsub1|notReduced)|r?[Rr]Is.*|[RS]isTooBig|IntegerOverflow", scalars},
	{"SignatureTooLong|TrailingZeros|BufferOverflow|truncatedSignature|(app|prep)endingZerosToSignature", lengths},

	// PKCS #1 hides a hash in DER. An Ed25519 signature has neither, so each test
	// of that family spoils ours in the same manner, as if it had.
	{"(wrong|longer|removing|lonely).*|.*([Ll]ength|OverflowInLength).*", derLengths},
	{".*(Sequence|OctetString|Oid|OID|Null|NULL).*|oidWith.*|includingUndefinedTags|indefiniteLength.*", derWraps},
	{"(app|prep)end.*|.*Garbage.*|.*0's.*", func(m *mutant) []string { return append(lengths(m), derWraps(m)...) }},

	{"rejectsSpacesInMac|rejectsInvalidCharacterInsertedInMac|rejects0ReplacedbyInvalidCharacter|rejectsInvalidCharacters", func(m *mutant) []string {
		return insertions(m, m.h+"."+m.p+".", m.s, "")
	}},
	{"spacesInHeader|invalidCharactersInHeader|InvalidCharacterInsertedInHeader", func(m *mutant) []string {
		return append(insertions(m, "", m.h, "."+m.p+"."+m.s), insertions(m, "", m.h, "."+m.p)...)
	}},
	{"spacesInPayload|[Ii]nvalidCharactersInPayload|InvalidCharacterI.*Payload", func(m *mutant) []string {
		return append(insertions(m, m.h+".", m.p, "."+m.s), insertions(m, m.h+".", m.p, "")...)
	}},
	{"invalidBase64Padding", one(func(m *mutant) string { return m.good + "==" })},
	{"invalidBase64PaddingInPayload", func(m *mutant) []string {
		return []string{m.h + "." + m.p + "=." + m.s, m.h + "." + m.p + "==." + m.s, m.Close(m.h + "." + m.p + "=")}
	}},
	{"ModifiedUnusedBitsInPayload|MacOfIncorrectlyEncodedMessage", looseBits},
	{"Valid(Spaces|WhiteSpace)InJsonHeader", func(m *mutant) []string {
		spaced := tokentest.Encode(strings.ReplaceAll(m.header, `:`, ` : `))
		lined := tokentest.Encode(strings.ReplaceAll(m.header, `,`, ",\n\t"))
		return []string{m.Close(spaced + "." + m.p), m.Close(lined + "." + m.p), spaced + "." + m.p + "." + m.s}
	}},
}

// replacements changes one digit of a segment, at every tenth place and both ends.
func replacements(_ *mutant, before, segment, after string) (out []string) {
	for i := range segment {
		if i%10 != 0 && i != len(segment)-1 {
			continue
		}
		digit := "X"
		if segment[i] == 'X' {
			digit = "Y"
		}
		out = append(out, before+segment[:i]+digit+segment[i+1:]+after)
	}
	return out
}

// insertions puts into a segment what is not base64url. Without anything after
// it, the outcome is signed: as sent when the signature is what is missing.
func insertions(m *mutant, before, segment, after string) (out []string) {
	for _, s := range tokentest.Insertions(segment) {
		tok := before + s + after
		if strings.Count(tok, ".") < 2 {
			tok = m.Close(tok)
		}
		out = append(out, tok)
	}
	out = append(out, before+"?"+segment[1:]+after, before+"????"+segment[4:]+after)
	return out
}

func jsonSerializations(m *mutant) []string {
	return []string{
		`{"payload":"` + m.p + `","signatures":[{"protected":"` + m.h + `","header":{"unknown":"untrustworthy"},"signature":"` + m.s + `"}]}`,
		`{"payload":"` + m.p + `","protected":"` + m.h + `","signature":"` + m.s + `"}`,
	}
}

func symmetric(m *mutant) (out []string) {
	signed := tokentest.Encode(strings.Replace(m.header, "EdDSA", "HS256", 1)) + "." + m.p
	for _, secret := range [][]byte{m.Public, []byte(tokentest.Encode(m.Public)), []byte(m.KID)} {
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(signed))
		out = append(out, signed+"."+tokentest.Encode(mac.Sum(nil)), m.h+"."+m.p+"."+tokentest.Encode(mac.Sum(nil)))
	}
	return out
}

// embeddedKey is signed by the key it brings along, under its own name and ours.
func embeddedKey(m *mutant) (out []string) {
	jwk := `{"crv":"Ed25519","kty":"OKP","x":"` + tokentest.Encode(m.other.Public) + `"}`
	payload, _ := base64.RawURLEncoding.DecodeString(m.p)
	for _, kid := range []string{m.KID, m.other.KID} {
		header := `{"alg":"EdDSA","kid":"` + kid + `","typ":"resume+jwt","jwk":` + jwk + `}`
		out = append(out, m.other.Seal(header, string(payload)))
	}
	return out
}

// wrongKey is signed by a key that is not served, under its own name and ours.
func wrongKey(m *mutant) []string {
	own := tokentest.Encode(strings.Replace(m.header, m.KID, m.other.KID, 1))
	return []string{m.other.Close(m.h + "." + m.p), m.other.Close(own + "." + m.p), m.Close(own + "." + m.p)}
}

// bitFlips changes each bit of the signature in turn.
func bitFlips(m *mutant) (out []string) {
	for bit := range 8 * len(m.signature) {
		signature := bytes.Clone(m.signature)
		signature[bit/8] ^= 1 << (bit % 8)
		out = append(out, m.with(signature))
	}
	return out
}

// scalars puts the edge cases of both halves together: zero, one, the order of
// the group and the prime of the field with their neighbours, all ones, and the
// good halves with the order added.
func scalars(m *mutant) (out []string) {
	prime := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(19))
	halves := [][]byte{m.signature[:32], m.signature[32:], slices.Repeat([]byte{0xff}, 32)}
	for _, n := range []*big.Int{big.NewInt(0), big.NewInt(1), tokentest.Order, prime} {
		for _, by := range []int64{-1, 0, 1} {
			if edge := new(big.Int).Add(n, big.NewInt(by)); edge.Sign() >= 0 {
				halves = append(halves, littleEndian(edge))
			}
		}
	}
	for _, half := range halves[:2] {
		n := new(big.Int).SetBytes(littleEndian(new(big.Int).SetBytes(half)))
		halves = append(halves, littleEndian(n.Add(n, tokentest.Order)))
	}
	for _, r := range halves {
		for _, s := range halves {
			if signature := slices.Concat(r, s); !bytes.Equal(signature, m.signature) {
				out = append(out, m.with(signature))
			}
		}
	}
	return out
}

// littleEndian returns n modulo 2^256 in 32 bytes, the last first.
func littleEndian(n *big.Int) []byte {
	low := new(big.Int).And(n, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1)))
	b := low.FillBytes(make([]byte, 32))
	slices.Reverse(b)
	return b
}

// lengths cuts the signature short and makes it longer, at both ends.
func lengths(m *mutant) (out []string) {
	for n := range len(m.signature) {
		out = append(out, m.with(m.signature[:n]))
	}
	for _, n := range []int{1, 2, 32, 64, 192, 2000} {
		zeros := make([]byte, n)
		out = append(out, m.with(append(bytes.Clone(m.signature), zeros...)), m.with(append(zeros, m.signature...)))
	}
	padded := slices.Concat([]byte{0}, m.signature[:32], []byte{0}, m.signature[32:])
	return append(out, m.with(padded), m.with(append([]byte{0}, m.signature[:63]...)), m.with(append(m.signature[1:64:64], 0)))
}

// derWraps puts the signature, whole and in halves, into each DER type, and what
// DER forbids around it.
func derWraps(m *mutant) (out []string) {
	null := []byte{5, 0}
	for _, tag := range []byte{1, 2, 3, 4, 5, 6, 0x24, 0x30, 0x31, 0x80, 0xa0, 0xff} {
		whole := append([]byte{tag, 64}, m.signature...)
		halves := slices.Concat([]byte{tag, 68, 2, 32}, m.signature[:32], []byte{2, 32}, m.signature[32:])
		for _, der := range [][]byte{whole, halves, append(whole, null...), append(bytes.Clone(null), whole...), append(halves, 0, 0), whole[:64], whole[2:64]} {
			out = append(out, m.with(der))
		}
		out = append(out, m.with(slices.Concat([]byte{tag, 0x80}, m.signature, []byte{0, 0})), m.with([]byte{tag}), m.with([]byte{tag, 0x80}))
	}
	return out
}

// derLengths claims lengths the signature does not have.
func derLengths(m *mutant) (out []string) {
	for _, length := range [][]byte{
		{0},
		{63},
		{65},
		{0x81, 64},
		{0x82, 0, 64},
		{0x84, 0x7f, 0xff, 0xff, 0xff},
		{0x84, 0x80, 0, 0, 0},
		{0x84, 0xff, 0xff, 0xff, 0xff},
		{0x85, 1, 0, 0, 0, 64},
		{0x85, 0xff, 0xff, 0xff, 0xff, 0xff},
		{0x88, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		{0x89, 1, 0, 0, 0, 0, 0, 0, 0, 64},
		{0x80},
		{0xff},
	} {
		for _, tag := range []byte{4, 5, 6, 0x30} {
			out = append(out, m.with(slices.Concat([]byte{tag}, length, m.signature)))
		}
	}
	return out
}

// looseBits sets unused bits of the last digit: of the payload, with the
// signature kept and made again, and of the signature.
func looseBits(m *mutant) (out []string) {
	for _, p := range loosened(m.p) {
		out = append(out, m.h+"."+p+"."+m.s, m.Close(m.h+"."+p))
	}
	for _, s := range loosened(m.s) {
		out = append(out, m.h+"."+m.p+"."+s)
	}
	return append(out, m.Close(m.h+".AB"), m.h+".AB."+m.s)
}

// loosened returns the other spellings of a segment with the same bytes.
func loosened(segment string) (out []string) {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	unused := map[int]int{0: 1, 2: 16, 3: 4}[len(segment)%4]
	last := strings.IndexByte(digits, segment[len(segment)-1])
	for bits := 1; bits < unused; bits++ {
		out = append(out, segment[:len(segment)-1]+string(digits[last|bits]))
	}
	return out
}
