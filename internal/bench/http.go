package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"hodl"
	"hodl/internal/serve"
)

const sessionBytes = 10 << 10 // what a hydration over HTTP renders

func httpHydrateName(engine string, clients int) string {
	return fmt.Sprintf("http: hydrate 11 KB, %s, %d clients", engine, clients)
}

func httpCaptureName(engine string, clients int) string {
	return fmt.Sprintf("http: capture a hodl, %s, %d clients", engine, clients)
}

func httpPlainName(engine string) string {
	return fmt.Sprintf("http: owner's GET of the same session, %s, 32 clients", engine)
}

func httpNaiveName(engine string) string {
	return fmt.Sprintf("http: hydrate 11 KB, %s, 32 clients, our own server without batches and cache", engine)
}

func httpNaiveCaptureName(engine string) string {
	return fmt.Sprintf("http: capture a hodl, %s, 32 clients, no batches", engine)
}

// httpMeasures are the same over HTTP, through everything a request passes: load
// and server share this machine's cores.
func httpMeasures(ctx context.Context, dir string) ([]measure, func(), error) {
	var all []measure
	var stops []func()
	stop := func() {
		for _, s := range stops {
			s()
		}
	}
	for _, engine := range engineNames {
		full, done, err := startServer(ctx, engine, dir, serve.Config{})
		if err != nil {
			return nil, stop, err
		}
		bare, doneBare, err := startServer(ctx, engine, dir, serve.Config{MaxBatch: 1, CacheBytes: -1})
		if err != nil {
			return nil, stop, err
		}
		stops = append(stops, done, doneBare)
		naive, doneNaive, err := startHandOff(ctx, engine, full)
		if err != nil {
			return nil, stop, err
		}
		stops = append(stops, doneNaive)
		if err := errors.Join(full.redacted(), naive.redacted(), bare.redacted(), alike(full, naive, full.hydrates[0], naive.hydrates[0])); err != nil {
			return nil, stop, err
		}
		for _, clients := range callerCounts {
			all = append(all, full.load(httpHydrateName(engine, clients), clients, full.hydrate))
		}
		all = append(all, naive.load(handOffName(engine), 32, naive.hydrate), bare.load(httpNaiveName(engine), 32, bare.hydrate), full.load(httpPlainName(engine), 32, full.read))
		for _, clients := range callerCounts {
			all = append(all, full.load(httpCaptureName(engine, clients), clients, full.capture))
		}
		all = append(all, bare.load(httpNaiveCaptureName(engine), 32, bare.capture))
	}
	return all, stop, nil
}

// A target is a running server with a few sessions and many tokens, and the requests to it,
// ready to be sent.
type target struct {
	address   string
	key       string
	place     *place
	workspace hodl.WorkspaceID
	hydrates  [][]byte
	reads     [][]byte
	captures  []byte
}

const sessions = 20

func startServer(ctx context.Context, engine, dir string, c serve.Config) (*target, func(), error) {
	p, err := newPlace(engine, dir)
	if err != nil {
		return nil, nil, err
	}
	c.Listen, c.Data, c.Database, c.DatabaseAdmin, c.MasterKeyFile = "127.0.0.1:0", p.options.Dir, p.options.Database, p.options.Admin, p.keyFile
	s, err := serve.Open(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- s.Run(serving) }()
	stop := func() { cancel(); <-ended; p.drop() }
	t := &target{address: strings.TrimPrefix(s.URL, "http://"), key: s.FirstKeys[0].Key, place: p, workspace: s.FirstKeys[0].Stored.Workspace}
	return t, stop, t.furnish(t.key)
}

func (t *target) furnish(key string) error {
	c, err := dial(t.address)
	if err != nil {
		return err
	}
	defer c.close()
	most := 1000
	for i := range sessions {
		id := fmt.Sprintf("ses_bench%d", i)
		if _, err := c.send(post(t.address, "/v1/sessions", key, draft(id, sessionBytes))); err != nil {
			return err
		}
		// A token has a thousand uses at most: enough of them for a long run.
		for range 20 {
			minted, err := c.send(post(t.address, "/v1/resume_tokens", key, hodl.TokenDraft{
				Session: hodl.SessionID(id), Audience: "sdk.unihodl.app", Scopes: []hodl.Scope{hodl.ReadContext, hodl.ReadReasoning}, MaxHydrations: &most,
			}))
			if err != nil {
				return err
			}
			var answer struct {
				Token string `json:"token"`
			}
			if err := json.Unmarshal(minted, &answer); err != nil {
				return err
			}
			t.hydrates = append(t.hydrates, request("POST", t.address, "/v1/sessions/"+id+"/hydrate", answer.Token, nil))
		}
		t.reads = append(t.reads, request("GET", t.address, "/v1/sessions/"+id+"/content", key, nil))
	}
	t.captures = post(t.address, "/v1/hodls", key, hodlDraft())
	return nil
}

// redacted checks that a hydration returns nothing of what was planted.
func (t *target) redacted() error {
	body, err := t.once(t.hydrates[0])
	if err != nil {
		return err
	}
	for _, r := range remnants {
		if bytes.Contains(body, []byte(r)) {
			return fmt.Errorf("%s returns %q, which is to be redacted", t.address, r)
		}
	}
	return nil
}

// alike checks that two requests are answered with about as many bytes.
func alike(a, b *target, ofA, ofB []byte) error {
	x, err := a.once(ofA)
	if err != nil {
		return err
	}
	y, err := b.once(ofB)
	if big, small := max(len(x), len(y)), min(len(x), len(y)); err == nil && 10*big > 11*small {
		err = fmt.Errorf("%s returns %d bytes and %s %d", a.address, len(x), b.address, len(y))
	}
	return err
}

// once sends one request on a connection of its own.
func (t *target) once(request []byte) ([]byte, error) {
	c, err := dial(t.address)
	if err != nil {
		return nil, err
	}
	defer c.close()
	return c.send(request)
}

func (t *target) hydrate(caller, n int) []byte { return t.hydrates[(caller*7919+n)%len(t.hydrates)] }
func (t *target) read(caller, n int) []byte    { return t.reads[(caller*7919+n)%len(t.reads)] }
func (t *target) capture(_, _ int) []byte      { return t.captures }

// load sends requests from clients, each on a connection of its own.
func (t *target) load(name string, clients int, next func(caller, n int) []byte) measure {
	return measure{name, "/s", func(ctx context.Context, d time.Duration) (result, error) {
		conns := make([]*client, clients)
		for i := range conns {
			c, err := dial(t.address)
			if err != nil {
				return result{}, err
			}
			defer c.close()
			conns[i] = c
		}
		return closedLoop(ctx, clients, d, func(_ context.Context, caller, n int) error {
			_, err := conns[caller].send(next(caller, n))
			return err
		})
	}}
}

func post(host, path, credential string, body any) []byte {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // it is our own type
	}
	return request("POST", host, path, credential, text)
}

func request(method, host, path, credential string, body []byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n", method, path, host, credential)
	if body != nil {
		b.WriteString("Content-Type: application/json\r\n")
	}
	fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n", len(body))
	b.Write(body)
	return b.Bytes()
}

// client speaks just enough HTTP/1.1 to be far cheaper than the server.
type client struct {
	conn net.Conn
	in   *bufio.Reader
	body []byte
}

func dial(address string) (*client, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &client{conn: conn, in: bufio.NewReaderSize(conn, 32<<10)}, nil
}

func (c *client) close() { c.conn.Close() }

// send returns the body of a 2xx answer, valid until the next call.
func (c *client) send(request []byte) ([]byte, error) {
	if _, err := c.conn.Write(request); err != nil {
		return nil, err
	}
	status, length, chunked, err := c.head()
	if err != nil {
		return nil, err
	}
	c.body = c.body[:0]
	if chunked {
		err = c.chunks()
	} else {
		err = c.take(length)
	}
	if err == nil && status/100 != 2 {
		err = fmt.Errorf("answered %d: %s", status, c.body)
	}
	return c.body, err
}

func (c *client) head() (status, length int, chunked bool, err error) {
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return 0, 0, false, err
		}
		text := bytes.TrimRight(line, "\r\n")
		if len(text) == 0 {
			return status, length, chunked, nil
		}
		switch name, value, _ := bytes.Cut(text, []byte(": ")); {
		case status == 0:
			if status, err = strconv.Atoi(string(text[9:12])); err != nil {
				return 0, 0, false, err
			}
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(value)); err != nil {
				return 0, 0, false, err
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			chunked = true
		}
	}
}

func (c *client) take(n int) error {
	at := len(c.body)
	for cap(c.body) < at+n {
		c.body = append(c.body[:cap(c.body)], 0)
	}
	c.body = c.body[:at+n]
	_, err := io.ReadFull(c.in, c.body[at:])
	return err
}

func (c *client) chunks() error {
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return err
		}
		n, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 32)
		if err != nil {
			return err
		}
		if err := c.take(int(n)); err != nil {
			return err
		}
		if _, err := c.in.Discard(2); err != nil || n == 0 {
			return err
		}
	}
}
