package mcpserver

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hodl"
	"hodl/internal/render"
	"hodl/internal/resume"
	"hodl/internal/store"
)

// resumeTool hands a session over: the rendering as it is, and nothing beside it, for
// clients differ in which half of a result a model sees.
func (s *Server) resumeTool(ctx context.Context, w *who, in jsontext.Value) (*mcp.CallToolResult, error) {
	var a struct {
		Session string `json:"session_id"`
		Format  string `json:"format"`
	}
	if err := arguments(in, &a); err != nil {
		return nil, err
	}
	h, err := s.hydrate(ctx, w, a.Session, a.Format, render.PromptReady)
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{Meta: metaOf(h), Content: []mcp.Content{&mcp.TextContent{Text: string(h.Body())}}}, nil
}

// hydrate is the one way to content: every tool, resource and prompt that shows any
// goes through it, and so leaves exactly one record.
func (s *Server) hydrate(ctx context.Context, w *who, session, format string, otherwise render.Format) (*resume.Hydration, error) {
	f := otherwise
	if format != "" {
		var err error
		if f, err = render.ParseFormat(format); err != nil {
			return nil, err
		}
	}
	id, err := s.session(ctx, w, session)
	if err != nil {
		return nil, err
	}
	return s.Resume.Hydrate(ctx, w.on(id), resume.Ask{Format: f})
}

// metaOf is what differs per call and stands outside the rendering.
func metaOf(h *resume.Hydration) mcp.Meta {
	return mcp.Meta{"hodl/hydration_id": string(h.ID), "hodl/fingerprint": h.Fingerprint}
}

// session is the session that is meant: the token's own, or the one last captured,
// when none is named.
func (s *Server) session(ctx context.Context, w *who, named string) (hodl.SessionID, error) {
	if named != "" {
		return parseSession(named)
	}
	if w.claims != nil {
		return w.claims.Session, nil
	}
	ws, m, user := w.owner()
	list, err := s.Store.Sessions(ctx, ws, m, user, store.Page{Limit: 1})
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "", hodl.Errorf(hodl.NotFound, "there is no session yet").WithHint("capture one with the extension, hodl session push or PUT /v1/sessions")
	}
	return list[0].ID, nil
}

// parseSession reads an id as people and completions give it: what follows a hyphen
// only tells which one it is.
func parseSession(named string) (hodl.SessionID, error) {
	given, _, _ := strings.Cut(named, "-")
	id, err := hodl.ParseSessionID(given)
	if err != nil {
		return "", hodl.Errorf(hodl.NotFound, "no session %.80q", named).WithHint(`a session id is "ses_" followed by 1 to 64 letters and digits; call list to find one`)
	}
	return id, nil
}
