package mcpserver

import (
	"context"
	"encoding/base64"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hodl"
	"hodl/internal/query"
	"hodl/internal/resume"
	"hodl/internal/store"
)

// Bounds of what a list looks at and tells.
const (
	mostListed  = 50
	mostScanned = 500 // sessions looked at for words: their titles are sealed
	mostSummary = 200 // bytes
)

type listing struct {
	Kind   string    `json:"kind"`
	Query  string    `json:"query"`
	Since  time.Time `json:"since"`
	Limit  int       `json:"limit"`
	Cursor string    `json:"cursor"`
}

// sessionItem is a session as the published list_sessions tells it, and where its
// content is.
type sessionItem struct {
	ID         hodl.SessionID `json:"session_id"`
	Title      string         `json:"title"`
	Summary    *string        `json:"summary"`
	CapturedAt time.Time      `json:"captured_at"`
	Tags       []string       `json:"ai_tags"`
	URI        string         `json:"uri"`
}

type hodlItem struct {
	ID        hodl.HodlID    `json:"id"`
	Title     string         `json:"title"`
	Tags      []string       `json:"tags"`
	Session   hodl.SessionID `json:"session_id,omitempty"`
	CreatedAt time.Time      `json:"created_at"`
	URI       string         `json:"uri"`
}

func (s *Server) listTool(ctx context.Context, w *who, in jsontext.Value) (*mcp.CallToolResult, error) {
	a := listing{Limit: hodl.DefaultOnPage}
	if err := arguments(in, &a); err != nil {
		return nil, err
	}
	switch {
	case a.Limit < 1 || a.Limit > mostListed:
		return nil, hodl.Invalid("limit", "must be from 1 to 50")
	case a.Kind == "hodl":
		return s.listHodls(ctx, w, a)
	case a.Kind != "" && a.Kind != "session":
		return nil, hodl.Invalid("kind", "must be session or hodl")
	}
	return s.listSessions(ctx, w, a)
}

func (s *Server) listSessions(ctx context.Context, w *who, a listing) (*mcp.CallToolResult, error) {
	page, err := a.page()
	if err != nil {
		return nil, err
	}
	list, next, err := s.find(ctx, w, a.Query, page)
	if err != nil {
		return nil, err
	}
	out := struct {
		Sessions []sessionItem `json:"sessions"`
		Next     *string       `json:"next_cursor"`
	}{Sessions: []sessionItem{}, Next: next}
	for _, x := range list {
		out.Sessions = append(out.Sessions, sessionItem{x.ID, x.Title, clipped(x.Summary), x.CapturedAt, x.Tags, sessionURI(x.ID)})
	}
	return structured(out)
}

// find lists the sessions a caller may see whose title, summary or labels hold every
// word, as an agent may see them. A token sees its own, whatever its title.
func (s *Server) find(ctx context.Context, w *who, words string, page store.Page) ([]*hodl.Session, *string, error) {
	ws, m, user := w.owner()
	lens, err := s.lens(ctx, w)
	if err != nil {
		return nil, nil, err
	}
	if w.claims != nil {
		if page.BeforeID != "" {
			return nil, nil, nil
		}
		if _, err := s.Resume.Standing(ctx, w.on(w.claims.Session)); err != nil {
			return nil, nil, err
		}
		x, err := s.Store.Session(ctx, ws, m, user, w.claims.Session)
		if err == nil {
			x, err = lens.Session(x)
		}
		return []*hodl.Session{x}, nil, err
	}
	found := make([]*hodl.Session, 0, page.Limit)
	wanted := strings.Fields(strings.ToLower(words))
	at := page
	for scanned := 0; scanned < mostScanned; scanned += at.Limit {
		list, err := s.Store.Sessions(ctx, ws, m, user, at)
		if err != nil {
			return nil, nil, err
		}
		for _, x := range list {
			at.BeforeTime, at.BeforeID = x.CapturedAt, string(x.ID)
			shown, err := lens.Session(x)
			if err != nil {
				return nil, nil, err
			}
			if holds(shown, wanted) {
				found = append(found, shown)
			}
			if len(found) == page.Limit {
				return found, cursor(encodeTime(at.BeforeTime), at.BeforeID), nil
			}
		}
		if len(list) < at.Limit {
			return found, nil, nil
		}
	}
	return found, cursor(encodeTime(at.BeforeTime), at.BeforeID), nil
}

func holds(x *hodl.Session, words []string) bool {
	text := strings.ToLower(x.Title + "\n" + x.Summary + "\n" + strings.Join(x.Tags, "\n"))
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

func (s *Server) listHodls(ctx context.Context, w *who, a listing) (*mcp.CallToolResult, error) {
	if !w.has(readsHodls) {
		return nil, w.lacks(readsHodls)
	}
	q, err := query.Parse(a.Query)
	if err != nil {
		return nil, err
	}
	ws, m, user := w.owner()
	f := store.HodlFilter{Workspace: ws, Mode: m, User: user, Query: *q, Since: a.Since, Limit: a.Limit}
	if a.Cursor != "" {
		parts, err := uncursor(a.Cursor, 1)
		if err != nil {
			return nil, err
		}
		f.Before = hodl.HodlID(parts[0])
	}
	list, err := s.Store.Hodls(ctx, f)
	if err != nil {
		return nil, err
	}
	lens, err := s.lens(ctx, w)
	if err != nil {
		return nil, err
	}
	out := struct {
		Hodls []hodlItem `json:"hodls"`
		Next  *string    `json:"next_cursor"`
	}{Hodls: []hodlItem{}}
	for _, h := range list {
		shown, err := lens.Hodl(h)
		if err != nil {
			return nil, err
		}
		out.Hodls = append(out.Hodls, hodlItem{shown.ID, titleOf(shown), shown.Tags, shown.SessionID, shown.CreatedAt, hodlURI(shown.ID)})
	}
	if len(list) == a.Limit {
		out.Next = cursor(string(list[len(list)-1].ID))
	}
	return structured(out)
}

// lens is what the caller sees lists through.
func (s *Server) lens(ctx context.Context, w *who) (*resume.Lens, error) {
	ws, m, _ := w.owner()
	named := ""
	if w.claims != nil {
		named = w.claims.RedactionPolicy
	}
	return s.Resume.Lens(ctx, ws, m, named)
}

// titleOf is what a hodl is called in a list.
func titleOf(h *hodl.Hodl) string {
	switch {
	case h.Title != "":
		return h.Title
	case h.Location != nil && h.Location.File != "":
		return h.Location.File
	}
	return h.URL
}

func (a *listing) page() (store.Page, error) {
	page := store.Page{Limit: a.Limit, Since: a.Since}
	if a.Cursor == "" {
		return page, nil
	}
	parts, err := uncursor(a.Cursor, 2)
	if err != nil {
		return page, err
	}
	page.BeforeTime, err = decodeTime(parts[0])
	page.BeforeID = parts[1]
	return page, err
}

func clipped(s string) *string {
	if s == "" {
		return nil
	}
	if len(s) > mostSummary {
		s = strings.ToValidUTF8(s[:mostSummary], "") + "…"
	}
	return &s
}

// A cursor is where a page ended: a place in the caller's own list, and no secret.
func cursor(parts ...string) *string {
	c := base64.RawURLEncoding.EncodeToString([]byte(strings.Join(parts, "\x00")))
	return &c
}

func uncursor(c string, n int) ([]string, error) {
	raw, err := base64.RawURLEncoding.DecodeString(c)
	parts := strings.Split(string(raw), "\x00")
	if err != nil || len(parts) != n {
		return nil, hodl.Invalid("cursor", "is not a next_cursor of this list")
	}
	return parts, nil
}

func encodeTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func decodeTime(s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return t, hodl.Invalid("cursor", "is not a next_cursor of this list")
	}
	return t, nil
}
