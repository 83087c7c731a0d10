package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"hodl"
)

// The kinds of file an import takes.
const (
	Export    = "application/x-ndjson" // what [Client.ExportHodls] writes: a hodl on each line
	Bookmarks = "text/html"            // a Netscape bookmark file
)

// Imported tells what became of the hodls of a file.
type Imported struct {
	Imported int `json:"imported"`
	Skipped  int `json:"skipped"` // there already, and left as they are
	Failed   int `json:"failed"`
	Errors   []struct {
		Line    int               `json:"line"`
		Message string            `json:"message"`
		Fields  []hodl.FieldError `json:"fields"`
	} `json:"errors"` // of the first 50
}

// ExportHodls writes every hodl to w as JSON, one on each line, the newest first:
// GET /v1/hodls/export. When it returns nil, all of them are there. It takes as long
// as ctx lets it.
func (c *Client) ExportHodls(ctx context.Context, w io.Writer) error {
	return c.export(ctx, call{method: "GET", path: "/v1/hodls/export"}, w)
}

// export copies an answer to w, however long it takes.
func (c *Client) export(ctx context.Context, k call, w io.Writer) error {
	answer, err := c.open(ctx, k, c.patient())
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(w, answer.Body); err != nil {
		return fmt.Errorf("the export broke off: %w", err)
	}
	return nil
}

// ImportHodls imports a file of a kind: POST /v1/hodls/import. What is there already
// stays as it is, so a file can be sent again. It takes as long as ctx lets it.
func (c *Client) ImportHodls(ctx context.Context, file io.Reader, kind string) (*Imported, error) {
	typed := func(h http.Header) { h.Set("Content-Type", kind) }
	k := call{method: "POST", path: "/v1/hodls/import", file: file, options: []CallOption{typed}}
	answer, err := c.open(ctx, k, c.patient())
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	out := &Imported{}
	if err := json.NewDecoder(io.LimitReader(answer.Body, mostAnswer)).Decode(out); err != nil {
		return nil, fmt.Errorf("decode the answer to an import: %w", err)
	}
	return out, nil
}

// patient is the HTTP client without its timeout, for what may take long.
func (c *Client) patient() *http.Client {
	h := *c.http
	h.Timeout = 0
	return &h
}
