// Package tokentest makes tokens that a verifier of resume tokens must refuse,
// each from one good token by one change, so that what is refused is that change
// and nothing else. It is for tests alone and imports no signature: whoever uses
// it lends the key.
package tokentest

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// A Signer is a key the verifier under test trusts.
type Signer struct {
	KID    string
	Public []byte // 32 bytes
	Sign   func(message []byte) []byte
}

// A Case is one token to be refused.
type Case struct {
	Name   string
	Token  string
	Signed bool // its signature is the key's own over its first two segments, so something else is wrong
}

// Hostile returns every case there is. The good token must be signed by s and
// use every claim; Hostile panics when it cannot make a change it is meant to
// make.
func Hostile(s Signer, good string) []Case {
	f := newForge(s, good)
	f.headers()
	f.members()
	f.values()
	f.texts()
	f.encodings()
	f.segments()
	f.signatures()
	return f.cases
}

// A forge has the good token taken apart.
type forge struct {
	Signer
	good            string
	h, p, s         string // its segments
	header, payload string // the texts of the first two
	signature       []byte
	cases           []Case
}

func newForge(s Signer, good string) *forge {
	f := &forge{Signer: s, good: good}
	f.h, f.p, f.s = Split(good)
	f.header, f.payload, f.signature = string(decode(f.h)), string(decode(f.p)), decode(f.s)
	return f
}

// Split cuts a token in its three segments.
func Split(token string) (header, payload, signature string) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		panic("tokentest: not a token: " + token)
	}
	return parts[0], parts[1], parts[2]
}

// Encode is base64url without padding.
func Encode[T string | []byte](b T) string { return base64.RawURLEncoding.EncodeToString([]byte(b)) }

func decode(s string) []byte {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		panic("tokentest: " + err.Error())
	}
	return b
}

// Seal signs a header and a payload text, whatever they say.
func (s Signer) Seal(header, payload string) string {
	return s.Close(Encode(header) + "." + Encode(payload))
}

// Close appends the signature over signed, whatever it is.
func (s Signer) Close(signed string) string {
	return signed + "." + Encode(s.Sign([]byte(signed)))
}

// signed adds a token whose signature is right.
func (f *forge) signed(name, token string) { f.add(name, token, true) }

// forged adds a token whose signature is not, or which has none.
func (f *forge) forged(name, token string) { f.add(name, token, false) }

func (f *forge) add(name, token string, signed bool) {
	if token == f.good {
		panic("tokentest: " + name + " changes nothing")
	}
	f.cases = append(f.cases, Case{name, token, signed})
}

// claims adds the good claims with one place changed, signed again.
func (f *forge) claims(name, from, to string) {
	f.signed("claims: "+name, f.Seal(f.header, replace(f.payload, from, to)))
}

// replace changes the one place where from stands.
func replace(text, from, to string) string {
	if strings.Count(text, from) != 1 {
		panic(fmt.Sprintf("tokentest: %q stands %d times in %s", from, strings.Count(text, from), text))
	}
	return strings.Replace(text, from, to, 1)
}

// member returns the claim of that name as it stands in the payload, such as
// "exp":1800003600. It serves the members before scope and the plain ones after.
func (f *forge) member(name string) string {
	start := strings.Index(f.payload, `"`+name+`":`)
	if start < 0 {
		panic("tokentest: the good token has no " + name)
	}
	length := strings.IndexAny(f.payload[start:], ",}")
	return f.payload[start : start+length]
}

// value returns what stands after the colon of a member.
func (f *forge) value(name string) string {
	_, value, _ := strings.Cut(f.member(name), ":")
	return value
}

// set adds the good claims with another value of one claim.
func (f *forge) set(what, name, value string) {
	f.claims(name+" "+what, f.member(name), `"`+name+`":`+value)
}
