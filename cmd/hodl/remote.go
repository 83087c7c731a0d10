package main

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hodl"
	"hodl/client"
)

// remote is how the commands that speak to a server reach it.
type remote struct {
	url, key string
	last     []byte // the body of the last answer, as the server wrote it
}

const defaultURL = "http://127.0.0.1:8484"

// reaches gives c the flags of a command that speaks to a server.
func (e *env) reaches(c *cobra.Command) *cobra.Command {
	e.finds(c)
	c.Flags().StringVar(&e.remote.key, "key", "", "API `KEY`; - reads it from standard input")
	return c
}

// finds gives c the flag of a command that needs no key.
func (e *env) finds(c *cobra.Command) {
	c.Flags().StringVar(&e.remote.url, "url", defaultURL, "`ADDRESS` of the server")
}

// client returns a client for the server that the flags name.
func (e *env) client() (*client.Client, error) {
	key, err := e.key()
	if err != nil {
		return nil, err
	}
	return client.New(e.remote.url, key, e.options()...), nil
}

// key returns the API key for the server that the flags name, once both are there.
func (e *env) key() (string, error) {
	key, err := e.secret(e.remote.key)
	if err != nil {
		return "", err
	}
	if key == "" {
		return "", hint(usagef("no API key"), "set HODL_API_KEY, or HODL_API_KEY_FILE, or give --key; hodl key create makes one")
	}
	return key, checkURL(e.remote.url)
}

func (e *env) options() []client.Option {
	const patience = time.Minute
	h := &http.Client{
		Transport: keeper{&e.remote.last}, Timeout: patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return []client.Option{client.HTTP(h), userAgent()}
}

func userAgent() client.Option {
	return client.UserAgent("hodl/" + release() + " (" + runtime.GOOS + ")")
}

func checkURL(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return hint(usagef("not the address of a server: %s", address), "give --url as %s", defaultURL)
	}
	return nil
}

// A keeper keeps the body of every answer, so that --json prints what the server
// said and not what this program understood of it.
type keeper struct{ last *[]byte }

func (k keeper) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	*k.last = nil
	if strings.HasPrefix(answer.Header.Get("Content-Type"), "application/json") { // an export may be larger than memory
		answer.Body = &copied{answer.Body, k.last}
	}
	return answer, nil
}

type copied struct {
	io.ReadCloser
	to *[]byte
}

func (c *copied) Read(b []byte) (int, error) {
	n, err := c.ReadCloser.Read(b)
	*c.to = append(*c.to, b[:n]...)
	return n, err
}

// failed explains the error of a call to the server.
func (e *env) failed(err error) error {
	if err == nil {
		return nil
	}
	var unreachable *url.Error
	if _, refused := errors.AsType[*hodl.Error](err); !refused && errors.As(err, &unreachable) {
		err = hint(errors.New("no answer from "+e.remote.url+": "+unreachable.Err.Error()), "start a server with hodl serve, or name another with --url or HODL_URL")
	}
	return answer(err)
}

// show prints what a call to the server came to: with --json the body it answered,
// else whatever human prints.
func (e *env) show(err error, human func() error) error {
	switch {
	case err != nil:
		return e.failed(err)
	case e.json:
		return writeBody(e.out, e.remote.last)
	}
	return human()
}

// pages gives c the flags of a list.
func pages(c *cobra.Command, p *client.Page) *cobra.Command {
	c.Flags().IntVar(&p.Limit, "limit", 20, "how many, 1 to 100")
	c.Flags().StringVar(&p.Cursor, "cursor", "", "where the page before ended")
	return c
}
