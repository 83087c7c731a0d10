package mcpserver

import (
	"context"
	"strings"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hodl"
	"hodl/internal/render"
	"hodl/internal/resume"
	"hodl/internal/store"
)

const (
	resumePrompt     = "resume_session"
	checkpointPrompt = "checkpoint"
)

func (s *Server) addPrompts() {
	id := &mcp.PromptArgument{Name: "session_id", Description: "ses_…; the last session when absent"}
	s.mcp.AddPrompt(&mcp.Prompt{
		Name: resumePrompt, Title: "hodl: resume a session", Description: "Put a work session before the model. Recorded and counted as one hydration",
		Arguments: []*mcp.PromptArgument{id, {Name: "focus", Description: "What to look at first"}},
	}, s.promptResume)
	s.mcp.AddPrompt(&mcp.Prompt{
		Name: checkpointPrompt, Title: "hodl: checkpoint", Description: "Have the model write down where the work stands",
		Arguments: []*mcp.PromptArgument{id},
	}, s.promptCheckpoint)
}

func (s *Server) promptResume(ctx context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	w := whoOf(ctx)
	h, err := s.hydrate(ctx, w, asked{session: r.Params.Arguments["session_id"], Ask: resume.Ask{Format: render.PromptReady}})
	if err != nil {
		return nil, wire(s.refuse(ctx, err), "")
	}
	ask := "Take up this session where it was left, and tell me the next step first."
	if focus := strings.TrimSpace(r.Params.Arguments["focus"]); focus != "" {
		ask += " Look at this first: " + focus
	}
	return &mcp.GetPromptResult{Meta: metaOf(h), Messages: []*mcp.PromptMessage{
		{Role: "user", Content: &mcp.TextContent{Text: w.answer.splice(h.Quoted())}},
		{Role: "user", Content: &mcp.TextContent{Text: ask}},
	}}, nil
}

// promptCheckpoint asks for what the tools keep. It reads nothing.
func (s *Server) promptCheckpoint(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	where := "the session we are working in (session_id of the last resume)"
	if id := r.Params.Arguments["session_id"]; id != "" {
		parsed, err := parseSession(id)
		if err != nil {
			return nil, wire(err, "")
		}
		where = "session " + string(parsed)
	}
	text := `Write down where the work stands, so that somebody else can take it up from ` + where + `:
1. Call note with what was found out and decided in this conversation, and why: five sentences at most.
2. Call next_step with the one thing to do next.
3. Call hodl for each page or place in a file that the next reader must open.
Use those of these tools that you have. Write what is known, not what is hoped; put no passwords or keys in it.`
	return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}}}, nil
}

const mostCompleted = 100

// complete offers what the caller may see. It leaves no record, for it shows no more
// than a list does.
func (s *Server) complete(ctx context.Context, r *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	p := r.Params
	if s.Fixtures != nil && !ours(p.Ref) {
		return s.Fixtures.Complete(ctx, r)
	}
	values := []string{}
	if w := whoOf(ctx); w.has(reads) {
		switch p.Argument.Name {
		case "format":
			for _, f := range formats() {
				if strings.HasPrefix(f, p.Argument.Value) {
					values = append(values, f)
				}
			}
		case "session_id", "id":
			if p.Ref.URI == hodlTemplate {
				break
			}
			found, err := s.handles(ctx, w, p.Argument.Value)
			if err != nil {
				return nil, wire(s.refuse(ctx, err), "")
			}
			values = found
		}
	}
	more := len(values) > mostCompleted
	if more {
		values = values[:mostCompleted]
	}
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: values, HasMore: more}}, nil
}

func ours(ref *mcp.CompleteReference) bool {
	return ref.Name == resumePrompt || ref.Name == checkpointPrompt || strings.HasPrefix(ref.URI, "hodl:") || strings.HasPrefix(ref.URI, "unihodl:")
}

// handles are the ids of sessions whose id or title begins so, each with its title
// behind a hyphen: a person tells them apart, and parseSession drops it again.
func (s *Server) handles(ctx context.Context, w *who, typed string) ([]string, error) {
	list, _, err := s.find(ctx, w, "", store.Page{Limit: hodl.MaxPerPage})
	if err != nil {
		return nil, err
	}
	var out []string
	typed = strings.ToLower(typed)
	for _, x := range list {
		handle := string(x.ID)
		if slug := slugOf(x.Title); slug != "" {
			handle += "-" + slug
		}
		if strings.HasPrefix(strings.ToLower(handle), typed) || strings.Contains(strings.ToLower(x.Title), typed) {
			out = append(out, handle)
		}
	}
	if out == nil {
		out = []string{}
	}
	return out, nil
}

// slugOf is a title as a part of a name: letters, digits and hyphens.
func slugOf(title string) string {
	const most = 40
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	out := ""
	for _, word := range words {
		if len(out)+len(word) >= most {
			break
		}
		if out != "" {
			out += "-"
		}
		out += word
	}
	return out
}
