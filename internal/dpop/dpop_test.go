package dpop_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"hodl"
	"hodl/internal/dpop"
)

// The examples of RFC 9449: figure 2 of §4.1, and the request of §7.1 with its token.
const (
	rfcProof = "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19" +
		".eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2VuIiwiaWF0IjoxNTYyMjYyNjE2fQ" +
		".2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg"
	rfcUse = "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19" +
		".eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIjoiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxlLm9yZy9wcm90ZWN0ZWRyZXNvdXJjZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNFc05yV0JiMHhXWG9hTnk1OUlpS0NBcWtzbVFFbyJ9" +
		".2oW9RP35yRqzhrtNP86L-Ey71EOptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA"
	rfcToken      = "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU"
	rfcThumbprint = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I" // §6.1
)

func TestKnownAnswers(t *testing.T) {
	p, err := dpop.Parse(rfcProof)
	if err != nil {
		t.Fatal(err)
	}
	if p.ID != "-BwC3ESc6acc2lTc" || p.JKT != rfcThumbprint {
		t.Errorf("the first example has the jti %q and the key %s", p.ID, p.JKT)
	}
	use := dpop.Use{JKT: rfcThumbprint, Method: "POST", URLs: []string{"https://server.example.com/token"}, Token: "any", Now: time.Unix(1562262616, 0)}
	if err := p.Check(use); hodl.CodeOf(err) != hodl.InvalidProof || !strings.Contains(err.Error(), "ath") {
		t.Errorf("a proof without ath: %v", err)
	}
	if p, err = dpop.Parse(rfcUse); err != nil {
		t.Fatal(err)
	}
	use.Method, use.URLs, use.Token = "GET", []string{"https://resource.example.org/protectedresource"}, rfcToken
	if err := p.Check(use); err != nil {
		t.Errorf("the second example: %v", err)
	}
	if want := time.Unix(1562262618, 0).Add(dpop.MaxAge + dpop.Ahead); !p.ExpiresAt().Equal(want) {
		t.Errorf("it ends at %v, want %v", p.ExpiresAt(), want)
	}
}

// Addresses are one when they are spelt differently, and no others are.
func TestAddresses(t *testing.T) {
	const here = "https://hodl.example.com/v1/sessions/ses_1/hydrate"
	for _, c := range []struct {
		htu, url string
		want     bool
	}{
		{here, here, true},
		{"HTTPS://HODL.Example.com/v1/sessions/ses_1/hydrate", here, true},
		{"https://hodl.example.com:443/v1/sessions/ses_1/hydrate", here, true},
		{"https://hodl.example.com/v1/sessions/ses%5F1/hydrate", here, true},
		{"https://hodl.example.com/%76%31/sessions/ses_1/hydrate", here, true},
		{here + "?format=json", here, true},
		{here + "#part", here, true},
		{"https://hodl.example.com", "https://hodl.example.com/", true},
		{"https://[2001:DB8::1]/x", "https://[2001:db8::1]:443/x", true},
		{"https://hodl.example.com/a%2fb", "https://hodl.example.com/a%2Fb", true},
		{"http://127.0.0.1:8484/x", "http://127.0.0.1:8484/x", true},
		{"https://hodl.example.com:8443/v1/sessions/ses_1/hydrate", here, false},
		{"https://hodl.example.com:80/v1/sessions/ses_1/hydrate", here, false},
		{"http://hodl.example.com/v1/sessions/ses_1/hydrate", here, false},
		{"https://hodl.example.com/V1/sessions/ses_1/hydrate", here, false},
		{"https://hodl.example.com/a%2Fb", "https://hodl.example.com/a/b", false},
		{"https://hodl.example.com/v1/x/../sessions/ses_1/hydrate", here, false},
		{here + "/", here, false},
	} {
		f := good("ES256")
		f.claims["htu"], f.use.URLs = quote(c.htu), []string{c.url}
		if err := f.accept(); (err == nil) != c.want {
			t.Errorf("%s for %s: %v", c.htu, c.url, err)
		}
	}
}

func TestNonces(t *testing.T) {
	at := time.Unix(1_795_000_000, 0)
	nonce := nonces.New(at)
	for after, want := range map[time.Duration]bool{
		0: true, time.Minute: true, 4 * time.Minute: true, 6*time.Minute + time.Second: false, time.Hour: false,
		-time.Minute: true, -3 * time.Minute: false,
	} {
		if got := nonces.Fresh(nonce, at.Add(after)); got != want {
			t.Errorf("%v later: %t, want %t", after, got, want)
		}
	}
	if nonces.New(at.Add(time.Minute)) == nonce {
		t.Error("a minute later it is the same")
	}
	raw, err := base64.RawURLEncoding.DecodeString(nonce)
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		raw[i] ^= 1
		if nonces.Fresh(base64.RawURLEncoding.EncodeToString(raw), at) {
			t.Errorf("with byte %d changed it is still fresh", i)
		}
		raw[i] ^= 1
	}
	for _, s := range []string{"", nonce + "=", nonce + "A", nonce[1:], nonce + "\n", "AAAA"} {
		if nonces.Fresh(s, at) {
			t.Errorf("%q is fresh", s)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(rfcProof)
	f.Add(rfcUse)
	f.Add(good("EdDSA").text())
	for _, h := range hostile {
		x := good("ES256")
		h.edit(x)
		f.Add(x.text())
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := dpop.Parse(s)
		if err != nil {
			if hodl.CodeOf(err) != hodl.InvalidProof {
				t.Errorf("%q: %v", s, err)
			}
			return
		}
		if p.ID == "" || len(p.JKT) != 43 || strings.ContainsAny(s, "\r\n =") {
			t.Errorf("%q was parsed as %+v", s, p)
		}
	})
}
