package mcpserver

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hodl"
	"hodl/internal/capture"
	"hodl/internal/render"
	"hodl/internal/resume"
	"hodl/internal/store"
)

const (
	sessionTemplate   = "hodl://sessions/{id}{?format,part}"
	publishedTemplate = "unihodl://session/{id}"
	hodlTemplate      = "hodl://hodls/{id}"
	recentURI         = "hodl://recent"

	// contextType is the media type the published server gives a resume context.
	contextType = "application/vnd.unihodl.context+json"
)

var readsHodls = right{key: "hodls:read"}

func sessionURI(id hodl.SessionID) string { return "hodl://sessions/" + string(id) }
func hodlURI(id hodl.HodlID) string       { return "hodl://hodls/" + string(id) }

// A place is what one of our URIs names. It is read here and not by its template,
// which the SDK compiles anew for every read.
type place struct {
	session, hodl string // ids as they were given
	format, part  string
	published     bool // by its published name
}

func (p place) needs() right {
	if p.hodl != "" {
		return readsHodls
	}
	return reads
}

func parseURI(uri string) (place, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.User != nil || u.Fragment != "" {
		return place{}, false
	}
	id := strings.TrimPrefix(u.Path, "/")
	query := u.Query()
	for name := range query {
		if u.Scheme != "hodl" || u.Host != "sessions" || name != "format" && name != "part" {
			return place{}, false
		}
	}
	switch {
	case uri == recentURI:
		return place{}, true
	case id == "" || strings.Contains(id, "/"):
	case u.Scheme == "hodl" && u.Host == "sessions", u.Scheme == "unihodl" && u.Host == "session":
		return place{session: id, format: query.Get("format"), part: query.Get("part"), published: u.Scheme == "unihodl"}, true
	case u.Scheme == "hodl" && u.Host == "hodls":
		return place{hodl: id}, true
	}
	return place{}, false
}

func (s *Server) addResources() {
	forAgents := &mcp.Annotations{Audience: []mcp.Role{"assistant"}}
	s.mcp.AddResource(&mcp.Resource{
		URI: recentURI, Name: "recent", Title: "hodl: recent sessions", MIMEType: "application/json", Annotations: forAgents,
		Description: "Ids and titles of the last sessions; no content",
	}, s.read)
	s.mcp.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: sessionTemplate, Name: "session", Title: "hodl: a session", Annotations: forAgents,
		Description: "A session as an agent receives it; each read is recorded and counted as one hydration",
	}, s.read)
	s.mcp.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: publishedTemplate, Name: "session_json", Title: "hodl: a session as JSON", MIMEType: contextType, Annotations: forAgents,
		Description: "The same as JSON, by its published name",
	}, s.read)
	s.mcp.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: hodlTemplate, Name: "hodl", Title: "hodl: one hodl", MIMEType: "application/json", Annotations: forAgents,
		Description: "A page, a place in a file or a thought that was kept",
	}, s.read)
}

// read is the one handler of every resource of ours.
func (s *Server) read(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	out, err := s.readPlace(ctx, whoOf(ctx), r.Params.URI)
	if err != nil {
		return nil, wire(s.refuse(ctx, err), r.Params.URI)
	}
	out.URI = r.Params.URI
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{out}}, nil
}

func (s *Server) readPlace(ctx context.Context, w *who, uri string) (*mcp.ResourceContents, error) {
	at, ok := parseURI(uri)
	switch {
	case !ok:
		return nil, hodl.Errorf(hodl.NotFound, "there is no such resource").WithHint("resources/templates/list tells their forms")
	case at.hodl != "":
		return s.readHodl(ctx, w, at.hodl)
	case at.session != "":
		return s.readSession(ctx, w, at)
	}
	return s.readRecent(ctx, w)
}

func (s *Server) readSession(ctx context.Context, w *who, at place) (*mcp.ResourceContents, error) {
	ask := asked{session: at.session, format: at.format, part: at.part, Ask: resume.Ask{Format: render.MCP}}
	if at.published {
		ask.Format = render.JSON
	}
	h, err := s.hydrate(ctx, w, ask)
	if err != nil {
		return nil, err
	}
	switch h.Rendering.Format {
	case render.MCP:
		return contentsOf(w, h)
	case render.JSON:
		return &mcp.ResourceContents{MIMEType: contextType, Text: w.answer.splice(h.Quoted()), Meta: metaOf(h)}, nil
	}
	return &mcp.ResourceContents{MIMEType: h.Rendering.ContentType, Text: w.answer.splice(h.Quoted()), Meta: metaOf(h)}, nil
}

// contentsOf takes the contents out of the rendering that is the result of a read.
func contentsOf(w *who, h *resume.Hydration) (*mcp.ResourceContents, error) {
	var read struct {
		Contents []struct {
			MIMEType string         `json:"mimeType"`
			Text     jsontext.Value `json:"text"`
		} `json:"contents"`
	}
	if err := json.Unmarshal(h.Body(), &read); err != nil || len(read.Contents) != 1 {
		return nil, hodl.Errorf(hodl.Internal, "the rendering mcp is no result of a read: %v", err)
	}
	return &mcp.ResourceContents{MIMEType: read.Contents[0].MIMEType, Text: w.answer.splice(read.Contents[0].Text), Meta: metaOf(h)}, nil
}

func (s *Server) readHodl(ctx context.Context, w *who, given string) (*mcp.ResourceContents, error) {
	ws, m, user := w.owner()
	id, _, _ := strings.Cut(given, "-")
	h, err := s.Store.Hodl(ctx, ws, m, user, hodl.HodlID(id))
	if err != nil {
		return nil, err
	}
	lens, err := s.lens(ctx, w)
	if err == nil {
		h, err = lens.Hodl(h)
	}
	if err != nil {
		return nil, err
	}
	h.DeepLink = capture.Link(h)
	return asJSON(h)
}

func (s *Server) readRecent(ctx context.Context, w *who) (*mcp.ResourceContents, error) {
	list, _, err := s.find(ctx, w, "", store.Page{Limit: hodl.DefaultOnPage})
	if err != nil {
		return nil, err
	}
	out := []sessionItem{}
	for _, x := range list {
		out = append(out, sessionItem{x.ID, x.Title, clipped(x.Summary), x.CapturedAt, x.Tags, sessionURI(x.ID)})
	}
	return asJSON(map[string]any{"sessions": out})
}

func asJSON(v any) (*mcp.ResourceContents, error) {
	body, err := json.Marshal(v, json.Deterministic(true), jsontext.WithIndent("  "))
	return &mcp.ResourceContents{MIMEType: "application/json", Text: string(body)}, err
}

// recentResources are the sessions that a list of resources names: what they are
// called, and nothing of what is in them.
func (s *Server) recentResources(ctx context.Context, w *who) ([]*mcp.Resource, error) {
	if !w.has(reads) {
		return nil, nil
	}
	list, _, err := s.find(ctx, w, "", store.Page{Limit: mostListed - 1})
	if err != nil {
		return nil, err
	}
	out := make([]*mcp.Resource, 0, len(list))
	for _, x := range list {
		out = append(out, &mcp.Resource{
			URI: sessionURI(x.ID), Name: string(x.ID), Title: x.Title, MIMEType: contextType,
			Annotations: &mcp.Annotations{Audience: []mcp.Role{"assistant"}, LastModified: x.CapturedAt.UTC().Format(time.RFC3339)},
		})
	}
	return out, nil
}

// formats are the renderings by name, the best for a model first.
func formats() []string {
	var out []string
	for _, f := range render.Formats() {
		out = append(out, string(f))
	}
	slices.Sort(out)
	return out
}
