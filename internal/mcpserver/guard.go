package mcpserver

import (
	"context"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// longest is how long a call may take, but for a stream.
const longest = 50 * time.Second

// guard stands in front of every method: it refuses what the caller has no right to
// and leaves out of lists what is not theirs to use.
func (s *Server) guard(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		w := whoOf(ctx)
		switch p := r.GetParams().(type) {
		case *mcp.SubscriptionsListenParams:
			return s.listen(ctx, p, func() (mcp.Result, error) { return next(ctx, method, r) })
		case *mcp.SubscribeParams:
			if s.Fixtures == nil {
				return nil, unsupported(method)
			}
		case *mcp.CallToolParamsRaw:
			p.Name = named(p.Name)
		}
		if need, known := needs(r.GetParams()); known && !w.has(need) {
			return nil, wire(s.refuse(ctx, w.lacks(need)), "")
		}
		ctx, cancel := context.WithTimeout(ctx, longest)
		defer cancel()
		out, err := next(ctx, method, r)
		if err != nil {
			return nil, err
		}
		return s.shown(ctx, w, out)
	}
}

// unsupported refuses a method. A subscription of the older protocol would be
// accepted by the SDK and never deliver: each of its requests stands alone.
func unsupported(method string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: method + " is not supported over HTTP; use subscriptions/listen of protocol version 2026-07-28"}
}

// needs is the right a request takes; known is false for what is not ours.
func needs(p mcp.Params) (need right, known bool) {
	switch p := p.(type) {
	case *mcp.CallToolParamsRaw:
		t, ok := toolOf(p.Name)
		return t.right, ok
	case *mcp.GetPromptParams:
		if p.Name == resumePrompt {
			return reads, true
		}
	case *mcp.ReadResourceParams:
		if at, ok := parseURI(p.URI); ok {
			return at.needs(), true
		}
	}
	return anyone, false
}

// shown is a result as the caller may see it.
func (s *Server) shown(ctx context.Context, w *who, out mcp.Result) (mcp.Result, error) {
	switch out := out.(type) {
	case *mcp.ListToolsResult:
		out.Tools = slices.DeleteFunc(out.Tools, func(x *mcp.Tool) bool {
			t, ours := toolOf(x.Name)
			return ours && !w.has(t.right)
		})
		for i, x := range out.Tools {
			if t, ours := toolOf(x.Name); ours {
				out.Tools[i] = t.described()
			}
		}
	case *mcp.ListPromptsResult:
		out.Prompts = slices.DeleteFunc(out.Prompts, func(x *mcp.Prompt) bool { return x.Name == resumePrompt && !w.has(reads) })
	case *mcp.ListResourceTemplatesResult:
		out.ResourceTemplates = slices.DeleteFunc(out.ResourceTemplates, func(x *mcp.ResourceTemplate) bool {
			return x.URITemplate == hodlTemplate && !w.has(readsHodls)
		})
	case *mcp.ListResourcesResult:
		recent, err := s.recentResources(ctx, w)
		if err != nil {
			return nil, wire(s.refuse(ctx, err), "")
		}
		out.Resources = append(out.Resources, recent...)
	case *mcp.InitializeResult:
		if s.Fixtures == nil {
			capabilities := *out.Capabilities
			capabilities.Resources = &mcp.ResourceCapabilities{} // see unsupported
			out.Capabilities = &capabilities
		}
	}
	return out, nil
}
