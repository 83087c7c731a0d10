package httpapi_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// A holder has the key of an audience and a token bound to it.
type holder struct {
	*world
	key      ed25519.PrivateKey
	audience string // the audience's id
	token    string
	nonce    string
	serial   int
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (h *holder) jwk() string {
	return fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","x":%q}`, b64(h.key.Public().(ed25519.PublicKey)))
}

// newHolder makes a world with a session, an audience with a key and a token for it.
func newHolder(t *testing.T, scopes string) *holder {
	t.Helper()
	seed := sha256.Sum256([]byte(t.Name()))
	h := &holder{world: newWorld(t), key: ed25519.NewKeyFromSeed(seed[:])}
	h.capture("ses_bound")
	h.audience = h.ok(live, "POST", "/v1/audiences", `{"name":"agent.example.com","jwk":`+h.jwk()+`}`).text("id")
	h.token = h.world.token("ses_bound", scopes, `"audience":"agent.example.com"`)
	h.nonce = h.resume.Nonce()
	return h
}

// proof is one for a request; members of more replace or add claims.
func (h *holder) proof(method, url string, more ...any) string {
	h.serial++
	sum := sha256.Sum256([]byte(h.token))
	claims := object{"jti": fmt.Sprint("proof ", h.serial), "htm": method, "htu": url, "iat": h.Now().Unix(), "ath": b64(sum[:]), "nonce": h.nonce}
	for i := 0; i < len(more); i += 2 {
		claims[more[i].(string)] = more[i+1]
	}
	body, err := json.Marshal(claims)
	h.must(err)
	text := b64([]byte(`{"typ":"dpop+jwt","alg":"EdDSA","jwk":`+h.jwk()+`}`)) + "." + b64(body)
	return text + "." + b64(ed25519.Sign(h.key, []byte(text)))
}

// prove sends a request with a proof.
func (h *holder) prove(method, path, body, proof string) *answer {
	h.t.Helper()
	return h.call(nobody, method, path, body, "Authorization", "DPoP "+h.token, "DPoP", proof)
}

const boundPath = "/v1/sessions/ses_bound/hydrate"

func TestProofOfPossession(t *testing.T) {
	h := newHolder(t, "read:context write:notes write:next_step")
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(h.token, ".")[1])
	h.must(err)
	if !strings.Contains(string(payload), `"cnf":{"jkt":"`) {
		t.Fatalf("the token is not bound: %s", payload)
	}
	for _, r := range tokenRoutes {
		if strings.HasSuffix(r.path, "/exchange") {
			continue // below
		}
		path := strings.ReplaceAll(r.path, "{ses}", "ses_bound")
		proof := h.proof(r.method, issuer+path)
		a := h.prove(r.method, path, r.body, proof)
		if a.status != 200 || a.header.Get("DPoP-Nonce") == "" {
			t.Errorf("%s %s: %s", r.method, path, a)
		}
		again := h.prove(r.method, path, r.body, proof)
		if again.status != 401 || again.code() != "invalid_proof" || !strings.Contains(again.String(), "used before") || strings.Contains(again.String(), "canary") {
			t.Errorf("%s %s again: %s", r.method, path, again)
		}
	}
	for _, rec := range append(h.records("hydrate"), h.records("write")...) {
		if rec["bearer"] != nil {
			t.Errorf("a proven use is marked bearer: %v", rec)
		}
	}
}

func TestProofIsDemanded(t *testing.T) {
	h := newHolder(t, "read:context")
	h.run([]scenario{
		{name: "as a bearer", as: h.token, method: "POST", path: boundPath, status: 401, code: "proof_required", hasNot: []string{"canary"}},
		{name: "as a bearer, with a proof", as: h.token, method: "POST", path: boundPath, headers: []string{"DPoP", h.proof("POST", issuer+boundPath)}, status: 401, code: "proof_required"},
		{name: "without a proof", method: "POST", path: boundPath, headers: []string{"Authorization", "DPoP " + h.token}, status: 401, code: "proof_required"},
	})
	a := h.call(h.token, "POST", boundPath, "")
	if got := a.header.Get("WWW-Authenticate"); got != `DPoP realm="hodl", error="invalid_token", algs="ES256 EdDSA Ed25519"` {
		t.Errorf("the challenge is %s", got)
	}
	if got := h.records("denied"); len(got) != 1 || got[0]["code"] != "proof_required" {
		t.Errorf("the denials are %v", got)
	}
}

// The first proof has no nonce; that is how it gets one, and no denial.
func TestProofNonce(t *testing.T) {
	h := newHolder(t, "read:context")
	h.nonce = ""
	a := h.prove("POST", boundPath, "", h.proof("POST", issuer+boundPath))
	if a.status != 401 || a.code() != "invalid_proof" || a.header.Get("WWW-Authenticate") != `DPoP realm="hodl", error="use_dpop_nonce", algs="ES256 EdDSA Ed25519"` {
		t.Errorf("without a nonce: %s, %v", a, a.header)
	}
	if got := len(a.header.Values("DPoP-Nonce")); got != 1 {
		t.Errorf("the answer has %d nonces", got)
	}
	if got := h.records("denied"); len(got) != 0 {
		t.Errorf("it was put on record: %v", got)
	}
	h.nonce = a.header.Get("DPoP-Nonce")
	if a := h.prove("POST", boundPath, "", h.proof("POST", issuer+boundPath)); a.status != 200 {
		t.Errorf("with the nonce: %s", a)
	}
}

func TestProofIsForItsRequest(t *testing.T) {
	h := newHolder(t, "read:context")
	for name, proof := range map[string]string{
		"another method":         h.proof("GET", issuer+boundPath),
		"another session":        h.proof("POST", issuer+"/v1/sessions/ses_other/hydrate"),
		"the name of the socket": h.proof("POST", h.url+boundPath),
		"another token":          h.proof("POST", issuer+boundPath, "ath", b64(make([]byte, 32))),
		"an hour ago":            h.proof("POST", issuer+boundPath, "iat", h.Now().Unix()-3600),
		"nonsense":               "a.b.c",
	} {
		if a := h.prove("POST", boundPath, "", proof); a.status != 401 || a.code() != "invalid_proof" || strings.Contains(a.String(), "canary") {
			t.Errorf("%s: %s", name, a)
		}
	}
	if got := h.records("denied"); len(got) != 1 || got[0]["code"] != "invalid_proof" {
		t.Errorf("the denials are %v", got)
	}
	for name, path := range map[string]string{"the alias by its name": "/api/v1", "the alias by the other": "/v1"} {
		if a := h.prove("POST", "/api"+boundPath, "", h.proof("POST", issuer+path+strings.TrimPrefix(boundPath, "/v1"))); a.status != 200 {
			t.Errorf("%s: %s", name, a)
		}
	}
	if a := h.prove("POST", boundPath+"?format=json", "", h.proof("POST", issuer+boundPath)); a.status != 200 {
		t.Errorf("with a query: %s", a)
	}
	r, err := http.NewRequestWithContext(t.Context(), "POST", h.url+boundPath, nil)
	h.must(err)
	r.Header = http.Header{"Authorization": {"DPoP " + h.token}, "Dpop": {h.proof("POST", issuer+boundPath), h.proof("POST", issuer+boundPath)}}
	if a := h.send(r); a.code() != "invalid_proof" {
		t.Errorf("with two proofs: %s", a)
	}
	r.Header.Set("DPoP", h.proof("POST", "https://evil.example"+boundPath))
	r.Host = "evil.example"
	if a := h.send(r); a.code() != "invalid_proof" {
		t.Errorf("with another Host: %s", a)
	}
}

// The key an audience has now decides, for tokens that are out already too.
func TestKeyOfAnAudienceChanges(t *testing.T) {
	h := newHolder(t, "read:context")
	hydrate := func() string { return h.prove("POST", boundPath, "", h.proof("POST", issuer+boundPath)).code() }
	h.ok(live, "PATCH", "/v1/audiences/"+h.audience, `{"jwk":`+p256JWK+`}`)
	if got := hydrate(); got != "invalid_proof" {
		t.Errorf("after the key changed: %q", got)
	}
	h.ok(live, "PATCH", "/v1/audiences/"+h.audience, `{"jwk":{}}`)
	if got := hydrate(); got != "" {
		t.Errorf("after the key was taken away a bound token proves itself no less: %q", got)
	}
	if a := h.hydrate(h.token, "ses_bound"); a.code() != "proof_required" {
		t.Errorf("after the key was taken away, as a bearer: %s", a)
	}
	free := h.world.token("ses_bound", "read:context", `"audience":"agent.example.com"`)
	if a := h.hydrate(free, "ses_bound"); a.status != 200 {
		t.Errorf("a token that is bound to nothing: %s", a)
	}
	if a := h.call(nobody, "POST", boundPath, "", "Authorization", "DPoP "+free, "DPoP", h.proof("POST", issuer+boundPath)); a.code() != "invalid_proof" {
		t.Errorf("a token that is bound to nothing, with a proof: %s", a)
	}
	h.ok(live, "PATCH", "/v1/audiences/"+h.audience, `{"jwk":`+h.jwk()+`}`)
	if a := h.hydrate(free, "ses_bound"); a.code() != "proof_required" {
		t.Errorf("after the audience got a key: %s", a)
	}
}

func TestSchemeIsForTokens(t *testing.T) {
	h := newHolder(t, "read:context")
	h.run([]scenario{
		{name: "a key under DPoP", method: "GET", path: "/v1/me", headers: []string{"Authorization", "DPoP " + h.keys[live]}, status: 401, code: "missing_credentials"},
		{name: "a key under DPoP on a token's route", method: "POST", path: boundPath, headers: []string{"Authorization", "DPoP " + h.keys[live]}, status: 401, code: "invalid_token"},
		{name: "small letters", method: "POST", path: boundPath, headers: []string{"Authorization", "dpop " + h.token, "DPoP", h.proof("POST", issuer+boundPath)}, status: 200},
	})
}

// A bound token is exchanged with a proof, and only for an audience that has a key.
func TestExchangeOfABoundToken(t *testing.T) {
	h := newHolder(t, "read:context session:hand_off")
	const path = "/v1/resume_tokens/exchange"
	child := func(audience string) string {
		return `{"audience":"` + audience + `","scopes":["read:context"]}`
	}
	h.run([]scenario{{name: "as a bearer", as: h.token, method: "POST", path: path, body: child("agent.example.com"), status: 401, code: "proof_required"}})
	if a := h.prove("POST", path, child("x.ai"), h.proof("POST", issuer+path)); a.code() != "validation_failed" || !strings.Contains(a.String(), "has no key") {
		t.Errorf("for an audience without a key: %s", a)
	}
	proof := h.proof("POST", issuer+path)
	made := h.prove("POST", path, child("agent.example.com"), proof)
	if made.status != 201 && made.status != 200 {
		t.Fatalf("with a proof: %s", made)
	}
	if a := h.prove("POST", path, child("agent.example.com"), proof); a.code() != "invalid_proof" {
		t.Errorf("with the same proof: %s", a)
	}
	h.token = made.text("token")
	if a := h.prove("POST", boundPath, "", h.proof("POST", issuer+boundPath)); a.status != 200 {
		t.Errorf("what came of it: %s", a)
	}
	if a := h.hydrate(h.token, "ses_bound"); a.code() != "proof_required" {
		t.Errorf("what came of it, as a bearer: %s", a)
	}
}

// An answer that is told again takes a proof of its own, no less than the first.
func TestRepeatTakesAProof(t *testing.T) {
	h := newHolder(t, "write:notes")
	const path = "/v1/sessions/ses_bound/notes"
	note := func(proof string) *answer {
		return h.call(nobody, "POST", path, `{"body":"once"}`, "Authorization", "DPoP "+h.token, "DPoP", proof, "Idempotency-Key", "k")
	}
	one, two := h.proof("POST", issuer+path), h.proof("POST", issuer+path)
	first := note(one)
	for name, c := range map[string]struct{ proof, code string }{"the first proof": {one, "invalid_proof"}, "another": {two, ""}} {
		if a := note(c.proof); a.code() != c.code {
			t.Errorf("with %s: %s", name, a)
		} else if c.code == "" && a.String() != first.String() {
			t.Errorf("with %s: %s, then %s", name, first, a)
		}
	}
	if a := note(two); a.code() != "invalid_proof" {
		t.Errorf("with the proof of the repeat: %s", a)
	}
	if got := len(h.records("write")); got != 1 {
		t.Errorf("%d notes were written", got)
	}
}

// An agent may ask about its own token, if it proves possession of its key.
func TestIntrospectionByProof(t *testing.T) {
	h := newHolder(t, "read:context")
	const path = "/v1/resume_tokens/introspect"
	body := `{"token":"` + h.token + `"}`
	active := func(a *answer) any { return a.object()["active"] }
	proof := h.proof("POST", issuer+path)
	a := h.prove("POST", path, body, proof)
	if a.status != 200 || active(a) != true || a.text("token_type") != "DPoP" || a.text("aud") != "agent.example.com" {
		t.Errorf("with a proof: %s", a)
	}
	if a := h.prove("POST", path, body, proof); active(a) != false {
		t.Errorf("with the same proof: %s", a)
	}
	other := *h
	other.key = ed25519.NewKeyFromSeed(make([]byte, 32))
	if a := other.prove("POST", path, body, other.proof("POST", issuer+path)); a.status != 200 || active(a) != false {
		t.Errorf("with another key: %s", a)
	}
	h.run([]scenario{
		{name: "as a bearer", as: h.token, method: "POST", path: path, body: body, status: 401, code: "invalid_key"},
		{name: "about another", method: "POST", path: path, body: `{"token":"a.b.c"}`, headers: []string{"Authorization", "DPoP " + h.token, "DPoP", h.proof("POST", issuer+path)}, status: 422, code: "validation_failed"},
		{name: "a key under DPoP", method: "POST", path: path, body: body, headers: []string{"Authorization", "DPoP " + h.keys[live]}, status: 401, code: "invalid_token"},
		{name: "with a key", as: live, method: "POST", path: path, body: body, status: 200, has: []string{`"active":true`, `"jkt"`}},
		{name: "with a stranger's key", as: stranger, method: "POST", path: path, body: body, status: 200, hasNot: []string{"true", "agent"}},
	})
	h.nonce = ""
	if a := h.prove("POST", path, body, h.proof("POST", issuer+path)); a.code() != "invalid_proof" || !strings.Contains(a.header.Get("WWW-Authenticate"), "use_dpop_nonce") {
		t.Errorf("without a nonce: %s", a)
	}
	h.nonce = h.resume.Nonce()
	h.ok(live, "POST", "/v1/sessions/ses_bound/archive", "")
	if a := h.prove("POST", path, body, h.proof("POST", issuer+path)); active(a) != false {
		t.Errorf("of a token that has ended: %s", a)
	}
}
