package httpapi

import (
	"context"
	"time"

	"hodl"
	"hodl/internal/render"
	"hodl/internal/resume"
)

// AgentCall is what every route of a resume token takes.
type AgentCall struct {
	SessionPath
	Audience string `header:"Hodl-Audience" doc:"Who the caller is; must be the token's audience when given"`
	Proof    string `header:"DPoP" doc:"Proof of possession (RFC 9449), for a token that is bound to a key: then it stands in Authorization as DPoP instead of Bearer"`
}

func (c *AgentCall) call(ctx context.Context) resume.Call {
	token, _ := ctx.Value(tokenKey).(string)
	return resume.Call{Token: token, Session: hodl.SessionID(c.ID), Audience: c.Audience, Surface: resume.REST, Presentation: requestOf(ctx).how, Detail: detail(ctx)}
}

type HydrateInput struct {
	AgentCall
	Published string   `header:"X-Unihodl-Format" doc:"The rendering, as the published clients ask for it, such as prompt-ready"`
	Format    string   `query:"format" enum:"json,prompt-ready,markdown,anthropic,gemini,openai-agents,mcp" doc:"The rendering"`
	MaxTokens int      `query:"max_tokens" minimum:"1200" maximum:"1000000" doc:"The most tokens of the body; what is left out stands in omitted, with handles"`
	Include   []string `query:"include" maxItems:"16" doc:"Handles from omitted, by commas: what they name, and no new hydration"`
	Since     string   `query:"since" maxLength:"64" doc:"Id of an earlier hydration with this token: only what changed after it"`
	Accept    string   `header:"Accept" doc:"The media type of a rendering, such as text/x-unihodl-prompt"`
}

// format is the rendering asked for: by parameter, by the published header, by
// Accept, in that order.
func (in *HydrateInput) format() (render.Format, error) {
	switch {
	case in.Format != "":
		return render.ParseFormat(in.Format)
	case in.Published != "":
		return render.ParseFormat(in.Published)
	}
	return negotiate(in.Accept)
}

type hydrateReply struct {
	ContentType string `header:"Content-Type"`
	Length      int    `header:"Content-Length"`
	ETag        string `header:"ETag" doc:"The fingerprint of the version"`
	Hydration   string `header:"Hodl-Hydration" doc:"Id of the access record"`
	Receipt     string `header:"Hodl-Receipt" doc:"Proof that the record is in the log (c2sp.org/tlog-proof), in base64url; where the workspace allows it"`
	Body        []byte
}

func (s *server) hydrate(ctx context.Context, in *HydrateInput) (*hydrateReply, error) {
	f, err := in.format()
	if err != nil {
		return nil, err
	}
	h, err := s.Resume.Hydrate(ctx, in.call(ctx), resume.Ask{Format: f, MaxTokens: in.MaxTokens, Include: in.Include, Since: hodl.RecordID(in.Since)})
	if err != nil {
		return nil, err
	}
	body := h.Body()
	return &hydrateReply{h.Rendering.ContentType, len(body), etag(h.Fingerprint), string(h.ID), asHeader(h.Receipt), body}, nil
}

type noteReply struct {
	ETag string `header:"ETag" doc:"The fingerprint of the new version"`
	Body struct {
		ID        int64     `json:"note_id" doc:"Number of the note within its session"`
		CreatedAt time.Time `json:"created_at" doc:"When it was written (RFC 3339, UTC)"`
	}
}

func (s *server) noteAppend(ctx context.Context, in *struct {
	AgentCall
	IfMatchHeader
	Body hodl.NoteDraft
},
) (*noteReply, error) {
	return answer(ctx, func(w resume.Written) *noteReply {
		out := &noteReply{ETag: etag(w.Fingerprint)}
		out.Body.ID, out.Body.CreatedAt = w.Note, w.At
		return out
	})(s.Resume.Note(ctx, in.call(ctx), in.Body.Body, ifMatch(in.IfMatch)))
}

type nodeReply struct {
	ETag string `header:"ETag" doc:"The fingerprint of the new version"`
	Body struct {
		ID          string    `json:"id" doc:"Id of the node within its thread"`
		CreatedAt   time.Time `json:"created_at" doc:"When it was written (RFC 3339, UTC)"`
		Fingerprint string    `json:"fingerprint" doc:"Names the new version"`
	}
}

func replyNode(id string) func(resume.Written) *nodeReply {
	return func(w resume.Written) *nodeReply {
		out := &nodeReply{ETag: etag(w.Fingerprint)}
		out.Body.ID, out.Body.CreatedAt, out.Body.Fingerprint = id, w.At, w.Fingerprint
		return out
	}
}

func (s *server) nodeAppend(ctx context.Context, in *struct {
	AgentCall
	IfMatchHeader
	Body hodl.Node
},
) (*nodeReply, error) {
	return answer(ctx, replyNode(in.Body.ID))(s.Resume.Node(ctx, in.call(ctx), in.Body, ifMatch(in.IfMatch)))
}

type nextStepBody struct {
	Text       string   `json:"text" doc:"The step in words; at most 8 KiB"`
	Evidence   []string `json:"evidence,omitempty" doc:"Addresses or quotations it rests on"`
	DependsOn  []string `json:"depends_on,omitempty" doc:"Ids of nodes that must hold first"`
	Confidence *float64 `json:"confidence,omitempty" minimum:"0" maximum:"1" doc:"How sure the agent is, 0 to 1"`
}

func (s *server) nextStep(ctx context.Context, in *struct {
	AgentCall
	IfMatchHeader
	Body nextStepBody
},
) (*nodeReply, error) {
	n := hodl.Node{Text: in.Body.Text, Evidence: in.Body.Evidence, DependsOn: in.Body.DependsOn, Confidence: in.Body.Confidence}
	return answer(ctx, replyNode(resume.ProposedStep))(s.Resume.NextStep(ctx, in.call(ctx), n, ifMatch(in.IfMatch)))
}
