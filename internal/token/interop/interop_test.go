package interop_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"hodl"
	"hodl/internal/token"
	"hodl/internal/token/tokentest"

	jose "github.com/go-jose/go-jose/v4"
	josejwt "github.com/go-jose/go-jose/v4/jwt"
	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"
	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jws"
)

const issuer = "https://hodl.example"

var now = time.Unix(1_800_000_060, 0)

// A library verifies the signature of a token with a key from our JWK set, and
// returns its payload.
type library struct {
	name   string
	verify func(tok string) ([]byte, error)
}

// libraries reads the served JWK set as each library's users would.
func libraries(t *testing.T, key *token.Key) []library {
	t.Helper()
	served := token.JWKS([]*token.PublicKey{key.Public()})
	var joseSet jose.JSONWebKeySet
	if err := json.Unmarshal(served, &joseSet); err != nil {
		t.Fatal(err)
	}
	found := joseSet.Key(key.KID())
	if len(found) != 1 || !found[0].Valid() {
		t.Fatalf("go-jose finds %d keys %s in %s", len(found), key.KID(), served)
	}
	jwxSet, err := jwk.Parse(served)
	if err != nil {
		t.Fatal(err)
	}
	public := ed25519.PublicKey(key.Public().Bytes())
	return []library{
		{"go-jose", func(tok string) ([]byte, error) {
			parsed, err := josejwt.ParseSigned(tok, []jose.SignatureAlgorithm{jose.EdDSA})
			if err != nil {
				return nil, err
			}
			var claims json.RawMessage
			return claims, parsed.Claims(found[0].Key, &claims)
		}},
		{"golang-jwt", func(tok string) ([]byte, error) {
			parser := jwt.NewParser(jwt.WithValidMethods([]string{"EdDSA"}), jwt.WithIssuer(issuer), jwt.WithAudience("claude.anthropic.com"),
				jwt.WithExpirationRequired(), jwt.WithTimeFunc(func() time.Time { return now }))
			parsed, err := parser.Parse(tok, func(*jwt.Token) (any, error) { return public, nil })
			if err != nil {
				return nil, err
			}
			return json.Marshal(parsed.Claims)
		}},
		{"jwx", func(tok string) ([]byte, error) {
			return jws.Verify([]byte(tok), jws.WithKeySet(jwxSet, jws.WithRequireKid(true)))
		}},
		{"jwx by key", func(tok string) ([]byte, error) {
			return jws.Verify([]byte(tok), jws.WithKey(jwa.EdDSA(), public))
		}},
	}
}

func claims() *hodl.Claims {
	return &hodl.Claims{
		Issuer: issuer, Subject: "wks_01KAQ3M7T4Z0X8W2V6R5N9P1JC:usr_01KAQ3M7T4Z0X8W2V6R5N9P1JD", Audience: "claude.anthropic.com",
		ID: "rt_01KAQ3M7T4Z0X8W2V6R5N9P1JE", IssuedAt: 1_800_000_000, NotBefore: 1_800_000_000, Expires: 1_800_003_600,
		Scopes: []hodl.Scope{hodl.ReadContext, hodl.ReadReasoning, hodl.WriteNotes}, Session: "ses_8f3aZ91b",
		RedactionPolicy: `a "quoted" \ ünï names`, MaxHydrations: 5, Delegator: "usr_01KAQ3M7T4Z0X8W2V6R5N9P1JD", Nonce: "n-0S6_WzA2Mj",
		Mode:    hodl.Live,
		Actor:   &hodl.Actor{Subject: "claude.anthropic.com", Actor: &hodl.Actor{Subject: "agents.openai.com"}},
		Confirm: &hodl.Thumbprint{JKT: "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"},
	}
}

func mint(t *testing.T, c *hodl.Claims) (*token.Key, string) {
	t.Helper()
	key, err := token.KeyFromSeed(bytes.Repeat([]byte{1}, token.SeedSize))
	if err != nil {
		t.Fatal(err)
	}
	tok, err := key.Sign(c)
	if err != nil {
		t.Fatal(err)
	}
	return key, tok
}

func TestOthersVerifyWhatWeMint(t *testing.T) {
	plain := claims()
	plain.Scopes, plain.RedactionPolicy, plain.Delegator, plain.Nonce, plain.Actor, plain.Confirm = []hodl.Scope{hodl.ReadContext}, "", "", "", nil, nil
	for name, want := range map[string]*hodl.Claims{"every claim": claims(), "only the required ones": plain} {
		key, tok := mint(t, want)
		for _, lib := range libraries(t, key) {
			payload, err := lib.verify(tok)
			if err != nil {
				t.Errorf("%s: %s refuses it: %v", name, lib.name, err)
				continue
			}
			var got hodl.Claims
			if err := json.Unmarshal(payload, &got); err != nil {
				t.Errorf("%s: %s returns %s: %v", name, lib.name, payload, err)
			}
			if diff := cmp.Diff(want, &got); diff != "" {
				t.Errorf("%s: %s reads other claims (-signed +read):\n%s", name, lib.name, diff)
			}
		}
	}
}

// The other way round: a token another library signs in our profile is the very
// token we would have signed.
func TestOthersSignWhatWeWould(t *testing.T) {
	key, tok := mint(t, claims())
	header, payload, _ := tokentest.Split(tok)
	text, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := jwt.SigningMethodEdDSA.Sign(header+"."+payload, ed25519.NewKeyFromSeed(key.Seed()))
	if got := header + "." + payload + "." + base64.RawURLEncoding.EncodeToString(signed); err != nil || got != tok {
		t.Errorf("golang-jwt signs %s (%v), want %s", got, err, tok)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: jose.JSONWebKey{Key: ed25519.NewKeyFromSeed(key.Seed()), KeyID: key.KID()}},
		(&jose.SignerOptions{}).WithType("resume+jwt"))
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := signer.Sign(text)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := sealed.CompactSerialize(); err != nil || got != tok {
		t.Errorf("go-jose signs %s (%v), want %s", got, err, tok)
	}
}

// Over the hostile tokens and every change of one letter of a good one, we accept
// nothing that another library refuses, for its signature or else; in fact
// nothing at all, though each of them accepts the good token and some more.
func TestWeAcceptNothingOthersRefuse(t *testing.T) {
	key, good := mint(t, claims())
	private := ed25519.NewKeyFromSeed(key.Seed())
	tokens := map[string]string{}
	forger := tokentest.Signer{KID: key.KID(), Public: key.Public().Bytes(), Sign: func(m []byte) []byte { return ed25519.Sign(private, m) }}
	for _, c := range tokentest.Hostile(forger, good) {
		tokens[c.Name] = c.Token
	}
	for i := range good {
		for _, with := range []string{"A", "_", ".", "=", "\n", ""} {
			if with != good[i:i+1] {
				tokens["letter changed: "+good[:i]+"|"+with] = good[:i] + with + good[i+1:]
			}
		}
	}
	v, libs := token.NewVerifier(issuer, key.Public()), libraries(t, key)
	if _, err := v.Verify(good, now); err != nil {
		t.Fatalf("the good token: %v", err)
	}
	accepted := make([]int, len(libs))
	for name, tok := range tokens {
		_, err := v.Verify(tok, now)
		if hodl.CodeOf(err) != hodl.InvalidToken {
			t.Errorf("%s: Verify = %v, want %s", name, err, hodl.InvalidToken)
		}
		for i, lib := range libs {
			_, refusal := safely(lib, tok)
			if refusal == nil {
				accepted[i]++
			}
			if err == nil && refusal != nil {
				t.Errorf("%s: we accept it, %s says %v", name, lib.name, refusal)
			}
		}
	}
	for i, lib := range libs {
		t.Logf("of %d hostile tokens %s accepts %d; asked to check the signature, and by golang-jwt also time, issuer and audience", len(tokens), lib.name, accepted[i])
	}
}

// safely takes a library's panic on a hostile token for a refusal.
func safely(lib library, tok string) (payload []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("panic")
		}
	}()
	return lib.verify(tok)
}
