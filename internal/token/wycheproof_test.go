package token_test

import (
	"crypto"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"hodl"
	"hodl/internal/token"
	"hodl/internal/token/tokentest"
)

// vectors is what the two Wycheproof files have in common.
type vectors struct {
	NumberOfTests int
	TestGroups    []struct {
		PublicKey struct{ PK string }
		Tests     []vector
	}
}

type vector struct {
	ID       int `json:"tcId"`
	Comment  string
	Flags    []string
	Result   string
	Msg, Sig string
	JWS      string
}

func readVectors(t *testing.T, name string, want int) vectors {
	t.Helper()
	raw, err := os.ReadFile("testdata/wycheproof/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, g := range v.TestGroups {
		n += len(g.Tests)
	}
	if n != want || v.NumberOfTests != want {
		t.Fatalf("%s holds %d tests and says %d, want %d", name, n, v.NumberOfTests, want)
	}
	return v
}

// The primitive behind Verify is the standard library's; this shows that it
// agrees with every vector on the toolchain in use.
func TestWycheproofEd25519(t *testing.T) {
	for _, g := range readVectors(t, "ed25519_test.json", 151).TestGroups {
		public, err := hex.DecodeString(g.PublicKey.PK)
		if err != nil || len(public) != ed25519.PublicKeySize {
			t.Fatalf("public key %q: %v", g.PublicKey.PK, err)
		}
		for _, c := range g.Tests {
			message, _ := hex.DecodeString(c.Msg)
			signature, _ := hex.DecodeString(c.Sig)
			if got, want := ed25519.Verify(public, message, signature), c.Result == "valid"; got != want {
				t.Errorf("test %d (%s): Verify = %t, want %t", c.ID, c.Comment, got, want)
			}
		}
	}
}

// None of the file's tokens is EdDSA, so all are to be refused, the valid ones
// too.
func TestWycheproofTokensAreRefused(t *testing.T) {
	key := testKey(t, 1)
	v := token.NewVerifier(issuer, key.Public())
	good := mint(t, key, goodClaims())
	for _, g := range readVectors(t, "json_web_signature_test.json", 401).TestGroups {
		for _, c := range g.Tests {
			refused(t, v, c.Comment, good, c.JWS)
		}
	}
}

// A mutation is one of Wycheproof's ways to spoil a JWS, applied to ours. The
// names tell which of the file's tests it stands for.
type mutation struct {
	tests  string // regular expression over comments
	mutate func(m *mutant) []string
}

// A mutant is the good token taken apart, and the test it is mutated after.
type mutant struct {
	tokentest.Signer
	good, h, p, s string
	header        string
	signature     []byte
	private       ed25519.PrivateKey
	other         tokentest.Signer // a key the verifier does not serve
	after         vector
}

// with returns the token with another signature.
func (m *mutant) with(signature []byte) string {
	return m.h + "." + m.p + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// renamed returns the token with another alg, signed and not.
func (m *mutant) renamed(algs ...string) (out []string) {
	for _, alg := range algs {
		h := tokentest.Encode(strings.Replace(m.header, "EdDSA", alg, 1))
		out = append(out, m.Close(h+"."+m.p), h+"."+m.p+"."+m.s, h+"."+m.p+".")
	}
	return out
}

// transplanted puts the foreign signature of the test in, and what of it fits.
func (m *mutant) transplanted() []string {
	parts := strings.Split(m.after.JWS, ".")
	foreign, err := base64.RawURLEncoding.DecodeString(parts[len(parts)-1])
	if err != nil {
		return nil
	}
	fitted := make([]byte, ed25519.SignatureSize)
	copy(fitted, foreign)
	return []string{m.with(foreign), m.with(fitted), m.with(append(fitted, m.signature...)), m.with(append(m.signature[:32:32], fitted[:32]...))}
}

// Every mutation class of the file, re-applied to tokens our own key signed: each
// mutant is refused, and its unmutated twin passes each time. A class is applied
// in full for the first test it stands for; each test's foreign signature always.
func TestWycheproofMutationsOfOurTokens(t *testing.T) {
	key := testKey(t, 1)
	v := token.NewVerifier(issuer, key.Public())
	used, mutants := map[string]bool{}, 0
	for _, g := range readVectors(t, "json_web_signature_test.json", 401).TestGroups {
		for _, c := range g.Tests {
			if c.Result == "valid" && !oddButValid.MatchString(c.Comment) {
				continue
			}
			m := newMutant(t, key, c)
			tokens := m.transplanted()
			classes := 0
			for _, k := range mutations {
				if regexp.MustCompile(`^(` + k.tests + `)$`).MatchString(c.Comment) {
					classes++
					if !used[k.tests] {
						used[k.tests] = true
						tokens = append(tokens, k.mutate(m)...)
					}
				}
			}
			if classes == 0 {
				t.Errorf("test %d: no mutation stands for %q", c.ID, c.Comment)
			}
			for _, hostile := range tokens {
				refused(t, v, c.Comment, m.good, hostile)
			}
			mutants += len(tokens)
		}
	}
	for _, k := range mutations {
		if !used[k.tests] {
			t.Errorf("mutation %q stands for no test", k.tests)
		}
	}
	t.Logf("%d mutants, all refused", mutants)
}

// oddButValid are tests the file lets pass and our profile must not.
var oddButValid = regexp.MustCompile(`^(InvalidCharacterInserted.*|Valid.*InJsonHeader)$`)

func newMutant(t *testing.T, key *token.Key, after vector) *mutant {
	t.Helper()
	claims := goodClaims()
	claims.ID = hodl.TokenID("rt_" + hex.EncodeToString([]byte{byte(after.ID >> 8), byte(after.ID)}))
	m := &mutant{Signer: signer(key), good: mint(t, key, claims), private: ed25519.NewKeyFromSeed(key.Seed()), other: signer(testKey(t, 9)), after: after}
	m.h, m.p, m.s = tokentest.Split(m.good)
	header, _ := base64.RawURLEncoding.DecodeString(m.h)
	m.header = string(header)
	m.signature, _ = base64.RawURLEncoding.DecodeString(m.s)
	return m
}

// variants signs other digests of the message than Ed25519's own, and in the
// variants of RFC 8032 §5.1 that are not ours: prehashed, and with a context.
func (m *mutant) variants() (out []string) {
	message := []byte(m.h + "." + m.p)
	long, short := sha512.Sum512(message), sha256.Sum256(message)
	for _, o := range []struct {
		digest  []byte
		options ed25519.Options
	}{
		{long[:], ed25519.Options{Hash: crypto.SHA512}},
		{long[:], ed25519.Options{Hash: crypto.SHA512, Context: "hodl"}},
		{message, ed25519.Options{Context: "resume+jwt"}},
		{long[:], ed25519.Options{}},
		{short[:], ed25519.Options{}},
	} {
		signature, err := m.private.Sign(nil, o.digest, &o.options)
		if err != nil {
			panic(err)
		}
		out = append(out, m.with(signature))
	}
	return out
}
