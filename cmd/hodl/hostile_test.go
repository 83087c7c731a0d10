package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"hodl"
	"hodl/hodltest"
)

// What a terminal obeys: a title for its window, a colour, another direction.
const poison = "\x1b]0;x\x07\u009b31m\u202e"

// TestHostileServer has every command speak to a server that puts control characters
// into every text it answers: none reaches the terminal.
func TestHostileServer(t *testing.T) {
	server := hodltest.Start(t)
	api := server.Client()
	session, err := api.CaptureSession(t.Context(), hodl.SessionDraft{
		Title: "a", Summary: "b", Tags: []string{"c"}, Tabs: []hodl.Tab{{URL: "https://example.com", Title: "d"}},
		Media: []hodl.Medium{{Kind: "video", URL: "https://example.com"}}, Notes: []hodl.NoteDraft{{Body: "e"}},
		Thread: []hodl.Node{{ID: "n", Kind: "question", Text: "f"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	h, err := api.CaptureHodl(t.Context(), hodl.HodlDraft{Title: "a", Note: "b", Tags: []string{"c"}, Location: &hodl.Location{File: "d", Repository: "e", Selection: &hodl.Selection{Text: "f"}}})
	if err != nil {
		t.Fatal(err)
	}
	minted, err := api.Mint(t.Context(), hodl.TokenDraft{Session: session.ID, Audience: "claude.anthropic.com", Scopes: []hodl.Scope{hodl.ReadContext}})
	if err != nil {
		t.Fatal(err)
	}
	arguments := map[string]string{
		"hodl show": string(h.ID), "hodl resume": string(h.ID) + " --print", "hodl search": "a", "hodl check": "https://example.com", "hodl delete": string(h.ID) + " --undo", "hodl edit": string(h.ID) + " --title x", "hodl hold": "--note x",
		"hodl session show": string(session.ID) + " --content", "hodl token inspect": minted.Token, "hodl token revoke": string(minted.ID),
		"hodl token mint":   "--session " + string(session.ID) + " --audience claude.anthropic.com --scope read:context",
		"hodl session push": "--title x",
	}
	poisoned := *server
	poisoned.URL = poisonous(t, server.URL)
	t.Chdir(t.TempDir())
	walk(commands(&env{}), func(c *cobra.Command) {
		if c.RunE == nil || c.HasSubCommands() || c.Name() == "serve" || c.Name() == "completion" {
			return
		}
		for _, more := range []string{"", " --json"} {
			args := strings.Fields(strings.TrimPrefix(c.CommandPath(), "hodl ") + " " + arguments[c.CommandPath()] + more)
			out, failed := capture(t, &poisoned, args)
			if i := strings.IndexFunc(out+failed, obeyed); i >= 0 {
				t.Errorf("hodl %v printed %q", args, (out + failed)[i:])
			}
		}
	})
}

// obeyed reports whether a terminal does something at r.
func obeyed(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsPrint(r) }

// poisonous returns the address of a server that answers as another does, but with
// poison in every text.
func poisonous(t *testing.T, address string) string {
	target, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ModifyResponse = func(r *http.Response) error {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		var v any
		if json.Unmarshal(body, &v) == nil {
			body, err = json.Marshal(spoil(v))
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Header.Set("Content-Length", strconv.Itoa(len(body)))
		return err
	}
	s := httptest.NewServer(proxy)
	t.Cleanup(s.Close)
	return s.URL
}

// spoil puts poison into every text but times, which would not be read.
func spoil(v any) any {
	switch v := v.(type) {
	case string:
		if _, err := time.Parse(time.RFC3339, v); err == nil {
			return v
		}
		return poison + v
	case []any:
		for i := range v {
			v[i] = spoil(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = spoil(v[name])
		}
	}
	return v
}
