package tokentest

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/pem"
	"fmt"
	"hash"
	"strings"
)

// headers changes what the header says: the algorithm, the key, the type, and
// what RFC 7515 §4.1 lets an attacker point to.
func (f *forge) headers() {
	f.algorithms()
	f.confusions()
	kid := `"kid":"` + f.KID + `"`
	jwk := `{"crv":"Ed25519","kty":"OKP","x":"` + Encode(f.Public) + `"}`
	for name, extra := range map[string]string{
		"jwk": `"jwk":` + jwk, "jku": `"jku":"https://attacker.example/jwks.json"`, "x5u": `"x5u":"https://attacker.example/cert.pem"`,
		"x5c": `"x5c":["MIIB"]`, "x5t": `"x5t":"AAAA"`, "x5t#S256": `"x5t#S256":"AAAA"`,
		"crit unknown": `"crit":["hodl"],"hodl":true`, "crit empty": `"crit":[]`, "crit exp": `"crit":["exp"],"exp":1`,
		"b64 false": `"b64":false,"crit":["b64"]`, "b64 false without crit": `"b64":false`, "b64 true": `"b64":true,"crit":["b64"]`,
		"cty": `"cty":"JWT"`, "zip": `"zip":"DEF"`, "enc": `"enc":"A256GCM"`, "epk": `"epk":` + jwk, "nonce": `"nonce":"x"`, "url": `"url":"https://attacker.example"`,
		"iss": `"iss":"https://attacker.example"`, "second alg": `"alg":"none"`, "second kid": `"kid":"other"`, "second typ": `"typ":"JWT"`,
		"alg in capitals too": `"ALG":"none"`, "unknown member": `"x":1`,
	} {
		f.head(name+" appended", strings.TrimSuffix(f.header, "}")+","+extra+"}")
		f.head(name+" put first", "{"+extra+","+strings.TrimPrefix(f.header, "{"))
	}
	for name, id := range map[string]string{
		"path": "../../../../dev/null", "query": "' UNION SELECT 'AAAA", "command": "key;sleep 5", "empty": "", "NUL": `x\u0000`,
		"address": "https://attacker.example/key", "prefix": f.KID[:42], "longer": f.KID + "A", "capitals": strings.ToUpper(f.KID), "unknown": strings.Repeat("A", 43),
	} {
		f.head("kid "+name, replace(f.header, kid, `"kid":"`+id+`"`))
	}
	f.head("kid a number", replace(f.header, kid, `"kid":1`))
	f.head("kid null", replace(f.header, kid, `"kid":null`))
	f.head("kid a list", replace(f.header, kid, `"kid":["`+f.KID+`"]`))
	f.head("kid absent", replace(f.header, kid+",", ""))
	f.head("kid member in capitals", replace(f.header, `"kid"`, `"KID"`))
	for _, typ := range []string{"JWT", "at+jwt", "RESUME+JWT", "application/resume+jwt", "dpop+jwt", "resume+jwt ", ""} {
		f.head(fmt.Sprintf("typ %q", typ), replace(f.header, `"resume+jwt"`, `"`+typ+`"`))
	}
	f.head("typ absent", replace(f.header, `,"typ":"resume+jwt"`, ""))
	f.headerTexts(kid)
}

// headerTexts spells the right header in another way.
func (f *forge) headerTexts(kid string) {
	f.head("in another order", `{`+kid+`,"alg":"EdDSA","typ":"resume+jwt"}`)
	f.head("with a space", replace(f.header, `"alg":`, `"alg": `))
	f.head("with a line end", f.header+"\n")
	f.head("with a line end in front", "\n"+f.header)
	f.head("with a byte order mark", "\ufeff"+f.header)
	f.head("with an escaped letter", replace(f.header, "EdDSA", `EdDS\u0041`))
	f.head("with a byte after it", f.header+"x")
	f.head("twice", f.header+f.header)
	f.head("in a list", "["+f.header+"]")
	f.head("in UTF-16", string(utf16(f.header)))
	f.head("empty object", "{}")
	f.head("null", "null")
	f.head("cut short", f.header[:len(f.header)-1])
}

func (f *forge) head(name, header string) {
	f.signed("header: "+name, f.Seal(header, f.payload))
}

// algorithms names another algorithm, with the signature right, with none, and
// with an empty third segment.
func (f *forge) algorithms() {
	for _, alg := range []string{
		"none", "None", "NONE", "nOnE", "none ", "", "Ed25519", "Ed448", "eddsa", "EDDSA", "EdDSA ",
		"HS256", "HS512", "ES256", "RS256", "PS256", "ES256K", "dir", "A128KW",
	} {
		header := replace(f.header, `"EdDSA"`, `"`+alg+`"`)
		f.head(fmt.Sprintf("alg %q", alg), header)
		f.forged(fmt.Sprintf("header: alg %q and no signature", alg), Encode(header)+"."+f.p+".")
	}
	f.head("alg null", replace(f.header, `"EdDSA"`, `null`))
	f.head("alg a list", replace(f.header, `"EdDSA"`, `["EdDSA","none"]`))
	f.head("alg absent", replace(f.header, `"alg":"EdDSA",`, ""))
	f.forged("header: alg none and two segments", Encode(`{"alg":"none"}`)+"."+f.p)
}

// confusions signs with a secret that is no secret: the public key, in each form
// it is handed out in, and what a careless server might fall back to.
func (f *forge) confusions() {
	spki := append([]byte("\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00"), f.Public...) // RFC 8410 §4
	secrets := map[string][]byte{
		"the public key": f.Public, "the public key in base64url": []byte(Encode(f.Public)), "the public key in DER": spki, "the public key in PEM": pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: spki}),
		"the kid": []byte(f.KID), "nothing": nil, "the word secret": []byte("secret"), "a zero byte": {0},
	}
	for alg, sum := range map[string]func() hash.Hash{"HS256": sha256.New, "HS512": sha512.New} {
		signed := Encode(replace(f.header, `"EdDSA"`, `"`+alg+`"`)) + "." + f.p
		for name, secret := range secrets {
			mac := hmac.New(sum, secret)
			mac.Write([]byte(signed))
			f.forged("header: "+alg+" keyed with "+name, signed+"."+Encode(mac.Sum(nil)))
		}
	}
}

// utf16 encodes ASCII text as UTF-16, big end first.
func utf16(text string) []byte {
	var out []byte
	for i := range len(text) {
		out = append(out, 0, text[i])
	}
	return out
}
