package tokentest

import (
	"encoding/base64"
	"math/big"
	"slices"
	"strings"
)

// alphabet is base64url's, in the order of its digits.
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// loosen sets the lowest unused bit of the last digit of a segment, which most
// decoders ignore.
func loosen(segment string) string {
	last := len(segment) - 1
	return segment[:last] + string(alphabet[strings.IndexByte(alphabet, segment[last])|1])
}

// Insertions puts what base64url does not have, and what decoders skip, at the
// places where it is most often missed.
func Insertions(segment string) map[string]string {
	out := map[string]string{}
	for name, s := range map[string]string{"a line end": "\n", "a CR": "\r", "a CR and a line end": "\r\n", "a space": " ", "four spaces": "    ", "a tab": "\t", "a NUL": "\x00", "padding": "=", "double padding": "==", "a full stop": ".", "?": "?", "####": "####", "%41": "%41", "é": "é", "BOM": "\ufeff", "a comma": ","} {
		out[name+" before"] = s + segment
		out[name+" inside"] = segment[:len(segment)/2] + s + segment[len(segment)/2:]
		out[name+" after"] = segment + s
	}
	return out
}

// encodings writes the segments in base64 that is not canonical base64url. The
// variants come with the good signature, as an attacker would send them, and
// with one over the very bytes sent.
func (f *forge) encodings() {
	for name, s := range Insertions(f.h) {
		f.forged("encoding: "+name+" the header", s+"."+f.p+"."+f.s)
		f.signed("encoding: "+name+" the header, signed", f.Close(s+"."+f.p))
	}
	for name, s := range Insertions(f.p) {
		f.forged("encoding: "+name+" the payload", f.h+"."+s+"."+f.s)
		f.signed("encoding: "+name+" the payload, signed", f.Close(f.h+"."+s))
	}
	for name, s := range Insertions(f.s) {
		f.signed("encoding: "+name+" the signature", f.h+"."+f.p+"."+s)
	}
	f.signed("encoding: loose bits in the signature", f.h+"."+f.p+"."+loosen(f.s))
	if len(f.p)%4 == 0 {
		panic("tokentest: the good token's payload leaves no bits unused; make a claim a byte longer")
	}
	f.forged("encoding: loose bits in the payload", f.h+"."+loosen(f.p)+"."+f.s)
	f.signed("encoding: loose bits in the payload, signed", f.Close(f.h+"."+loosen(f.p)))
	f.signed("encoding: standard alphabet in the signature", f.h+"."+f.p+"."+f.standard())
	f.forged("encoding: hex", f.h+"."+f.p+"."+strings.Repeat("ab", 43))
	f.signed("encoding: header in padded base64", f.Close(base64.URLEncoding.EncodeToString([]byte(f.header+" "))+"."+f.p))
	f.signed("encoding: payload as plain text", f.Close(f.h+"."+strings.ReplaceAll(f.payload, ".", "")))
	f.signed("encoding: percent-encoded dots", strings.ReplaceAll(f.good, ".", "%2E"))
	f.signed("encoding: payload encoded twice", f.Close(f.h+"."+Encode(f.p)))
	f.forged("encoding: letter case swapped", strings.Map(swapCase, f.good))
	f.signed("encoding: quoted", `"`+f.good+`"`)
	f.signed("encoding: with its scheme", "Bearer "+f.good)
	f.signed("encoding: in angle brackets", "<"+f.good+">")
}

// standard returns a good signature in base64's standard alphabet; when it has
// neither of the two letters that differ, with one of them appended.
func (f *forge) standard() string {
	s := strings.NewReplacer("-", "+", "_", "/").Replace(f.s)
	if s == f.s {
		s += "+"
	}
	return s
}

func swapCase(r rune) rune {
	if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
		return r ^ 0x20
	}
	return r
}

// segments leaves segments out, adds some, swaps them and cuts them short.
func (f *forge) segments() {
	for name, token := range map[string]string{
		"nothing": "", "two full stops": "..", "one full stop": ".", "only full stops": strings.Repeat(".", 4000), "header alone": f.h, "payload alone": f.p, "no signature": f.h + "." + f.p + ".", "no signature and no full stop": f.h + "." + f.p,
		"no payload": f.h + ".." + f.s, "no header": "." + f.p + "." + f.s, "payload and signature": f.p + "." + f.s, "header and signature": f.h + "." + f.s, "payload and full stops": "." + f.p + ".",
		"payload first": f.p + "." + f.h + "." + f.s, "signature first": f.s + "." + f.h + "." + f.p, "header twice": f.h + "." + f.h + "." + f.p + "." + f.s, "an empty fourth": f.good + ".", "a fourth": f.good + ".foo", "an empty one first": "." + f.good,
		"five, as a JWE": f.good + ".AAAA.AAAA", "the token twice": f.good + "." + f.good, "two tokens and a space": f.good + " " + f.good, "two tokens and a comma": f.good + "," + f.good, "cut by one": f.good[:len(f.good)-1], "cut in half": f.good[:len(f.good)/2],
		"one letter more": f.good + "A", "4 KB of A": strings.Repeat("A", 4097), "a megabyte": f.good + strings.Repeat("A", 1<<20), "another header of the right length": strings.Repeat("A", len(f.h)) + "." + f.p + "." + f.s,
		"general JSON":   `{"payload":"` + f.p + `","signatures":[{"protected":"` + f.h + `","signature":"` + f.s + `"}]}`,
		"flattened JSON": `{"payload":"` + f.p + `","protected":"` + f.h + `","signature":"` + f.s + `"}`,
	} {
		f.forged("segments: "+name, token)
	}
}

// Order is the order of Ed25519's base point, L (RFC 8032 §5.1).
var Order, _ = new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)

// SmallPoints are the points of small order, which some verifiers let pass with
// any message (their encodings, RFC 8032 §5.1.2; two are not canonical).
var SmallPoints = [][]byte{
	little(0), little(1), field(-1), field(0), field(1),
	eighth(false, 0), eighth(false, 1), eighth(true, 0), eighth(true, 1),
}

// field returns 2^255 - 19 + n.
func field(n int64) []byte {
	p := new(big.Int).Lsh(big.NewInt(1), 255)
	return bytesOf(p.Add(p, big.NewInt(n-19)))
}

func little(n int64) []byte { return bytesOf(big.NewInt(n)) }

// eighth returns one of the four points of order 8: its y negated or not, its
// sign bit as asked.
func eighth(negated bool, sign byte) []byte {
	y, _ := new(big.Int).SetString("7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd83d3d706a17c7", 16)
	if negated {
		y.Sub(number(field(0)), y)
	}
	b := bytesOf(y)
	b[31] |= sign << 7
	return b
}

// bytesOf returns n in 32 bytes, little end first.
func bytesOf(n *big.Int) []byte {
	b := n.FillBytes(make([]byte, 32))
	slices.Reverse(b)
	return b
}

// signatures keeps what is signed and changes the signature.
func (f *forge) signatures() {
	r, s := f.signature[:32], f.signature[32:]
	put := func(name string, signature ...[]byte) {
		f.forged("signature: "+name, f.h+"."+f.p+"."+Encode(slices.Concat(signature...)))
	}
	scalar := bytesOf(add(s, Order))
	put("S plus L", r, scalar)
	put("S plus 2L", r, bytesOf(add(scalar, Order)))
	put("S negated", r, bytesOf(new(big.Int).Sub(Order, number(s))))
	put("S zero", r, little(0))
	put("S of L", r, bytesOf(Order))
	put("S of ones", r, ones())
	put("R of ones", ones(), s)
	put("all zero", make([]byte, 64))
	put("all ones", ones(), ones())
	put("halves swapped", s, r)
	put("bytes reversed", reversed(f.signature))
	put("R sign flipped", flip(r, 255), s)
	put("first half alone", r)
	put("63 bytes", f.signature[:63])
	put("65 bytes", f.signature, []byte{0})
	put("a zero in front", []byte{0}, f.signature)
	put("twice", f.signature, f.signature)
	put("as a DER octet string", []byte{4, 64}, f.signature)
	put("as a DER sequence", []byte{0x30, 0x44, 2, 32}, r, []byte{2, 32}, s)
	put("with the message, as NaCl", f.signature, []byte(f.h+"."+f.p))
	for i, point := range SmallPoints {
		put("small R "+string(rune('0'+i))+" with S", point, s)
		put("small R "+string(rune('0'+i))+" with S zero", point, little(0))
	}
	for _, bit := range []int{0, 7, 128, 255, 256, 383, 507, 508, 509, 510, 511} {
		put("bit flipped "+big.NewInt(int64(bit)).String(), flip(f.signature, bit))
	}
	f.transplants(put)
}

// transplants takes the key's own signatures over something else.
func (f *forge) transplants(put func(string, ...[]byte)) {
	for name, message := range map[string]string{
		"the payload alone": f.p, "the decoded payload": f.payload, "the segments without a full stop": f.h + f.p, "the decoded texts": f.header + "." + f.payload, "a full stop more": f.h + "." + f.p + ".", "nothing": "", "another session": f.h + "." + Encode(replace(f.payload, f.value("session_id"), `"ses_other"`)),
	} {
		put("over "+name, f.Sign([]byte(message)))
	}
	for name, change := range map[string][2]string{
		"a later exp": {f.value("exp"), "1800007200"}, "another session": {f.value("session_id"), `"ses_other"`}, "another user": {f.value("sub"), `"wks_1:usr_1"`}, "more hydrations": {f.member("max_hydrations"), `"max_hydrations":1000`}, "no sender constraint": {f.payload[strings.Index(f.payload, `,"cnf":`):], "}"},
	} {
		f.forged("signature: kept under "+name, f.h+"."+Encode(replace(f.payload, change[0], change[1]))+"."+f.s)
	}
}

func ones() []byte { return slices.Repeat([]byte{0xff}, 32) }

func number(b []byte) *big.Int { return new(big.Int).SetBytes(reversed(b)) }

func add(b []byte, n *big.Int) *big.Int { return new(big.Int).Add(number(b), n) }

func reversed(b []byte) []byte {
	out := slices.Clone(b)
	slices.Reverse(out)
	return out
}

func flip(b []byte, bit int) []byte {
	out := slices.Clone(b)
	out[bit/8] ^= 1 << (bit % 8)
	return out
}
