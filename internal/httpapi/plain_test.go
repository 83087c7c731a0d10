package httpapi_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"hodl/internal/httpapi"
)

// What is logged names routes and ids, never content and never a credential.
func TestLogsHoldNoContentAndNoSecrets(t *testing.T) {
	w := newWorld(t)
	names := w.owned()
	token := w.token("ses_owned", "read:context read:reasoning read:transcript write:notes write:next_step", `"max_hydrations":100`)
	for _, r := range tokenRoutes {
		w.call(token, r.method, names.Replace(r.path), strings.ReplaceAll(r.body, `"x"`, `"canary write"`))
		w.call("garbagecanary", r.method, names.Replace(r.path), r.body)
	}
	made := w.ok(live, "POST", "/v1/api_keys", `{"name":"canary name"}`).text("key")
	w.call(live, "GET", "/v1/hodls?cursor=canaryquery", "")
	w.call(live, "GET", "/v1/hodls/canarypath", "")
	w.call(live, "GET", "/canarynowhere?canary=1", "")
	w.call(live, "POST", "/v1/hodl", `{"canaryfield":`)
	w.call(live, "POST", "/v1/sessions", `{"title":"`+strings.Repeat("canary", 1000)+`"}`)
	w.call(live, "GET", "/v1/me", "", "User-Agent", "canaryagent", "Hodl-Audience", "canaryaudience")
	log := w.log.String()
	if strings.Count(log, `"msg":"request"`) < 20 {
		t.Fatalf("there are too few lines: %s", log)
	}
	secrets := []string{"canary", token, strings.Split(token, ".")[2], made, "cache bug", "example.com/a"}
	for _, key := range w.keys {
		if key != "" {
			secrets = append(secrets, key)
		}
	}
	for _, secret := range secrets {
		if i := strings.Index(log, secret); i >= 0 {
			t.Errorf("%.20q… is in the log: …%s…", secret, log[max(0, i-200):min(len(log), i+60)])
		}
	}
	for _, want := range []string{`"route":"/v1/sessions/{id}/hydrate"`, `"route":"none"`, `"code":"invalid_token"`, `"status":401`, `"id":"req_`} {
		if !strings.Contains(log, want) {
			t.Errorf("no %s in the log", want)
		}
	}
}

// Metrics count by route, so that neither ids nor what strangers try makes series.
func TestMetrics(t *testing.T) {
	w := newWorld(t)
	w.owned()
	w.call(live, "GET", "/v1/sessions/ses_owned", "")
	w.call(nobody, "GET", "/canarynowhere", "")
	a := w.call(nobody, "GET", "/metrics", "")
	for _, want := range []string{
		`hodl_http_requests_total{route="/v1/sessions/{id}",status="200"}`, `hodl_http_requests_total{route="none",status="404"} 1`,
		`hodl_http_request_seconds_count{route="/v1/hodls"}`, `hodl_http_request_seconds_bucket{route="/v1/hodls",le="0.0005"}`,
		`hodl_http_request_seconds_bucket{route="/v1/hodls",le="+Inf"} `, `hodl_http_request_seconds_sum{route="/v1/hodls"}`, "hodl_writes_waiting 0", "go_goroutines",
	} {
		if !strings.Contains(string(a.body), want) {
			t.Errorf("no %s in the metrics", want)
		}
	}
	for _, never := range []string{"canary", "ses_owned", "wks_"} {
		if strings.Contains(string(a.body), never) {
			t.Errorf("%s is in the metrics", never)
		}
	}
}

// A bucket counts all that took at most its bound, as Prometheus wants it.
func TestHistogram(t *testing.T) {
	got := httpapi.Observed(2500*time.Microsecond, 3*time.Millisecond, 10*time.Second)
	for _, want := range []string{
		`hodl_http_request_seconds_bucket{route="/x",le="0.001"} 0`, `hodl_http_request_seconds_bucket{route="/x",le="0.0025"} 1`,
		`hodl_http_request_seconds_bucket{route="/x",le="0.005"} 2`, `hodl_http_request_seconds_bucket{route="/x",le="5"} 2`,
		`hodl_http_request_seconds_bucket{route="/x",le="+Inf"} 3`, `hodl_http_request_seconds_count{route="/x"} 3`,
		`hodl_http_request_seconds_sum{route="/x"} 10.0055`, `hodl_http_requests_total{route="/x",status="200"} 3`,
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

func TestPlainRoutes(t *testing.T) {
	w := newWorld(t)
	w.run([]scenario{
		{name: "healthz", method: "GET", path: "/healthz", status: 200, has: []string{`"release":"test"`}},
		{name: "readyz", method: "GET", path: "/readyz", status: 200, has: []string{`"ready"`}},
		{name: "openapi", method: "GET", path: "/openapi.json", status: 200, has: []string{`"openapi":"3.1`}},
		{name: "telemetry", method: "POST", path: "/api/telemetry", body: `{"event":"mcp_start"}`, status: 200, has: []string{`{}`}},
		{name: "telemetry of anything", method: "POST", path: "/api/telemetry", body: strings.Repeat("x", 1<<20), status: 200, has: []string{`{}`}},
		{name: "no credentials are looked at", as: "garbage", method: "GET", path: "/healthz", status: 200},
	})
}

// A token we mint verifies with nothing but the published keys.
func TestTokensVerifyWithPublishedKeys(t *testing.T) {
	w := newWorld(t)
	w.capture("ses_jwks")
	parts := strings.Split(w.token("ses_jwks", "read:context"), ".")
	var header struct{ Alg, Typ, Kid string }
	raw, err := base64.RawURLEncoding.DecodeString(parts[0])
	w.must(err)
	w.must(json.Unmarshal(raw, &header))
	if header.Alg != "EdDSA" || header.Typ != "resume+jwt" {
		t.Errorf("the header is %+v", header)
	}
	a := w.call(nobody, "GET", "/.well-known/jwks.json", "")
	var set struct {
		Keys []struct{ Kty, Crv, Kid, X, D string }
	}
	w.must(json.Unmarshal(a.body, &set))
	for _, k := range set.Keys {
		if k.Kid != header.Kid {
			continue
		}
		public, err := base64.RawURLEncoding.DecodeString(k.X)
		w.must(err)
		signature, err := base64.RawURLEncoding.DecodeString(parts[2])
		w.must(err)
		if k.Kty != "OKP" || k.Crv != "Ed25519" || k.D != "" || !ed25519.Verify(public, []byte(parts[0]+"."+parts[1]), signature) {
			t.Errorf("the key %+v does not verify the token", k)
		}
		return
	}
	t.Errorf("no key %s in %s", header.Kid, a)
}

var (
	external = regexp.MustCompile(`(?i)(src|href|action|data|srcset)\s*=\s*["']?\s*(https?:)?//|@import|url\(\s*["']?(https?:)?//`)
	tags     = regexp.MustCompile(`<(\w+)`)
)

// The reference works without a network: nothing on the page is fetched, and
// nothing on it runs.
func TestDocsPageStandsAlone(t *testing.T) {
	w := newWorld(t)
	a := w.call(nobody, "GET", "/docs", "")
	page := string(a.body)
	if a.status != 200 || !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") || !strings.Contains(a.header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Fatalf("%d %v", a.status, a.header)
	}
	if found := external.FindString(page); found != "" {
		t.Errorf("the page refers to the outside: %q", found)
	}
	for _, tag := range tags.FindAllStringSubmatch(page, -1) {
		if tag[1] == "script" || tag[1] == "iframe" || tag[1] == "link" || tag[1] == "img" {
			t.Errorf("the page holds a %s", tag[1])
		}
	}
	for path := range document(t)["paths"].(object) {
		if !strings.Contains(page, path) {
			t.Errorf("%s is not on the page", path)
		}
	}
}
