package mcpserver_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hodl/internal/mcpserver"
)

// What is told on the way goes out at once, while the call goes on.
func TestProgressGoesOutAtOnce(t *testing.T) {
	seen := make(chan struct{})
	w := newWorld(t, func(o *mcpserver.Options) {
		o.Fixtures = &mcpserver.Fixtures{Add: func(s *mcp.Server) {
			s.AddTool(&mcp.Tool{Name: "slow", InputSchema: map[string]any{"type": "object"}}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				if err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 1}); err != nil {
					return nil, err
				}
				select {
				case <-seen:
				case <-ctx.Done():
				}
				return &mcp.CallToolResult{}, ctx.Err()
			})
		}}
	})
	answer, err := http.DefaultClient.Do(w.request(t.Context(), legacy, w.ada.key, "tools/call", `{"name":"slow","_meta":{"progressToken":"p"}}`))
	w.must(err)
	defer answer.Body.Close()
	in := bufio.NewReader(answer.Body)
	for line := ""; !strings.Contains(line, "notifications/progress"); {
		line, err = in.ReadString('\n')
		w.must(err)
	}
	close(seen)
	rest, err := io.ReadAll(in)
	w.must(err)
	if !bytes.Contains(rest, []byte(`"result"`)) {
		t.Errorf("behind the progress came %q", rest)
	}
}
