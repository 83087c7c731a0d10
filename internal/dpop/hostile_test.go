package dpop_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"hodl"
	"hodl/internal/dpop"
)

var (
	at      = time.Unix(1_795_000_000, 0)
	secret  = []byte("the key of the servers")
	nonces  = dpop.Nonces{Tag: tag, Tagged: func(m, t []byte) bool { return hmac.Equal(t, tag(m)[:len(t)]) }}
	p256, _ = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	other   = func() *ecdsa.PrivateKey { k, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader); return k }()
	_, edd  = func() (ed25519.PublicKey, ed25519.PrivateKey) {
		a, b, _ := ed25519.GenerateKey(rand.Reader)
		return a, b
	}()
)

func tag(message []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write(message)
	return mac.Sum(nil)
}

func b64[T string | []byte](b T) string { return base64.RawURLEncoding.EncodeToString([]byte(b)) }

func quote(s string) string { text, _ := json.Marshal(s); return string(text) }

// A forge makes a proof from texts, so that any of them can be wrong.
type forge struct {
	header, claims map[string]string // name to JSON text
	extra          string            // JSON after the claims' last member
	sign           func(text []byte) []byte
	mend           func(parts []string) string // of the parts, nil to join them
	use            dpop.Use
}

const resumeToken = "a.resume.token"

func jwkOf(k *ecdsa.PrivateKey) string {
	x, y := make([]byte, 32), make([]byte, 32)
	return fmt.Sprintf(`{"kty":"EC","crv":"P-256","x":%q,"y":%q}`, b64(k.X.FillBytes(x)), b64(k.Y.FillBytes(y)))
}

func es256(k *ecdsa.PrivateKey) func([]byte) []byte {
	return func(text []byte) []byte {
		sum := sha256.Sum256(text)
		r, s, _ := ecdsa.Sign(rand.Reader, k, sum[:])
		out := make([]byte, 64)
		r.FillBytes(out[:32])
		s.FillBytes(out[32:])
		return out
	}
}

// good is a proof with nothing wrong, and the request it is for.
func good(alg string) *forge {
	sum := sha256.Sum256([]byte(resumeToken))
	f := &forge{
		header: map[string]string{"typ": `"dpop+jwt"`, "alg": quote(alg), "jwk": jwkOf(p256)},
		claims: map[string]string{
			"jti": `"one"`, "htm": `"POST"`, "htu": `"https://hodl.example.com/v1/sessions/ses_1/hydrate"`,
			"iat": fmt.Sprint(at.Unix()), "ath": quote(b64(sum[:])), "nonce": quote(nonces.New(at)),
		},
		sign: es256(p256),
		use:  dpop.Use{Method: "POST", URLs: []string{"https://hodl.example.com/v1/sessions/ses_1/hydrate"}, Token: resumeToken, Now: at},
	}
	if alg != "ES256" {
		f.header["jwk"] = fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","x":%q}`, b64([]byte(edd.Public().(ed25519.PublicKey))))
		f.sign = func(text []byte) []byte { return ed25519.Sign(edd, text) }
	}
	var members map[string]any
	_ = json.Unmarshal([]byte(f.header["jwk"]), &members)
	key, err := hodl.ParseJWK(members)
	if err != nil {
		panic(err)
	}
	f.use.JKT = key.Thumbprint()
	return f
}

func object(members map[string]string, extra string) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		list = append(list, quote(name)+":"+members[name])
	}
	return "{" + strings.Join(list, ",") + extra + "}"
}

func (f *forge) text() string {
	head, body := b64(object(f.header, "")), b64(object(f.claims, f.extra))
	parts := []string{head, body, b64(f.sign([]byte(head + "." + body)))}
	if f.mend != nil {
		return f.mend(parts)
	}
	return strings.Join(parts, ".")
}

// accept does all a server does with a proof, but to remember it.
func (f *forge) accept() error {
	p, err := dpop.Parse(f.text())
	if err != nil {
		return err
	}
	if err := p.Check(f.use); err != nil {
		return err
	}
	if !nonces.Fresh(p.Nonce, f.use.Now) {
		return hodl.Errorf(hodl.InvalidProof, "nonce")
	}
	return nil
}

// setHeader and the like are the ways to go wrong.
func setHeader(name, text string) func(*forge) { return func(f *forge) { f.header[name] = text } }
func noHeader(name string) func(*forge)        { return func(f *forge) { delete(f.header, name) } }
func set(name, text string) func(*forge)       { return func(f *forge) { f.claims[name] = text } }
func no(name string) func(*forge)              { return func(f *forge) { delete(f.claims, name) } }
func add(text string) func(*forge)             { return func(f *forge) { f.extra = "," + text } }
func mend(m func([]string) string) func(*forge) {
	return func(f *forge) { f.mend = m }
}

// inKey changes the text of the embedded key.
func inKey(from, to string) func(*forge) {
	return func(f *forge) { f.header["jwk"] = strings.Replace(f.header["jwk"], from, to, 1) }
}

func signature(change func([]byte) []byte) func(*forge) {
	return func(f *forge) {
		sign := f.sign
		f.sign = func(text []byte) []byte { return change(sign(text)) }
	}
}

func iat(d time.Duration) func(*forge) { return set("iat", fmt.Sprint(at.Add(d).Unix())) }

// hostile is what no server may accept. Each is a good ES256 proof but for one thing.
var hostile = []struct {
	name string
	edit func(*forge)
}{
	{"typ JWT", setHeader("typ", `"JWT"`)},
	{"typ of a resume token", setHeader("typ", `"resume+jwt"`)},
	{"typ in capitals", setHeader("typ", `"DPoP+JWT"`)},
	{"no typ", noHeader("typ")},
	{"typ is a list", setHeader("typ", `["dpop+jwt"]`)},
	{"typ named in capitals", func(f *forge) { delete(f.header, "typ"); f.header["TYP"] = `"dpop+jwt"` }},
	{"alg none", setHeader("alg", `"none"`)},
	{"alg none, unsigned", func(f *forge) { f.header["alg"] = `"none"`; f.sign = func([]byte) []byte { return nil } }},
	{"alg None", setHeader("alg", `"None"`)},
	{"no alg", noHeader("alg")},
	{"alg HS256, keyed with the public key", func(f *forge) {
		f.header["alg"] = `"HS256"`
		f.sign = func(text []byte) []byte {
			mac := hmac.New(sha256.New, p256.X.Bytes())
			mac.Write(text)
			return mac.Sum(nil)
		}
	}},
	{"alg RS256", setHeader("alg", `"RS256"`)},
	{"alg ES384", setHeader("alg", `"ES384"`)},
	{"alg ES256K", setHeader("alg", `"ES256K"`)},
	{"alg EdDSA over a P-256 key", setHeader("alg", `"EdDSA"`)},
	{"alg Ed25519 over a P-256 key", setHeader("alg", `"Ed25519"`)},
	{"no jwk", noHeader("jwk")},
	{"jwk null", setHeader("jwk", `null`)},
	{"jwk empty", setHeader("jwk", `{}`)},
	{"jwk is a text", setHeader("jwk", `"key"`)},
	{"jwk private", inKey(`"kty"`, `"d":"AAAA","kty"`)},
	{"jwk symmetric", setHeader("jwk", `{"kty":"oct","k":"AAAA"}`)},
	{"jwk RSA", setHeader("jwk", `{"kty":"RSA","n":"AAAA","e":"AQAB"}`)},
	{"jwk on another curve", inKey("P-256", "P-384")},
	{"jwk off the curve", inKey(b64(p256.Y.FillBytes(make([]byte, 32))), b64(make([]byte, 32)))},
	{"jwk for encryption", inKey(`"kty"`, `"use":"enc","kty"`)},
	{"jwk of another algorithm", inKey(`"kty"`, `"alg":"ES384","kty"`)},
	{"jwk names x twice", inKey(`"kty"`, `"x":"AAAA","kty"`)},
	{"jwk padded", inKey(`","y"`, `=","y"`)},
	{"jwk of somebody else, who signed", func(f *forge) { f.header["jwk"], f.sign = jwkOf(other), es256(other) }},
	{"jwk of somebody else", setHeader("jwk", jwkOf(other))},
	{"signed by somebody else", func(f *forge) { f.sign = es256(other) }},
	{"jwk of small order", func(f *forge) {
		f.header["alg"] = `"EdDSA"`
		f.header["jwk"] = fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","x":%q}`, b64(append([]byte{1}, make([]byte, 31)...)))
		f.sign = func([]byte) []byte { return append(append([]byte{1}, make([]byte, 31)...), make([]byte, 32)...) }
	}},
	{"crit", setHeader("crit", `["exp"]`)},
	{"b64", setHeader("b64", `false`)},
	{"jku", setHeader("jku", `"https://evil.example/keys"`)},
	{"x5c", setHeader("x5c", `["AAAA"]`)},
	{"x5u", setHeader("x5u", `"https://evil.example/cert"`)},
	{"kid that climbs", setHeader("kid", `"../../dev/null"`)},
	{"alg twice", func(f *forge) { f.header["alg"] = `"none","alg":"ES256"` }},
	{"no signature", signature(func([]byte) []byte { return nil })},
	{"signature of zeros", signature(func([]byte) []byte { return make([]byte, 64) })},
	{"signature cut", signature(func(b []byte) []byte { return b[:63] })},
	{"signature longer", signature(func(b []byte) []byte { return append(b, 0) })},
	{"signature changed", signature(func(b []byte) []byte { b[40] ^= 1; return b })},
	{"signature swapped", signature(func(b []byte) []byte { return slices.Concat(b[32:], b[:32]) })},
	{"signature with s beyond the order", signature(func(b []byte) []byte {
		s := new(big.Int).Add(new(big.Int).SetBytes(b[32:]), elliptic.P256().Params().N)
		return append(b[:32:32], s.Bytes()...)
	})},
	{"signature in DER", func(f *forge) {
		f.sign = func(text []byte) []byte {
			sum := sha256.Sum256(text)
			out, _ := ecdsa.SignASN1(rand.Reader, p256, sum[:])
			return out
		}
	}},
	{"header changed after", mend(func(p []string) string { return b64(`{"typ":"dpop+jwt"}`) + "." + p[1] + "." + p[2] })},
	{"claims changed after", mend(func(p []string) string { return p[0] + "." + b64(`{"jti":"two"}`) + "." + p[2] })},
	{"two parts", mend(func(p []string) string { return p[0] + "." + p[1] })},
	{"four parts", mend(func(p []string) string { return strings.Join(p, ".") + "." })},
	{"two proofs", mend(func(p []string) string { return strings.Join(p, ".") + ", " + strings.Join(p, ".") })},
	{"padded", mend(func(p []string) string { return p[0] + "=." + p[1] + "." + p[2] })},
	{"a space before", mend(func(p []string) string { return " " + strings.Join(p, ".") })},
	{"a line end after", mend(func(p []string) string { return strings.Join(p, ".") + "\n" })},
	{"a line end within", mend(func(p []string) string { return p[0] + "." + p[1][:4] + "\r\n" + p[1][4:] + "." + p[2] })},
	{"too long", add(`"x":"` + strings.Repeat("x", 4<<10) + `"`)},
	{"nothing", mend(func([]string) string { return "" })},
	{"a JWE", mend(func(p []string) string { return strings.Join(append(p, p...)[:5], ".") })},
	{"claims are a list", mend(func(p []string) string { return p[0] + "." + b64(`[]`) + "." + p[2] })},
	{"no jti", no("jti")},
	{"jti empty", set("jti", `""`)},
	{"jti a number", set("jti", `1`)},
	{"jti too long", set("jti", quote(strings.Repeat("j", 257)))},
	{"jti twice", add(`"jti":"two"`)},
	{"jti in broken UTF-8", set("jti", "\"\xff\"")},
	{"no htm", no("htm")},
	{"another method", set("htm", `"GET"`)},
	{"the method in small letters", set("htm", `"post"`)},
	{"htm a list", set("htm", `["POST"]`)},
	{"htm under another name", func(f *forge) { delete(f.claims, "htm"); f.claims["HTM"] = `"POST"` }},
	{"no htu", no("htu")},
	{"another host", set("htu", `"https://evil.example/v1/sessions/ses_1/hydrate"`)},
	{"a host that looks alike", set("htu", `"https://hodl.example.com.evil.example/v1/sessions/ses_1/hydrate"`)},
	{"the host as a user", set("htu", `"https://hodl.example.com@evil.example/v1/sessions/ses_1/hydrate"`)},
	{"a user at the host", set("htu", `"https://me@hodl.example.com/v1/sessions/ses_1/hydrate"`)},
	{"another session", set("htu", `"https://hodl.example.com/v1/sessions/ses_2/hydrate"`)},
	{"another operation", set("htu", `"https://hodl.example.com/v1/sessions/ses_1/notes"`)},
	{"a path alone", set("htu", `"/v1/sessions/ses_1/hydrate"`)},
	{"no scheme", set("htu", `"//hodl.example.com/v1/sessions/ses_1/hydrate"`)},
	{"another scheme", set("htu", `"http://hodl.example.com/v1/sessions/ses_1/hydrate"`)},
	{"another port", set("htu", `"https://hodl.example.com:444/v1/sessions/ses_1/hydrate"`)},
	{"a path that climbs", set("htu", `"https://hodl.example.com/v1/sessions/ses_2/../ses_1/hydrate"`)},
	{"no iat", no("iat")},
	{"iat null", set("iat", `null`)},
	{"iat a text", set("iat", fmt.Sprintf(`"%d"`, at.Unix()))},
	{"iat with a fraction", set("iat", fmt.Sprintf("%d.5", at.Unix()))},
	{"iat beyond all numbers", set("iat", "99999999999999999999")},
	{"iat too old", iat(-61 * time.Second)},
	{"iat a day old", iat(-24 * time.Hour)},
	{"iat ahead", iat(31 * time.Second)},
	{"iat far ahead", set("iat", "9223372036854775807")},
	{"iat before all time", set("iat", "-9223372036854775808")},
	{"exp passed", add(fmt.Sprintf(`"exp":%d`, at.Add(-time.Minute).Unix()))},
	{"nbf to come", add(fmt.Sprintf(`"nbf":%d`, at.Add(time.Minute).Unix()))},
	{"no ath", no("ath")},
	{"ath empty", set("ath", `""`)},
	{"ath of another token", set("ath", quote(b64(make([]byte, 32))))},
	{"ath padded", func(f *forge) { f.claims["ath"] = strings.TrimSuffix(f.claims["ath"], `"`) + `="` }},
	{"ath is the token", set("ath", quote(resumeToken))},
	{"no nonce", no("nonce")},
	{"nonce empty", set("nonce", `""`)},
	{"a nonce of one's own", set("nonce", quote(b64(make([]byte, 24))))},
	{"a nonce of yesterday", set("nonce", quote(nonces.New(at.Add(-24*time.Hour))))},
	{"a nonce of tomorrow", set("nonce", quote(nonces.New(at.Add(24*time.Hour))))},
	{"a nonce with more", func(f *forge) { f.claims["nonce"] = quote(nonces.New(at) + "A") }},
}

func TestHostile(t *testing.T) {
	if len(hostile) < 60 {
		t.Fatalf("only %d hostile proofs", len(hostile))
	}
	for _, h := range hostile {
		twin, f := good("ES256"), good("ES256")
		if err := twin.accept(); err != nil {
			t.Fatalf("%s: its twin, with nothing wrong: %v", h.name, err)
		}
		h.edit(f)
		if err := f.accept(); hodl.CodeOf(err) != hodl.InvalidProof {
			t.Errorf("%s: %v", h.name, err)
		}
	}
}

// What is allowed beside the ordinary.
func TestGood(t *testing.T) {
	for _, alg := range []string{"ES256", "EdDSA", "Ed25519"} {
		for _, g := range []struct {
			name string
			edit func(*forge)
		}{
			{"as it is", func(*forge) {}},
			{"a claim of one's own", add(`"sub":"agent"`)},
			{"exp to come", add(fmt.Sprintf(`"exp":%d`, at.Add(time.Minute).Unix()))},
			{"as old as may be", iat(-60 * time.Second)},
			{"as far ahead as may be", iat(30 * time.Second)},
			{"a key that says what it is for", inKey(`"kty"`, `"use":"sig","kid":"1","kty"`)},
			{"a long jti", set("jti", quote(strings.Repeat("j", 256)))},
		} {
			f := good(alg)
			g.edit(f)
			if err := f.accept(); err != nil {
				t.Errorf("%s, %s: %v", alg, g.name, err)
			}
		}
	}
}
