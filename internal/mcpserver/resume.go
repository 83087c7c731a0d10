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

// An asked is what a tool, resource or prompt wants to hand over.
type asked struct {
	session string // as it was given; "" for the token's own, or the last
	format  string
	part    string // where an earlier result ended, "" to begin
	resume.Ask
}

// resumeTool hands a session over: the rendering as it is, and nothing beside it, for
// clients differ in which half of a result a model sees.
func (s *Server) resumeTool(ctx context.Context, w *who, in jsontext.Value) (*mcp.CallToolResult, error) {
	var a struct {
		Session   string   `json:"session_id"`
		Format    string   `json:"format"`
		MaxTokens *int     `json:"max_tokens"`
		Include   []string `json:"include"`
		Part      string   `json:"part"`
		Since     string   `json:"since"`
	}
	if err := arguments(in, &a); err != nil {
		return nil, err
	}
	ask := asked{a.Session, a.Format, a.Part, resume.Ask{Format: render.PromptReady, Include: a.Include, Since: hodl.RecordID(a.Since)}}
	switch {
	case a.MaxTokens == nil:
	case *a.MaxTokens == 0: // within, this means none
		return nil, render.CheckTokens(-1)
	default:
		ask.MaxTokens = *a.MaxTokens
	}
	h, err := s.hydrate(ctx, w, ask)
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{Meta: metaOf(h), Content: []mcp.Content{&mcp.TextContent{Text: w.answer.splice(h.Quoted())}}}, nil
}

// hydrate is the one way to content: every tool, resource and prompt that shows any
// goes through it, and so leaves exactly one record.
func (s *Server) hydrate(ctx context.Context, w *who, a asked) (*resume.Hydration, error) {
	if err := a.read(w); err != nil {
		return nil, err
	}
	id, err := s.session(ctx, w, a.session)
	if err != nil {
		return nil, err
	}
	if a.MaxTokens != 0 {
		return s.Resume.Hydrate(ctx, w.on(id), a.Ask)
	}
	for a.MaxTokens = usualTokens; ; a.MaxTokens = min(2*a.MaxTokens, render.MaxTokens) {
		h, err := s.Resume.Hydrate(ctx, w.on(id), a.Ask)
		if !resume.TooSmall(err) || a.MaxTokens == render.MaxTokens {
			return h, err
		}
	}
}

// usualTokens bounds what was asked for without a bound: clients refuse a result of
// more than 25,000. A single thing that is larger is handed over by itself.
const usualTokens = 20_000

// read puts the texts of a into its Ask.
func (a *asked) read(w *who) (err error) {
	if a.format != "" {
		if a.Format, err = render.ParseFormat(a.format); err != nil {
			return err
		}
	}
	if a.part != "" {
		if len(a.Include) > 0 {
			return hodl.Invalid("part", "cannot be asked for together with include")
		}
		a.Include = strings.Split(a.part, ",")
	}
	// The last session may be another by now.
	if refers := len(a.Include) > 0 || a.Since != ""; refers && a.session == "" && w.claims == nil {
		return hodl.Invalid("session_id", "is needed with include, part and since: give that of the earlier resume")
	}
	return nil
}

// metaOf is what differs per call and stands outside the rendering.
func metaOf(h *resume.Hydration) mcp.Meta {
	meta := mcp.Meta{"hodl/hydration_id": string(h.ID), "hodl/fingerprint": h.Fingerprint}
	if len(h.Omitted) > 0 {
		meta["hodl/next_part"] = strings.Join(h.Omitted, ",")
	}
	if h.Receipt != "" {
		meta["hodl/receipt"] = h.Receipt
	}
	return meta
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
