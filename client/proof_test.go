package client_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"hodl"
	"hodl/client"
	"hodl/hodltest"
)

func proofKey(t *testing.T) *client.ProofKey {
	t.Helper()
	key, err := client.NewProofKey()
	fatal(t, err)
	return key
}

// bound registers an audience with a key and mints a token for it.
func bound(t *testing.T, c *client.Client, key *client.ProofKey, most int) *client.Minted {
	t.Helper()
	k := key.Public()
	name := "agent" + k.X[:4] + ".example.com"
	_, err := c.AddAudience(t.Context(), hodl.AudienceDraft{Name: strings.ReplaceAll(name, "_", "-"), JWK: map[string]any{"kty": k.Type, "crv": k.Curve, "x": k.X, "y": k.Y}})
	fatal(t, err)
	return mintFor(t, c, strings.ReplaceAll(name, "_", "-"), most)
}

func mintFor(t *testing.T, c *client.Client, audience string, most int) *client.Minted {
	t.Helper()
	m, err := c.Mint(t.Context(), hodl.TokenDraft{
		Session: "ses_bound", Audience: audience, Scopes: []hodl.Scope{hodl.ReadContext, hodl.WriteNotes}, MaxHydrations: &most,
	})
	fatal(t, err)
	return m
}

func TestProving(t *testing.T) {
	server := hodltest.Start(t)
	c := server.Client()
	_, err := c.PutSession(t.Context(), "ses_bound", hodl.SessionDraft{Title: "the cache bug"})
	fatal(t, err)
	key := proofKey(t)
	m := bound(t, c, key, 5)

	a := client.NewAgent(server.URL, m.Token, client.Proving(key))
	for range 3 {
		got, err := a.Hydrate(t.Context(), "ses_bound")
		fatal(t, err)
		if got.Title != "the cache bug" {
			t.Errorf("the title is %q", got.Title)
		}
	}
	_, err = a.Note(t.Context(), "ses_bound", "a note")
	fatal(t, err)
	refusedAs := func(what string, a *client.Agent, want hodl.Code) {
		t.Helper()
		if _, err := a.Hydrate(t.Context(), "ses_bound"); hodl.CodeOf(err) != want {
			t.Errorf("%s: %v, want %s", what, err, want)
		}
	}
	refusedAs("a bearer", client.NewAgent(server.URL, m.Token), hodl.ProofRequired)
	refusedAs("another key", client.NewAgent(server.URL, m.Token, client.Proving(proofKey(t))), hodl.InvalidProof)
	refusedAs("another name of the server", client.NewAgent(strings.Replace(server.URL, "127.0.0.1", "localhost", 1), m.Token, client.Proving(key)), hodl.InvalidProof)
}

func TestProofKeyFile(t *testing.T) {
	made := proofKey(t)
	text, err := made.MarshalJWK()
	fatal(t, err)
	again, err := client.ParseProofKey(text)
	fatal(t, err)
	if again.Public() != made.Public() {
		t.Error("it came back as another key")
	}
	// RFC 8037, appendix A.1.
	const d, x = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A", "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
	known, err := client.ParseProofKey([]byte(fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","d":%q,"x":%q}`, d, x)))
	fatal(t, err)
	public := known.Public()
	if got := public.Thumbprint(); got != "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k" {
		t.Errorf("the thumbprint is %s", got)
	}
	for _, show := range []string{fmt.Sprintf("%v %+v %#v %s", made, made, *made, known), fmt.Sprint(made.LogValue())} {
		if strings.Contains(show, d) || !strings.Contains(show, public.Thumbprint()) && !strings.Contains(show, "ProofKey(") {
			t.Errorf("printed it is %s", show)
		}
	}
	for _, bad := range []string{
		``, `[]`, `{}`, `{"kty":"OKP","crv":"Ed25519","x":"` + x + `"}`, `{"kty":"RSA","d":"` + d + `"}`,
		`{"kty":"EC","crv":"P-256","d":"` + strings.Repeat("A", 43) + `"}`, `{"kty":"OKP","crv":"Ed25519","d":"` + d + `","x":"` + d + `"}`,
	} {
		if k, err := client.ParseProofKey([]byte(bad)); err == nil {
			t.Errorf("%s was read as %v", bad, k)
		}
	}
}

// A replayer sends every hydration many times over, to each of the servers in turn,
// with all that was in it, and hands back the one that succeeded.
type replayer struct {
	servers  []string
	copies   int
	accepted atomic.Int64
	refused  atomic.Int64
}

func (r *replayer) RoundTrip(sent *http.Request) (*http.Response, error) {
	if sent.Header.Get("DPoP") == "" || !strings.HasSuffix(sent.URL.Path, "/hydrate") {
		return http.DefaultTransport.RoundTrip(sent)
	}
	first, err := http.DefaultTransport.RoundTrip(sent.Clone(sent.Context()))
	if err != nil || first.StatusCode == 401 && strings.Contains(first.Header.Get("WWW-Authenticate"), "use_dpop_nonce") {
		return first, err
	}
	r.count(first.StatusCode)
	var all sync.WaitGroup
	for i := range r.copies {
		all.Go(func() {
			again := sent.Clone(sent.Context())
			again.URL.Host = r.servers[i%len(r.servers)]
			if a, err := http.DefaultTransport.RoundTrip(again); err == nil {
				_, _ = io.Copy(io.Discard, a.Body)
				a.Body.Close()
				r.count(a.StatusCode)
			}
		})
	}
	all.Wait()
	return first, nil
}

func (r *replayer) count(status int) {
	switch status {
	case http.StatusOK:
		r.accepted.Add(1)
	case http.StatusUnauthorized, http.StatusTooManyRequests:
		r.refused.Add(1)
	}
}

// Whoever has overheard a request with its proof can do nothing with it, at any
// server of the database. HODL_TEST_REPLAYS says how often they try.
func TestReplays(t *testing.T) {
	for name, options := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const copies, most = 50, 1000
			total := 500
			if n, err := strconv.Atoi(os.Getenv("HODL_TEST_REPLAYS")); err == nil && n > 0 {
				total = n
			}
			first := hodltest.Start(t, options...)
			hosts := []string{strings.TrimPrefix(first.URL, "http://")}
			if name == "postgres" {
				hosts = append(hosts, strings.TrimPrefix(hodltest.Start(t, options...).URL, "http://"))
			}
			c := first.Client()
			_, err := c.PutSession(t.Context(), "ses_bound", hodl.SessionDraft{Title: "the cache bug"})
			fatal(t, err)
			key := proofKey(t)
			m := bound(t, c, key, most)
			r := &replayer{servers: hosts, copies: copies}
			uses := total / copies
			for i := range uses {
				if i%10 == 9 { // a token may be used only so fast
					m = mintFor(t, c, m.Audience, most)
				}
				a := client.NewAgent(first.URL, m.Token, client.Proving(key), client.HTTP(&http.Client{Transport: r}))
				if _, err := a.Hydrate(t.Context(), "ses_bound"); err != nil {
					t.Fatal(err)
				}
			}
			if got := r.accepted.Load(); got != int64(uses) {
				t.Errorf("%d uses were accepted %d times", uses, got)
			}
			if got := r.refused.Load(); got != int64(uses*copies) {
				t.Errorf("%d of %d replays were refused", got, uses*copies)
			}
		})
	}
}

func engines(t *testing.T) map[string][]hodltest.Option {
	return map[string][]hodltest.Option{"sqlite": nil, "postgres": {hodltest.Postgres(t)}}
}

func fatal(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
