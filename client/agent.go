package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"hodl"
)

// An Agent calls the API with a resume token: it takes up the one session the
// token opens. It is safe for concurrent use.
type Agent struct{ caller }

// NewAgent returns an agent for the server at baseURL that presents token.
func NewAgent(baseURL, token string, options ...Option) *Agent {
	return &Agent{newCaller(baseURL, token, options)}
}

// Context is a resume context and the receipt of the hand-off.
type Context struct {
	hodl.ResumeContext
	Hydration hodl.RecordID `json:"hydration_id"` // the access record
	Receipt   string        `json:"receipt"`      // that it is in the log; "" where the workspace allows none
}

// Rendering is a resume context as the server wrote it.
type Rendering struct {
	Body        []byte
	ContentType string
	Fingerprint string        // the version of the session
	Hydration   hodl.RecordID // the access record
}

// Hydrate receives the session: POST /v1/sessions/{id}/hydrate. Each call uses up
// one hydration of the token.
func (a *Agent) Hydrate(ctx context.Context, id hodl.SessionID) (*Context, error) {
	r, err := a.Render(ctx, id, Ask{Format: "json"})
	if err != nil {
		return nil, err
	}
	out := &Context{}
	if err := json.Unmarshal(r.Body, out); err != nil {
		return nil, fmt.Errorf("decode the resume context: %w", err)
	}
	return out, nil
}

// An Ask is what an agent wants of a session. The zero Ask is all there is, as JSON.
type Ask struct {
	Format    string        // json, prompt-ready, markdown, anthropic, gemini, openai-agents or mcp
	MaxTokens int           // the most tokens of the body, 1,200 at least; 0 for no bound
	Include   []string      // handles from omitted: what they name, and no new hydration
	Since     hodl.RecordID // an earlier hydration with this token: only what changed after it
}

// Render receives the session as it is asked for. Each call uses up one hydration of the token, but
// for one that includes what another left out, or finds nothing changed.
func (a *Agent) Render(ctx context.Context, id hodl.SessionID, ask Ask) (*Rendering, error) {
	q := url.Values{}
	set(q, "format", ask.Format)
	set(q, "since", string(ask.Since))
	set(q, "include", strings.Join(ask.Include, ","))
	if ask.MaxTokens != 0 {
		q.Set("max_tokens", strconv.Itoa(ask.MaxTokens))
	}
	header, body, err := a.send(ctx, call{method: "POST", path: "/v1/sessions/" + segment(id) + "/hydrate", query: q, metered: true})
	if err != nil {
		return nil, err
	}
	return &Rendering{
		Body: body, ContentType: header.Get("Content-Type"),
		Fingerprint: strings.Trim(header.Get("ETag"), `"`), Hydration: hodl.RecordID(header.Get("Hodl-Hydration")),
	}, nil
}

// Noted is a note that was written.
type Noted struct {
	ID        int64     `json:"note_id"` // unique within the session
	CreatedAt time.Time `json:"created_at"`
}

// Written is a reasoning node that was written.
type Written struct {
	ID          string    `json:"id"` // unique within the thread
	CreatedAt   time.Time `json:"created_at"`
	Fingerprint string    `json:"fingerprint"` // names the new version
}

// Step is the next step an agent proposes.
type Step struct {
	Text       string   `json:"text"`
	Evidence   []string `json:"evidence,omitempty"`
	DependsOn  []string `json:"depends_on,omitempty"`
	Confidence *float64 `json:"confidence,omitempty"` // 0 to 1
}

// Note appends a note; the token needs [hodl.WriteNotes]:
// POST /v1/sessions/{id}/notes.
func (a *Agent) Note(ctx context.Context, id hodl.SessionID, body string, options ...CallOption) (*Noted, error) {
	out := &Noted{}
	k := call{method: "POST", path: "/v1/sessions/" + segment(id) + "/notes", in: hodl.NoteDraft{Body: body}, options: options}
	return out, a.do(ctx, k, out)
}

// Node appends a reasoning node; the token needs [hodl.WriteNextStep]:
// POST /v1/sessions/{id}/reasoning_nodes.
func (a *Agent) Node(ctx context.Context, id hodl.SessionID, n hodl.Node, options ...CallOption) (*Written, error) {
	out := &Written{}
	k := call{method: "POST", path: "/v1/sessions/" + segment(id) + "/reasoning_nodes", in: n, options: options}
	return out, a.do(ctx, k, out)
}

// NextStep proposes the next step, in place of the one proposed before; the token
// needs [hodl.WriteNextStep]: PUT /v1/sessions/{id}/next_step.
func (a *Agent) NextStep(ctx context.Context, id hodl.SessionID, s Step, options ...CallOption) (*Written, error) {
	out := &Written{}
	k := call{method: "PUT", path: "/v1/sessions/" + segment(id) + "/next_step", in: s, options: options}
	return out, a.do(ctx, k, out)
}
