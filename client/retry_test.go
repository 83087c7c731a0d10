package client_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"hodl"
	"hodl/client"
	"hodl/hodltest"
)

// A lossy is a proxy that hands over every request and drops the first answers.
type lossy struct {
	*httputil.ReverseProxy
	mu    sync.Mutex
	drops int
	keys  []string
}

func (l *lossy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	l.keys = append(l.keys, r.Header.Get("Idempotency-Key"))
	drop := l.drops > 0
	l.drops--
	l.mu.Unlock()
	if !drop {
		l.ReverseProxy.ServeHTTP(w, r)
		return
	}
	l.ReverseProxy.ServeHTTP(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

func newLossy(t *testing.T, to string) (*lossy, string) {
	t.Helper()
	target := must[*url.URL](t)(url.Parse(to))
	l := &lossy{ReverseProxy: httputil.NewSingleHostReverseProxy(target)}
	server := httptest.NewServer(l)
	t.Cleanup(server.Close)
	return l, server.URL
}

func TestRetry(t *testing.T) {
	ctx, s := t.Context(), hodltest.Start(t)
	proxy, address := newLossy(t, s.URL)
	c := client.New(address, s.LiveKey, client.Retry(3))
	proxy.drops = 2
	got := must[*client.Captured](t)(c.CaptureHodl(ctx, hodl.HodlDraft{Title: "x"}))
	if page := must[*client.HodlPage](t)(s.Client().Hodls(ctx, client.Page{})); len(page.Hodls) != 1 || page.Hodls[0].ID != got.ID {
		t.Errorf("held %+v", page.Hodls)
	}
	first := proxy.keys[0]
	if slices.Contains(proxy.keys, "") || len(slices.Compact(proxy.keys)) != 1 {
		t.Errorf("the keys are %q", proxy.keys)
	}
	proxy.keys, proxy.drops = nil, 100
	if _, err := c.CaptureHodl(ctx, hodl.HodlDraft{Title: "x"}); err == nil || len(proxy.keys) < 4 || slices.Contains(proxy.keys, first) {
		t.Errorf("after the keys %q: %v; the write before had %s", proxy.keys, err, first)
	}
}

// Without being told to, a client sends nothing twice; with it, no hydration.
func TestNotSentTwice(t *testing.T) {
	ctx, s := t.Context(), hodltest.Start(t)
	proxy, address := newLossy(t, s.URL)
	proxy.drops = 1
	if _, err := client.New(address, s.LiveKey).CaptureHodl(ctx, hodl.HodlDraft{Title: "x"}); err == nil || len(proxy.keys) != 1 || proxy.keys[0] != "" {
		t.Errorf("after %d requests: %v", len(proxy.keys), err)
	}
	session := must[*client.CapturedSession](t)(s.Client().CaptureSession(ctx, draft()))
	minted := must[*client.Minted](t)(s.Client().Mint(ctx, hodl.TokenDraft{Session: session.ID, Audience: "claude.anthropic.com", Scopes: []hodl.Scope{hodl.ReadContext}}))
	proxy.drops = 1
	if _, err := client.NewAgent(address, minted.Token, client.Retry(3)).Hydrate(ctx, session.ID); err == nil || len(proxy.keys) != 2 {
		t.Errorf("after %d requests: %v", len(proxy.keys), err)
	}
	if got := must[*client.Session](t)(s.Client().Session(ctx, session.ID)); got.Hydrations != 1 {
		t.Errorf("hydrated %d times", got.Hydrations)
	}
}

// What will not pass is not sent again, nor after the caller has gone.
func TestRetryEnds(t *testing.T) {
	s := hodltest.Start(t)
	proxy, address := newLossy(t, s.URL)
	c := client.New(address, s.LiveKey, client.Retry(3))
	_, err := c.CaptureHodl(t.Context(), hodl.HodlDraft{})
	wantCode(t, err, hodl.ValidationFailed)
	if len(proxy.keys) != 1 {
		t.Errorf("a refusal was sent %d times", len(proxy.keys))
	}
	proxy.drops = 9
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if got, err := c.CaptureHodl(ctx, hodl.HodlDraft{Title: "x"}); err == nil {
		t.Errorf("an answer after all: %+v", got)
	}
}
