package mcpserver

import (
	"context"
	"crypto/sha256"
	"errors"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hodl"
	"hodl/internal/resume"
	"hodl/internal/store"
)

// kept is what is told of a hodl that was captured.
type kept struct {
	ID        hodl.HodlID    `json:"id"`
	Session   hodl.SessionID `json:"session_id,omitempty"`
	CreatedAt time.Time      `json:"created_at"`
	DeepLink  string         `json:"deep_link,omitempty"`
	URI       string         `json:"uri"`
}

func (s *Server) hodlTool(ctx context.Context, w *who, in jsontext.Value) (*mcp.CallToolResult, error) {
	var a struct {
		hodl.HodlDraft
		Ref string `json:"client_ref"`
	}
	if err := arguments(in, &a); err != nil {
		return nil, err
	}
	a.Source = "mcp"
	return once(ctx, w, s.Store, a.Ref, in, "hodl", replyHodl, func(ctx context.Context) (*hodl.Hodl, error) {
		return s.Capture.Hodl(ctx, w.key, a.HodlDraft)
	})
}

func replyHodl(h *hodl.Hodl) any {
	return kept{h.ID, h.SessionID, h.CreatedAt, h.DeepLink, hodlURI(h.ID)}
}

func (s *Server) noteTool(ctx context.Context, w *who, in jsontext.Value) (*mcp.CallToolResult, error) {
	var a struct {
		Session string `json:"session_id"`
		Body    string `json:"body"`
		Ref     string `json:"client_ref"`
	}
	if err := arguments(in, &a); err != nil {
		return nil, err
	}
	id, err := s.session(ctx, w, a.Session)
	if err != nil {
		return nil, err
	}
	reply := func(out resume.Written) any {
		return struct {
			Session     hodl.SessionID `json:"session_id"`
			ID          int64          `json:"note_id"`
			CreatedAt   time.Time      `json:"created_at"`
			Fingerprint string         `json:"fingerprint"`
		}{id, out.Note, out.At, out.Fingerprint}
	}
	return once(ctx, w, nil, a.Ref, in, "note", reply, func(ctx context.Context) (resume.Written, error) {
		return s.Resume.Note(ctx, w.on(id), a.Body, "")
	})
}

func (s *Server) nextStepTool(ctx context.Context, w *who, in jsontext.Value) (*mcp.CallToolResult, error) {
	var a struct {
		Session    string   `json:"session_id"`
		Text       string   `json:"text"`
		Evidence   []string `json:"evidence"`
		DependsOn  []string `json:"depends_on"`
		Confidence *float64 `json:"confidence"`
	}
	if err := arguments(in, &a); err != nil {
		return nil, err
	}
	id, err := s.session(ctx, w, a.Session)
	if err != nil {
		return nil, err
	}
	out, err := s.Resume.NextStep(ctx, w.on(id), hodl.Node{Text: a.Text, Evidence: a.Evidence, DependsOn: a.DependsOn, Confidence: a.Confidence}, "")
	if err != nil {
		return nil, err
	}
	return structured(struct {
		Session     hodl.SessionID `json:"session_id"`
		ID          string         `json:"id"`
		CreatedAt   time.Time      `json:"created_at"`
		Fingerprint string         `json:"fingerprint"`
	}{id, resume.ProposedStep, out.At, out.Fingerprint})
}

// metaToken is where the token of a hand-off is: in the part of a result that is for
// the program that runs the agent, not for the model.
const metaToken = "hodl/resume_token"

func (s *Server) handOffTool(ctx context.Context, w *who, in jsontext.Value) (*mcp.CallToolResult, error) {
	var a struct {
		Session     string       `json:"session_id"`
		Audience    string       `json:"audience"`
		Scopes      []hodl.Scope `json:"scopes"`
		TTLSeconds  *int         `json:"ttl_seconds"`
		ConfirmedAt *int64       `json:"confirmed_at"`
	}
	if err := arguments(in, &a); err != nil {
		return nil, err
	}
	id, err := s.session(ctx, w, a.Session)
	if err != nil {
		return nil, err
	}
	var made *resume.Minted
	if w.claims != nil {
		made, err = s.Resume.Exchange(ctx, w.on(id), hodl.ExchangeDraft{Audience: a.Audience, Scopes: a.Scopes, TTLSeconds: a.TTLSeconds})
	} else {
		confirmed := ""
		if a.ConfirmedAt != nil {
			confirmed = strconv.FormatInt(*a.ConfirmedAt, 10)
		}
		caller := resume.Caller{Principal: w.key, Detail: w.call.Detail}
		made, err = s.Resume.HandOff(ctx, caller, id, confirmed, hodl.HandOffDraft{Audience: a.Audience, Scopes: a.Scopes, TTLSeconds: a.TTLSeconds})
	}
	if e, ok := errors.AsType[*hodl.Error](err); ok && e.Code == hodl.StepUpRequired {
		e.Hint = "ask the person, and call again with the Unix time of the answer as confirmed_at"
	}
	if err != nil {
		return nil, err
	}
	out, err := structured(s.handedOff(made))
	if err == nil {
		out.Meta = mcp.Meta{metaToken: made.Signed}
	}
	return out, err
}

func (s *Server) handedOff(t *resume.Minted) any {
	out := struct {
		ID        hodl.TokenID   `json:"jti"`
		Session   hodl.SessionID `json:"session_id"`
		Audience  string         `json:"audience"`
		Scopes    []hodl.Scope   `json:"scopes"`
		ExpiresAt time.Time      `json:"expires_at"`
		URL       string         `json:"handoff_url,omitempty"`
		Token     string         `json:"token"`
	}{ID: t.ID, Session: t.Session, Audience: t.Audience, Scopes: t.Scopes, ExpiresAt: t.ExpiresAt, Token: "in _meta of this result, for your program"}
	if t.Link != "" {
		out.URL = s.PublicURL + "/h/" + t.Link
	}
	return out
}

// begins is who asks whether a request took effect before; nil when what is called
// asks by itself.
type begins interface {
	Once(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, credential string) (end func(), err error)
}

// once makes a write that takes effect once under the caller's name for it: clients
// send a call again when its stream broke.
func once[R any](ctx context.Context, w *who, b begins, ref string, in jsontext.Value, name string, reply func(R) any, write func(context.Context) (R, error)) (*mcp.CallToolResult, error) {
	if ref != "" {
		if !store.IsOnceKey(ref) {
			return nil, hodl.Invalid("client_ref", "must be 1 to 255 visible ASCII characters")
		}
		digest := sha256.Sum256(in)
		ctx = store.WithOnce(ctx, &store.Once{
			Key: ref, Route: "tools/call " + name, Request: func() [32]byte { return digest },
			Encode: func(result any) ([]byte, error) {
				r, ok := result.(R)
				if !ok {
					return nil, errors.New("the result of " + name + " is of another type")
				}
				return json.Marshal(reply(r), json.Deterministic(true))
			},
		})
		if b != nil {
			ws, m, _ := w.owner()
			end, err := b.Once(ctx, ws, m, w.id())
			if again, ok := errors.AsType[*store.Repeat](err); ok {
				return structured(jsontext.Value(again.Answer))
			}
			if err != nil {
				return nil, err
			}
			defer end()
		}
	}
	out, err := write(ctx)
	if again, ok := errors.AsType[*store.Repeat](err); ok {
		return structured(jsontext.Value(again.Answer))
	}
	if err != nil {
		return nil, err
	}
	return structured(reply(out))
}
