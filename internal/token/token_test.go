package token_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"hodl"
	"hodl/internal/token"

	"github.com/google/go-cmp/cmp"
)

const issuer = "https://hodl.example"

// testNow is a minute into the life of goodClaims.
var testNow = time.Unix(1_800_000_060, 0)

// goodClaims uses every claim there is.
func goodClaims() *hodl.Claims {
	return &hodl.Claims{
		Issuer: issuer, Subject: "wks_01KAQ3M7T4Z0X8W2V6R5N9P1JC:usr_01KAQ3M7T4Z0X8W2V6R5N9P1JD", Audience: "claude.anthropic.com",
		ID: "rt_01KAQ3M7T4Z0X8W2V6R5N9P1JE", IssuedAt: 1_800_000_000, NotBefore: 1_800_000_000, Expires: 1_800_003_600,
		Scopes: []hodl.Scope{hodl.ReadContext, hodl.ReadReasoning, hodl.WriteNotes}, Session: "ses_8f3aZ91b",
		RedactionPolicy: "default", MaxHydrations: 5, Delegator: "usr_01KAQ3M7T4Z0X8W2V6R5N9P1JD", Nonce: "n-0S6_WzA2Mj",
		Mode:    hodl.Live,
		Actor:   &hodl.Actor{Subject: "claude.anthropic.com", Actor: &hodl.Actor{Subject: "agents.openai.com"}},
		Confirm: &hodl.Thumbprint{JKT: "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"},
	}
}

// plainClaims leaves out what may be left out.
func plainClaims() *hodl.Claims {
	c := goodClaims()
	c.Scopes, c.RedactionPolicy, c.Delegator, c.Nonce, c.Actor, c.Confirm = []hodl.Scope{hodl.ReadContext}, "", "", "", nil, nil
	return c
}

func testKey(t testing.TB, n byte) *token.Key {
	t.Helper()
	key, err := token.KeyFromSeed(bytes.Repeat([]byte{n}, token.SeedSize))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func mint(t testing.TB, key *token.Key, c *hodl.Claims) string {
	t.Helper()
	tok, err := key.Sign(c)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func TestSignThenVerify(t *testing.T) {
	key := testKey(t, 1)
	v := token.NewVerifier(issuer, testKey(t, 2).Public(), key.Public())
	quoted := goodClaims()
	quoted.Delegator, quoted.RedactionPolicy = `a "quoted" \ name`, `\"ünï<&>`
	for _, tt := range []struct {
		name   string
		claims *hodl.Claims
	}{{"every claim", goodClaims()}, {"only the required ones", plainClaims()}, {"escapes", quoted}} {
		tok := mint(t, key, tt.claims)
		for _, way := range []string{"first", "remembered"} {
			got, err := v.Verify(tok, testNow)
			if diff := cmp.Diff(tt.claims, got); err != nil || diff != "" {
				t.Errorf("%s, %s: Verify = %v (-signed +got):\n%s", tt.name, way, err, diff)
			}
		}
	}
}

// The payload is what any JSON library makes of the published names, and the
// empty optional ones are not there.
func TestPayloadIsPlainJSON(t *testing.T) {
	tok := mint(t, testKey(t, 1), plainClaims())
	text, err := base64.RawURLEncoding.DecodeString(strings.Split(tok, ".")[1])
	if err != nil {
		t.Fatal(err)
	}
	want, err := json.Marshal(plainClaims())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(text)); diff != "" {
		t.Errorf("payload (-encoding/json +ours):\n%s", diff)
	}
}

func TestHeaderIsExact(t *testing.T) {
	key := testKey(t, 1)
	header, err := base64.RawURLEncoding.DecodeString(strings.Split(mint(t, key, goodClaims()), ".")[0])
	if want := `{"alg":"EdDSA","kid":"` + key.KID() + `","typ":"resume+jwt"}`; err != nil || string(header) != want {
		t.Errorf("header = %s (%v), want %s", header, err, want)
	}
}

func TestSignRefusesWhatVerifyWould(t *testing.T) {
	key := testKey(t, 1)
	long := strings.Repeat("a", hodl.MaxAudience)
	deep := &hodl.Actor{Subject: long, Actor: &hodl.Actor{Subject: long, Actor: &hodl.Actor{Subject: long, Actor: &hodl.Actor{Subject: long}}}}
	for _, tt := range []struct {
		name   string
		change func(c *hodl.Claims)
		want   string
	}{
		{"no issuer", func(c *hodl.Claims) { c.Issuer = "" }, "iss is required"},
		{"no workspace", func(c *hodl.Claims) { c.Subject = "usr_1" }, "sub must be"},
		{"audience too long", func(c *hodl.Claims) { c.Audience = long + "a" }, "aud is 513 bytes"},
		{"line end in the audience", func(c *hodl.Claims) { c.Audience = "a\nb" }, "aud holds a control character"},
		{"invalid UTF-8", func(c *hodl.Claims) { c.Delegator = "a\xff" }, "delegator is not valid UTF-8"},
		{"jti of another kind", func(c *hodl.Claims) { c.ID = "ses_1" }, "jti must be"},
		{"session id with a dash", func(c *hodl.Claims) { c.Session = "ses_a-b" }, "session_id must be"},
		{"longer than a day", func(c *hodl.Claims) { c.Expires = c.IssuedAt + 86_401 }, "exp is more than 24h"},
		{"over before it begins", func(c *hodl.Claims) { c.NotBefore = c.Expires }, "exp must be after nbf"},
		{"valid before it was made", func(c *hodl.Claims) { c.NotBefore = c.IssuedAt - 1 }, "nbf not before iat"},
		{"before 1970", func(c *hodl.Claims) { c.IssuedAt = -1 }, "out of range"},
		{"past the year 9999", func(c *hodl.Claims) { c.IssuedAt, c.NotBefore, c.Expires = 253402300799, 253402300799, 253402300800 }, "out of range"},
		{"no scope", func(c *hodl.Claims) { c.Scopes = nil }, "scope is empty"},
		{"unknown scope", func(c *hodl.Claims) { c.Scopes = []hodl.Scope{"read:all"} }, "no scope"},
		{"scope twice", func(c *hodl.Claims) { c.Scopes = []hodl.Scope{hodl.ReadContext, hodl.ReadContext} }, "repeats"},
		{"write scope without nonce", func(c *hodl.Claims) { c.Nonce = "" }, "nonce is required"},
		{"no hydrations", func(c *hodl.Claims) { c.MaxHydrations = 0 }, "max_hydrations is 0"},
		{"too many hydrations", func(c *hodl.Claims) { c.MaxHydrations = 1001 }, "max_hydrations is 1001"},
		{"no mode", func(c *hodl.Claims) { c.Mode = "" }, "mode is"},
		{"nameless actor", func(c *hodl.Claims) { c.Actor.Actor.Subject = "" }, "act holds a sub"},
		{"five actors", func(c *hodl.Claims) { c.Actor = &hodl.Actor{Subject: "a", Actor: deep} }, "act is more than 4 deep"},
		{"thumbprint too short", func(c *hodl.Claims) { c.Confirm.JKT = "abc" }, "cnf must hold"},
		{"thumbprint with loose bits", func(c *hodl.Claims) { c.Confirm.JKT = c.Confirm.JKT[:42] + "J" }, "canonical"},
		{"over 4 KB in all", func(c *hodl.Claims) { c.Audience, c.Delegator, c.Actor = long, long, deep }, "at most 4096"},
	} {
		c := goodClaims()
		tt.change(c)
		tok, err := key.Sign(c)
		if tok != "" || hodl.CodeOf(err) != hodl.ValidationFailed || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: Sign = %q, %v; want validation_failed with %q", tt.name, tok, err, tt.want)
		}
	}
}

func TestVerifyTimes(t *testing.T) {
	key := testKey(t, 1)
	v := token.NewVerifier(issuer, key.Public())
	claims := goodClaims()
	tok := mint(t, key, claims)
	for _, tt := range []struct {
		name string
		now  time.Time
		want hodl.Code
	}{
		{"31 s before nbf", time.Unix(claims.NotBefore-31, 0), hodl.TokenNotYetValid},
		{"30 s before nbf", time.Unix(claims.NotBefore-30, 0), ""},
		{"29 s after exp", time.Unix(claims.Expires+29, 999), ""},
		{"30 s after exp", time.Unix(claims.Expires+30, 0), hodl.TokenExpired},
		{"31 s before nbf, remembered", time.Unix(claims.NotBefore-31, 0), hodl.TokenNotYetValid},
	} {
		got, err := v.Verify(tok, tt.now)
		if hodl.CodeOf(err) != tt.want {
			t.Errorf("%s: Verify = %v, want code %q", tt.name, err, tt.want)
		}
		if diff := cmp.Diff(claims, got); diff != "" {
			t.Errorf("%s: a well-signed token has its claims returned (-want +got):\n%s", tt.name, diff)
		}
		if e, ok := errors.AsType[*hodl.Error](err); err != nil && (!ok || e.Hint == "") {
			t.Errorf("%s: %v has no hint", tt.name, err)
		}
	}
}

func TestVerifyTellsGoodSignatures(t *testing.T) {
	key, other := testKey(t, 1), testKey(t, 2)
	v := token.NewVerifier("https://elsewhere.example", key.Public())
	if c, err := v.Verify(mint(t, key, goodClaims()), testNow); c == nil || hodl.CodeOf(err) != hodl.InvalidToken {
		t.Errorf("another issuer: Verify = %v, %v; want claims and invalid_token", c, err)
	}
	if c, err := v.Verify(mint(t, other, goodClaims()), testNow); c != nil || hodl.CodeOf(err) != hodl.InvalidToken {
		t.Errorf("another key: Verify = %v, %v; want no claims and invalid_token", c, err)
	}
}

func TestRememberedTokenDiesWithItsKey(t *testing.T) {
	key, next := testKey(t, 1), testKey(t, 2)
	v := token.NewVerifier(issuer, key.Public())
	tok := mint(t, key, goodClaims())
	if _, err := v.Verify(tok, testNow); err != nil {
		t.Fatal(err)
	}
	v.SetKeys(next.Public())
	if c, err := v.Verify(tok, testNow); c != nil || hodl.CodeOf(err) != hodl.InvalidToken {
		t.Errorf("after its key is gone: Verify = %v, %v", c, err)
	}
	v.SetKeys(next.Public(), key.Public())
	if _, err := v.Verify(tok, testNow); err != nil {
		t.Errorf("after its key is back: %v", err)
	}
}

func TestCallersCannotChangeWhatIsRemembered(t *testing.T) {
	key := testKey(t, 1)
	v := token.NewVerifier(issuer, key.Public())
	tok := mint(t, key, goodClaims())
	for range 3 {
		got, err := v.Verify(tok, testNow)
		if diff := cmp.Diff(goodClaims(), got); err != nil || diff != "" {
			t.Fatalf("Verify = %v (-want +got):\n%s", err, diff)
		}
		got.Scopes[0], got.Actor.Actor.Subject, got.Confirm.JKT, got.Expires = hodl.HandOff, "x", "x", 1<<40
	}
}

func TestMemoryIsBounded(t *testing.T) {
	const size = 64
	key := testKey(t, 1)
	v := token.NewSmallVerifier(issuer, size, key.Public())
	for i := range 10 * size {
		c := goodClaims()
		c.ID = hodl.TokenID(fmt.Sprintf("rt_%d", i))
		if _, err := v.Verify(mint(t, key, c), testNow); err != nil {
			t.Fatal(err)
		}
	}
	if n := token.Remembered(v); n > size {
		t.Errorf("%d tokens remembered, want at most %d", n, size)
	}
}

func TestConcurrentUse(t *testing.T) {
	key := testKey(t, 1)
	v := token.NewSmallVerifier(issuer, 32, key.Public())
	var tokens []string
	for i := range 64 {
		c := goodClaims()
		c.ID = hodl.TokenID(fmt.Sprintf("rt_%d", i))
		tokens = append(tokens, mint(t, key, c))
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, tok := range tokens {
				if _, err := v.Verify(tok, testNow); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Go(func() {
		for range 100 {
			v.SetKeys(key.Public(), testKey(t, 2).Public())
		}
	})
	wg.Wait()
}

// The key and its thumbprint are RFC 8037's example (appendix A.1–A.3).
func TestThumbprintKnownAnswer(t *testing.T) {
	seed, _ := hex.DecodeString("9d61b19deffd5a60ba844af492ec2cc4" + "4449c5697b326919703bac031cae7f60")
	key, err := token.KeyFromSeed(seed)
	if err != nil {
		t.Fatal(err)
	}
	if want := "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"; key.KID() != want {
		t.Errorf("KID = %s, want %s", key.KID(), want)
	}
	want := `{"keys":[{"alg":"EdDSA","crv":"Ed25519","kid":"kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k","kty":"OKP","use":"sig",` +
		`"x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}`
	if got := string(token.JWKS([]*token.PublicKey{key.Public()})); got != want {
		t.Errorf("JWKS = %s, want %s", got, want)
	}
	if got := string(token.JWKS(nil)); got != `{"keys":[]}` {
		t.Errorf("JWKS of no keys = %s", got)
	}
}

func TestKeySurvivesStorage(t *testing.T) {
	key, err := token.GenerateKey(bytes.NewReader(bytes.Repeat([]byte{7}, 64)))
	if err != nil {
		t.Fatal(err)
	}
	again, err := token.KeyFromSeed(key.Seed())
	if err != nil || again.KID() != key.KID() {
		t.Errorf("KeyFromSeed(Seed()) = %v, %v; want %s", again, err, key.KID())
	}
	public, err := token.NewPublicKey(key.Public().Bytes())
	if err != nil || public.KID() != key.KID() {
		t.Errorf("NewPublicKey(Bytes()) = %v, %v; want %s", public, err, key.KID())
	}
	if _, err := token.GenerateKey(bytes.NewReader(make([]byte, 31))); err == nil {
		t.Error("GenerateKey with 31 random bytes succeeded")
	}
	if _, err := token.KeyFromSeed(make([]byte, 33)); err == nil {
		t.Error("KeyFromSeed with 33 bytes succeeded")
	}
	if _, err := token.NewPublicKey(make([]byte, 31)); err == nil {
		t.Error("NewPublicKey with 31 bytes succeeded")
	}
}

func TestPrintingAKeyShowsNoSecret(t *testing.T) {
	key := testKey(t, 'S') // the seed is SSSS…, 83 in decimal and 53 in hex
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("key", slog.Any("pointer", key), slog.Any("value", *key))
	asJSON, err := json.Marshal(key) //nolint:staticcheck // that nothing of it is exported is what this tests
	if err != nil {
		t.Fatal(err)
	}
	shown := log.String() + string(asJSON) + fmt.Sprintf("%v %+v %#v %s %v %+v %#v", key, key, key, key, *key, *key, *key)
	for _, secret := range []string{"SSSS", "83 83", "0x53", "5353"} {
		if strings.Contains(shown, secret) {
			t.Errorf("printing a key shows %q: %s", secret, shown)
		}
	}
}
