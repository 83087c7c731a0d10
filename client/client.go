// Package client speaks to a hodl server over its REST API.
//
// A [Client] acts for a person, with an API key: it captures hodls and sessions
// and mints resume tokens. An [Agent] acts for whoever was handed such a token.
//
//	c := client.New("http://127.0.0.1:8484", os.Getenv("HODL_API_KEY"))
//	minted, err := c.Mint(ctx, hodl.TokenDraft{
//		Session: "ses_8f3aZ91b", Audience: "claude.anthropic.com", Scopes: []hodl.Scope{hodl.ReadContext},
//	})
//	…
//	given, err := client.NewAgent("http://127.0.0.1:8484", minted.Token).Hydrate(ctx, "ses_8f3aZ91b")
//
// A refusal is a [*hodl.Error] with the code, message, hint and fields the server
// gave; any other error means that no answer came. Nothing is sent twice, unless
// [Retry] says so, which makes it safe, or the caller does, with [IdempotencyKey], or
// the server has put a call off until it carries a nonce ([Proving]).
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// A Client calls the API with an API key. It is safe for concurrent use.
type Client struct{ caller }

// New returns a client for the server at baseURL, such as https://hodl.example.com,
// that presents key.
func New(baseURL, key string, options ...Option) *Client {
	return &Client{newCaller(baseURL, key, options)}
}

// An Option changes how a [Client] or an [Agent] calls.
type Option func(*caller)

// HTTP makes calls go through h, for its transport, proxy and timeout. Without it
// a call takes at most a minute and follows no redirect: the API has none, and one
// would carry the credential to who knows where.
func HTTP(h *http.Client) Option { return func(c *caller) { c.http = h } }

// UserAgent sets the User-Agent header, which access records keep.
func UserAgent(name string) Option { return func(c *caller) { c.header.Set("User-Agent", name) } }

// As makes an agent name itself. The server refuses it when it is not who the
// token is for.
func As(audience string) Option { return func(c *caller) { c.header.Set("Hodl-Audience", audience) } }

// A CallOption changes one call.
type CallOption func(http.Header)

// IfMatch makes a write go through only while the session still stands at the
// version with this fingerprint; otherwise it is refused as [hodl.Stale].
func IfMatch(fingerprint string) CallOption {
	return func(h http.Header) { h.Set("If-Match", `"`+fingerprint+`"`) }
}

// IdempotencyKey makes a write happen once, however often it is sent: the server
// answers a repetition with the same key, body and credential as it answered the
// first, for 24 hours. Make a new key for each write: 1 to 255 visible ASCII
// characters.
func IdempotencyKey(key string) CallOption {
	return func(h http.Header) { h.Set("Idempotency-Key", key) }
}

const (
	patience = time.Minute
	// mostAnswer bounds what is read of an answer, so that a server gone wrong does
	// not fill the memory.
	mostAnswer = 64 << 20
)

var direct = &http.Client{
	Timeout:       patience,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// A caller is what clients and agents have in common.
type caller struct {
	base       string
	credential string
	header     http.Header
	http       *http.Client
	prover     *prover // nil for a bearer
	retries    int
}

func newCaller(baseURL, credential string, options []Option) caller {
	c := caller{base: strings.TrimRight(baseURL, "/"), credential: credential, header: http.Header{}, http: direct}
	c.header.Set("User-Agent", "hodl-go")
	if credential != "" {
		c.header.Set("Authorization", "Bearer "+credential)
	}
	for _, o := range options {
		o(&c)
	}
	return c
}

// A call is one request: in is its body, nil for none, or file is.
type call struct {
	method, path string
	query        url.Values
	in           any
	file         io.Reader
	options      []CallOption
	key          string // Idempotency-Key of a call that may be sent again
	metered      bool   // each costs: never sent again
}

// do sends k and decodes the answer into out, unless that is nil.
func (c *caller) do(ctx context.Context, k call, out any) error {
	_, body, err := c.send(ctx, k)
	if err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("%s %s: decode the answer: %w", k.method, k.path, err)
	}
	return nil
}

func (c *caller) sendOnce(ctx context.Context, k call) (http.Header, []byte, error) {
	answer, err := c.open(ctx, k, c.http)
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, mostAnswer))
	if err != nil {
		return nil, nil, fmt.Errorf("%s %s: read the answer: %w", k.method, k.path, err)
	}
	return answer.Header, body, nil
}

// open sends k through h and returns an answer that is no refusal, to be read and
// closed.
func (c *caller) open(ctx context.Context, k call, h *http.Client) (*http.Response, error) {
	answer, err := c.try(ctx, k, h)
	if err == nil && c.prover != nil && c.prover.wanted(answer) {
		answer.Body.Close()
		answer, err = c.try(ctx, k, h)
	}
	if err != nil {
		return nil, err
	}
	if answer.StatusCode >= 200 && answer.StatusCode <= 299 {
		return answer, nil
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, mostAnswer))
	if err != nil {
		return nil, fmt.Errorf("%s %s: read the answer: %w", k.method, k.path, err)
	}
	return nil, refusal(answer, body)
}

// try sends k through h and returns what came back, whatever it is.
func (c *caller) try(ctx context.Context, k call, h *http.Client) (*http.Response, error) {
	r, err := c.request(ctx, k)
	if err == nil && c.prover != nil {
		err = c.prover.prove(r, c.credential, time.Now())
	}
	if err != nil {
		return nil, err
	}
	return h.Do(r)
}

func (c *caller) request(ctx context.Context, k call) (*http.Request, error) {
	address := c.base + k.path
	if len(k.query) > 0 {
		address += "?" + k.query.Encode()
	}
	body := k.file
	if k.in != nil {
		encoded, err := json.Marshal(k.in)
		if err != nil {
			return nil, fmt.Errorf("encode the request: %w", err)
		}
		body = bytes.NewReader(encoded)
	}
	r, err := http.NewRequestWithContext(ctx, k.method, address, body)
	if err != nil {
		return nil, err
	}
	for name, values := range c.header {
		r.Header[name] = values
	}
	if k.in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if k.key != "" {
		r.Header.Set("Idempotency-Key", k.key)
	}
	for _, o := range k.options {
		o(r.Header)
	}
	return r, nil
}

// segment escapes what a caller gave as one segment of a path. A segment of dots
// is escaped as well, lest it climb.
func segment[T ~string](s T) string {
	if s == "." || s == ".." {
		return strings.ReplaceAll(string(s), ".", "%2E")
	}
	return url.PathEscape(string(s))
}
