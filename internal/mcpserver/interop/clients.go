package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A run has one client do the script over one transport, and returns what came back.
type script struct {
	name string
	run  func(context.Context, *bench) ([]byte, error)
}

// clients has four clients run one script over both doors and both generations of
// the protocol. Whatever the way, the results are the same.
func clients() []step {
	var first []any
	var all []step
	for _, s := range scripts() {
		all = append(all, step{"client " + s.name, func(ctx context.Context, b *bench) error {
			out, err := s.run(ctx, b)
			if err != nil {
				return err
			}
			var got []any
			if err := json.Unmarshal(out, &got); err != nil {
				return fmt.Errorf("what it printed: %w", err)
			}
			for i := range got {
				got[i] = comparable(got[i])
			}
			if first == nil {
				first = got
			}
			if diff := cmp.Diff(first, got); diff != "" {
				return fmt.Errorf("the results differ from those of the first client (-first +this):\n%s", diff)
			}
			return nil
		}})
	}
	return all
}

func scripts() []script {
	var all []script
	for _, mode := range []string{"legacy", "auto", "pin"} {
		all = append(all, script{"TypeScript 2, HTTP, " + mode, func(ctx context.Context, b *bench) ([]byte, error) {
			return b.node24(ctx, "v2.mjs", "script.json", "http", b.product.url+"/mcp", b.product.key, mode)
		}})
	}
	for _, mode := range []string{"legacy", "auto"} {
		all = append(all,
			script{"TypeScript 2, stdio, " + mode, func(ctx context.Context, b *bench) ([]byte, error) {
				return b.node24(ctx, "v2.mjs", "script.json", "stdio", b.program, mode)
			}},
			script{"Python, HTTP, " + mode, func(ctx context.Context, b *bench) ([]byte, error) {
				return b.output(exec.CommandContext(ctx, b.python, "client.py", "script.json", "http", b.product.url+"/mcp", b.product.key, mode))
			}},
			script{"Python, stdio, " + mode, func(ctx context.Context, b *bench) ([]byte, error) {
				return b.output(exec.CommandContext(ctx, b.python, "client.py", "script.json", "stdio", b.program, mode))
			}})
	}
	return append(all,
		script{"TypeScript 1, HTTP", func(ctx context.Context, b *bench) ([]byte, error) {
			return b.node24(ctx, "v1.mjs", "script.json", "http", b.product.url+"/mcp", b.product.key)
		}},
		script{"TypeScript 1, stdio", func(ctx context.Context, b *bench) ([]byte, error) {
			return b.node24(ctx, "v1.mjs", "script.json", "stdio", b.program)
		}},
		script{"Go, HTTP", func(ctx context.Context, b *bench) ([]byte, error) {
			return b.goClient(ctx, &mcp.StreamableClientTransport{Endpoint: b.product.url + "/mcp", HTTPClient: &http.Client{Transport: presents(b.product.key)}})
		}},
		script{"Go, stdio", func(ctx context.Context, b *bench) ([]byte, error) {
			c := exec.CommandContext(ctx, b.program, "mcp")
			c.Env = b.environment()
			return b.goClient(ctx, &mcp.CommandTransport{Command: c})
		}})
}

func (b *bench) node24(ctx context.Context, args ...string) ([]byte, error) {
	return b.output(exec.CommandContext(ctx, b.node, args...))
}

func (b *bench) environment() []string {
	return append(os.Environ(), "HODL_URL="+b.product.url, "HODL_API_KEY="+b.product.key, "MODULES="+b.cache)
}

func (b *bench) output(c *exec.Cmd) ([]byte, error) {
	c.Dir, c.Env = b.cache, b.environment()
	out, err := c.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil, fmt.Errorf("%w\n%s", err, lines(exit.Stderr, 20))
	}
	return out, err
}

type presents string

func (key presents) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(key))
	return http.DefaultTransport.RoundTrip(r)
}

// comparable leaves out of a result what differs by call, by version of the protocol
// or by what a library does with absent values.
func comparable(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, x := range v {
			switch x = comparable(x); {
			case x == nil, name == "_meta", name == "ttlMs", name == "cacheScope", name == "resultType", x == false, name == "total":
				delete(v, name)
			default:
				v[name] = x
			}
		}
	case []any:
		for i, x := range v {
			v[i] = comparable(x)
		}
	}
	return v
}

// goClient runs the script with the Go SDK.
func (b *bench) goClient(ctx context.Context, t mcp.Transport) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(b.cache, "script.json"))
	if err != nil {
		return nil, err
	}
	var script []struct {
		Method string
		Params json.RawMessage
	}
	if err := json.Unmarshal(text, &script); err != nil {
		return nil, err
	}
	s, err := mcp.NewClient(&mcp.Implementation{Name: "interop", Version: "1"}, nil).Connect(ctx, t, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }() // the program has ended, or is told to
	var out []any
	for _, x := range script {
		result, err := calls[x.Method](ctx, s, x.Params)
		if refused, ok := errors.AsType[*jsonrpc.Error](err); ok {
			out = append(out, map[string]any{"error": map[string]any{"code": refused.Code}})
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", x.Method, err)
		}
		out = append(out, map[string]any{"result": result})
	}
	return json.Marshal(out)
}

type call func(context.Context, *mcp.ClientSession, json.RawMessage) (any, error)

var calls = map[string]call{
	"tools/list":               with((*mcp.ClientSession).ListTools),
	"tools/call":               with((*mcp.ClientSession).CallTool),
	"resources/list":           with((*mcp.ClientSession).ListResources),
	"resources/templates/list": with((*mcp.ClientSession).ListResourceTemplates),
	"resources/read":           with((*mcp.ClientSession).ReadResource),
	"prompts/list":             with((*mcp.ClientSession).ListPrompts),
	"prompts/get":              with((*mcp.ClientSession).GetPrompt),
	"completion/complete":      with((*mcp.ClientSession).Complete),
}

func with[P, R any](method func(*mcp.ClientSession, context.Context, *P) (R, error)) call {
	return func(ctx context.Context, s *mcp.ClientSession, raw json.RawMessage) (any, error) {
		p := new(P)
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, p); err != nil {
				return nil, err
			}
		}
		return method(s, ctx, p)
	}
}
