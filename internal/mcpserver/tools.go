package mcpserver

import (
	"context"
	"embed"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hodl"
	"hodl/internal/decode"
)

//go:embed schemas/*.json
var schemas embed.FS

// A tool is something an agent can call. Its schema is written by hand: what a model
// reads costs its context, and a schema made from Go types says more than it needs.
type tool struct {
	right
	name, title, about string
	reads              bool // changes nothing that the person would see
	outward            bool // reaches beyond the person's own data
	call               func(*Server, context.Context, *who, jsontext.Value) (*mcp.CallToolResult, error)
}

// tools are those there are, in the order they are told.
var tools = []tool{
	{
		right: right{"sessions:read", []hodl.Scope{hodl.ReadContext, hodl.ReadReasoning}}, name: "resume", title: "hodl: resume a session", reads: true, call: (*Server).resumeTool,
		about: "hodl: take up the person's work session: pages, selections, notes, conclusions, blockers, next step. Without session_id the last one. Call it when the person wants to go on with something. Recorded and counted as one hydration.",
	},
	{
		right: reads, name: "list", title: "hodl: list sessions or hodls", reads: true, call: (*Server).listTool,
		about: "hodl: find sessions (default) or hodls by words or time, newest first; ids and titles, no content. Then resume one.",
	},
	{
		right: right{"hodls:write", nil}, name: "hodl", title: "hodl: keep something", call: (*Server).hodlTool,
		about: "hodl: keep a page, a place in a file or a thought for later. Give at least a url, title, note or location.",
	},
	{
		right: right{"sessions:write", []hodl.Scope{hodl.WriteNotes}}, name: "note", title: "hodl: note on a session", call: (*Server).noteTool,
		about: "hodl: append a note to a session, for the person and whoever takes it up next.",
	},
	{
		right: right{"sessions:write", []hodl.Scope{hodl.WriteNextStep}}, name: "next_step", title: "hodl: propose the next step", call: (*Server).nextStepTool,
		about: "hodl: propose what to do next in a session, in place of an earlier proposal.",
	},
	{
		right: right{"tokens:write", []hodl.Scope{hodl.HandOff}}, name: "handoff", title: "hodl: hand a session to another agent", outward: true, call: (*Server).handOffTool,
		about: "hodl: make a resume token by which another agent or person takes the session up. Ask the person first. The token goes to your program in _meta, not to you.",
	},
}

// named is the tool of a published name.
func named(name string) string {
	if name == "list_sessions" {
		return "list"
	}
	return name
}

func toolOf(name string) (tool, bool) {
	for _, t := range tools {
		if t.name == name {
			return t, true
		}
	}
	return tool{}, false
}

// anyObject stands for the schema of a tool where the SDK keeps one: for each call it
// encodes and decodes that, in search of parameters that are headers. Ours are none,
// and lists show the tool as it is.
var anyObject = jsontext.Value(`{"type":"object"}`)

func (s *Server) addTools() {
	for _, t := range tools {
		s.mcp.AddTool(&mcp.Tool{Name: t.name, InputSchema: anyObject}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			out, err := t.call(s, ctx, whoOf(ctx), jsontext.Value(r.Params.Arguments))
			if err != nil {
				return failed(s.refuse(ctx, err)), nil
			}
			return out, nil
		})
	}
}

func (t tool) described() *mcp.Tool {
	schema, err := schemas.ReadFile("schemas/" + t.name + ".json")
	if err != nil {
		panic(err) // it is embedded; a test lists every tool
	}
	_ = (*jsontext.Value)(&schema).Compact() // a test reads it as JSON
	no := false
	a := &mcp.ToolAnnotations{ReadOnlyHint: t.reads, OpenWorldHint: &t.outward}
	if !t.reads {
		a.DestructiveHint = &no
	}
	return &mcp.Tool{Name: t.name, Title: t.title, Description: t.about, InputSchema: jsontext.Value(schema), Annotations: a}
}

// arguments reads what a tool was called with. What is wrong is said in words that a
// model can act on.
func arguments(in jsontext.Value, v any) error {
	if len(in) == 0 {
		in = jsontext.Value("{}")
	}
	err := decode.Strict(in, v)
	if e, ok := errors.AsType[*hodl.Error](err); ok && e.Code == hodl.ValidationFailed {
		e.Hint = "mend the argument and call again; the tool's schema tells what it takes"
	}
	return err
}

// structured is a small result: as data, and the same as text, for clients differ in
// which of the two a model sees.
func structured(v any, more ...mcp.Content) (*mcp.CallToolResult, error) {
	body, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	text := jsontext.Value(append([]byte(nil), body...))
	if err := text.Indent(jsontext.WithIndent("  ")); err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{
		Content:           append([]mcp.Content{&mcp.TextContent{Text: string(text)}}, more...),
		StructuredContent: jsontext.Value(body),
	}, nil
}
