package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hodl/internal/serve"
)

// What a call of the MCP door costs in processor time, load and server together: the
// load is the same for all, so that a difference is the server's. Times would tell
// little, with load and server on two busy cores.
const (
	mcpBare      = "mcp: CPU of a call, a bare net/http handler"
	mcpHello     = "mcp: CPU of a call, the SDK's hello"
	mcpCall      = "mcp: CPU of a call of ours, refused for its arguments"
	mcpList      = "mcp: CPU of a call of ours, list"
	mcpHelloLong = "mcp: CPU of 32 KB, the SDK's hello"
	mcpResume    = "mcp: CPU of 32 KB, resume"
)

const (
	mcpClients = 16
	mcpBytes   = 32 << 10
)

func mcpMeasures(ctx context.Context, dir string) ([]measure, func(), error) {
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in any
		if err := json.UnmarshalRead(r.Body, &in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.MarshalWrite(w, in) // the load checks what it gets
	}))
	sdk := httptest.NewServer(hello())
	full, stop, err := startServer(ctx, "SQLite", dir, serve.Config{})
	all := func() { bare.Close(); sdk.Close(); stop() }
	if err != nil {
		bare.Close()
		sdk.Close()
		return nil, func() {}, err
	}
	long := "ses_mcp32k"
	if err := full.furnishLong(long); err != nil {
		return nil, all, err
	}
	return []measure{
		cpu(mcpBare, bare.Listener.Addr().String(), "", "hello", `{}`),
		cpu(mcpHello, sdk.Listener.Addr().String(), "", "hello", `{}`),
		cpu(mcpCall, full.address, full.key, "resume", `{"no_such":1}`),
		cpu(mcpList, full.address, full.key, "list", `{"limit":1}`),
		cpu(mcpHelloLong, sdk.Listener.Addr().String(), "", "long", `{}`),
		cpu(mcpResume, full.address, full.key, "resume", `{"session_id":"`+long+`"}`),
	}, all, nil
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

func (t *target) furnishLong(id string) error {
	c, err := dial(t.address)
	if err != nil {
		return err
	}
	defer c.close()
	_, err = c.send(post(t.address, "/v1/sessions", t.key, draft(id, mcpBytes)))
	return err
}

// cpu calls a tool as fast as it is answered, and tells the processor time of one
// call in microseconds.
func cpu(name, address, key, tool, arguments string) measure {
	call := toolCall(address, key, tool, arguments)
	return measure{name, "µs CPU", func(ctx context.Context, d time.Duration) (result, error) {
		conns := make([]*client, mcpClients)
		for i := range conns {
			c, err := dial(address)
			if err != nil {
				return result{}, err
			}
			defer c.close()
			conns[i] = c
		}
		before := processor()
		start := time.Now()
		r, err := closedLoop(ctx, mcpClients, d, func(_ context.Context, caller, _ int) error {
			_, err := conns[caller].send(call)
			return err
		})
		calls := r.value * time.Since(start).Seconds()
		r.value = float64((processor() - before).Microseconds()) / calls
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

// processor is the processor time this process has used.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
