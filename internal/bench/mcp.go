package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hodl/internal/serve"
)

// What a call of the MCP door costs its server in processor time. Times would tell
// little, with load and server on two busy cores.
const (
	mcpBare      = "mcp: server's CPU of a call, a bare net/http handler"
	mcpHello     = "mcp: server's CPU of a call, the SDK's hello"
	mcpCall      = "mcp: server's CPU of a call of ours, refused for its arguments"
	mcpList      = "mcp: server's CPU of a call of ours, list"
	mcpHelloLong = "mcp: server's CPU of 32 KB, the SDK's hello"
	mcpResume    = "mcp: server's CPU of 32 KB, resume"
)

const (
	mcpClients = 16
	mcpBytes   = 32 << 10
)

// mcpMeasures compare three processes: the program as it is released, and this one
// run again as each of the opponents.
func mcpMeasures(ctx context.Context, dir string) ([]measure, func(), error) {
	var started []*process
	stop := func() {
		for _, p := range started {
			p.stop()
		}
	}
	binary, err := release(ctx, dir)
	if err != nil {
		return nil, stop, err
	}
	data, err := os.MkdirTemp(dir, "data-")
	if err != nil {
		return nil, stop, err
	}
	for _, command := range [][]string{{os.Args[0], opponent, "bare"}, {os.Args[0], opponent, "hello"}, {binary, "serve", "--json", "--listen", "127.0.0.1:0", "--data", data}} {
		p, err := startProcess(ctx, command[0], command[1:]...)
		if err != nil {
			return nil, stop, err
		}
		started = append(started, p)
	}
	bare, hello, ours := started[0], started[1], started[2]
	const long = "ses_mcp32k"
	if err := ours.furnish(long); err != nil {
		return nil, stop, err
	}
	return []measure{
		bare.cost(mcpBare, "hello", `{}`),
		hello.cost(mcpHello, "hello", `{}`),
		ours.cost(mcpCall, "resume", `{"no_such":1}`),
		ours.cost(mcpList, "list", `{"limit":1}`),
		hello.cost(mcpHelloLong, "long", `{}`),
		ours.cost(mcpResume, "resume", `{"session_id":"`+long+`"}`),
	}, stop, nil
}

// opponent, as the first argument, has this program serve what ours is compared with.
const opponent = "opponent"

// oppose serves an opponent until the process is ended.
func oppose(name string) error {
	serve.TuneGC()
	handler := map[string]http.Handler{"bare": http.HandlerFunc(echo), "hello": hello()}[name]
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("{\"url\":\"http://%s\"}\n", l.Addr())
	return http.Serve(l, handler)
}

// echo is the least a server can be.
func echo(w http.ResponseWriter, r *http.Request) {
	var in any
	if err := json.UnmarshalRead(r.Body, &in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.MarshalWrite(w, in) // the load checks what it gets
}

// hello is the least a server on the SDK can be.
func hello() http.Handler {
	s := mcp.NewServer(&mcp.Implementation{Name: "hello", Version: "1"}, nil)
	for name, text := range map[string]string{"hello": "hello", "long": strings.Repeat("it is stale on the second node\n", mcpBytes/31)} {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: map[string]any{"type": "object"}}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
		})
	}
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true})
}

// furnish captures a session of 32 KB.
func (p *process) furnish(id string) error {
	c, err := dial(p.address)
	if err != nil {
		return err
	}
	defer c.close()
	_, err = c.send(post(p.address, "/v1/sessions", p.key, draft(id, mcpBytes)))
	return err
}

// cost calls a tool as fast as it is answered, and tells what one call takes of the
// server's processor time, in microseconds.
func (p *process) cost(name, tool, arguments string) measure {
	call := toolCall(p.address, p.key, tool, arguments)
	return measure{name, "µs CPU", func(ctx context.Context, d time.Duration) (result, error) {
		conns := make([]*client, mcpClients)
		for i := range conns {
			c, err := dial(p.address)
			if err != nil {
				return result{}, err
			}
			defer c.close()
			conns[i] = c
		}
		var calls atomic.Int64
		before, err := p.processor()
		if err != nil {
			return result{}, err
		}
		r, err := closedLoop(ctx, mcpClients, d, func(_ context.Context, caller, _ int) error {
			_, err := conns[caller].send(call)
			calls.Add(1)
			return err
		})
		if err != nil {
			return result{}, err
		}
		after, err := p.processor()
		r.value = float64((after - before).Nanoseconds()) / 1e3 / float64(calls.Load())
		return r, err
	}}
}

func toolCall(host, key, tool, arguments string) []byte {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{`+
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"}}}}`, tool, arguments)
	var b bytes.Buffer
	fmt.Fprintf(&b, "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n", host)
	fmt.Fprintf(&b, "Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: %s\r\n", tool)
	if key != "" {
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", key)
	}
	fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(body), body)
	return b.Bytes()
}
