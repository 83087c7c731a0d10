package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hodl"
)

// A Remote is a door at /mcp somewhere else.
type Remote interface {
	MCP(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
	Updates(ctx context.Context, resources []string, take func(uri string)) error
}

// Refusal is the code and message of a protocol error that a Remote came back with.
type Refusal func(err error) (code int64, message string, data json.RawMessage, ok bool)

// A Relay is the door on the person's own machine: it speaks the protocol on a pair
// of streams, with either generation of clients, and hands what is asked to the
// server. It decides nothing, so that both doors give equal results.
type Relay struct {
	remote  Remote
	refusal Refusal
	mcp     *mcp.Server

	mu   sync.Mutex
	open map[string]func() // what follows each subscribed URI
}

// NewRelay returns a relay to a remote.
func NewRelay(r Remote, refusal Refusal, release string) *Relay {
	x := &Relay{remote: r, refusal: refusal, open: map[string]func(){}}
	x.mcp = newMCP(release, mcp.ServerOptions{
		SubscribeHandler: x.subscribe, UnsubscribeHandler: x.unsubscribe,
		CompletionHandler: func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return nil, errors.New("completion is relayed")
		},
	})
	x.mcp.AddReceivingMiddleware(x.relay)
	return x
}

// Run speaks on a pair of streams until in ends, and all that was asked is answered,
// or ctx is done.
func (x *Relay) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	defer x.close()
	d := newDrain(out)
	return x.mcp.Run(ctx, &mcp.IOTransport{Reader: d.reader(in), Writer: d})
}

// relayed are the methods that the server answers, each with the form of its result.
var relayed = map[string]func() mcp.Result{
	"tools/list":               func() mcp.Result { return &mcp.ListToolsResult{} },
	"tools/call":               func() mcp.Result { return &mcp.CallToolResult{} },
	"resources/list":           func() mcp.Result { return &mcp.ListResourcesResult{} },
	"resources/templates/list": func() mcp.Result { return &mcp.ListResourceTemplatesResult{} },
	"resources/read":           func() mcp.Result { return &mcp.ReadResourceResult{} },
	"prompts/list":             func() mcp.Result { return &mcp.ListPromptsResult{} },
	"prompts/get":              func() mcp.Result { return &mcp.GetPromptResult{} },
	"completion/complete":      func() mcp.Result { return &mcp.CompleteResult{} },
}

func (x *Relay) relay(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		result, ok := relayed[method]
		if !ok {
			return next(ctx, method, r)
		}
		out := result()
		err := x.ask(ctx, method, r.GetParams(), out)
		if e, refused := errors.AsType[*hodl.Error](err); refused && method == "tools/call" {
			return failed(e), nil
		}
		return out, err
	}
}

// ask has the server answer. A refusal by the protocol stays what it is; whatever
// else went wrong is told in words.
func (x *Relay) ask(ctx context.Context, method string, p mcp.Params, out mcp.Result) error {
	var params json.RawMessage
	if p != nil && !reflect.ValueOf(p).IsNil() {
		var err error
		if params, err = json.Marshal(p); err != nil {
			return err
		}
	}
	body, err := x.remote.MCP(ctx, method, params)
	if err == nil {
		return json.Unmarshal(body, out)
	}
	if code, message, data, ok := x.refusal(err); ok {
		return &jsonrpc.Error{Code: code, Message: message, Data: data}
	}
	e, ok := errors.AsType[*hodl.Error](err)
	if !ok {
		e = hodl.Errorf(hodl.Unavailable, "no answer from the server").WithHint("check HODL_URL, and that the server runs")
	}
	if method == "tools/call" {
		return e
	}
	return wire(e, "")
}

// again is how long a broken stream rests before it is opened anew.
const again = 5 * time.Second

// subscribe follows a resource at the server until it is unsubscribed.
func (x *Relay) subscribe(_ context.Context, r *mcp.SubscribeRequest) error {
	uri := r.Params.URI
	if _, ok := parseURI(uri); !ok {
		return mcp.ResourceNotFoundError(uri)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.open[uri] != nil {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	x.open[uri] = cancel
	go x.follow(ctx, uri)
	return nil
}

func (x *Relay) follow(ctx context.Context, uri string) {
	for ctx.Err() == nil {
		err := x.remote.Updates(ctx, []string{uri}, func(changed string) {
			_ = x.mcp.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: changed}) // a client that is gone ends by itself
		})
		if _, _, _, refused := x.refusal(err); refused {
			return
		}
		if _, refused := errors.AsType[*hodl.Error](err); refused && hodl.CodeOf(err) != hodl.Unavailable {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(again):
		}
	}
}

func (x *Relay) unsubscribe(_ context.Context, r *mcp.UnsubscribeRequest) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if end := x.open[r.Params.URI]; end != nil {
		end()
		delete(x.open, r.Params.URI)
	}
	return nil
}

func (x *Relay) close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, end := range x.open {
		end()
	}
}
