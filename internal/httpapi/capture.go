package httpapi

import (
	"context"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"

	"hodl"
	"hodl/internal/capture"
)

// anyDraft is what the published clients send to the one path they know. Any of a
// session's own fields makes it a session; else it is a hodl.
type anyDraft struct {
	hodl.SessionDraft
	URL      string         `json:"url,omitempty" doc:"Address; makes it a hodl when no field of a session is there"`
	Note     string         `json:"note,omitempty" doc:"Free text of a hodl"`
	HodlTags []string       `json:"tags,omitempty" doc:"Labels of a hodl"`
	Source   hodl.Source    `json:"source,omitempty" enum:"editor,browser,node,python,rest,mcp,cli" doc:"The kind of client, of a hodl"`
	Location *hodl.Location `json:"location,omitempty" doc:"Where in a repository, of a hodl"`
}

func (d *anyDraft) isSession() bool {
	return d.ID != "" || d.Tabs != nil || d.Media != nil || d.Thread != nil || d.Tags != nil || d.Notes != nil
}

// shapes are what the document says it is: fields of the other are unknown to each,
// and dropped.
func (anyDraft) shapes() []reflect.Type {
	return []reflect.Type{reflect.TypeFor[hodl.SessionDraft](), reflect.TypeFor[hodl.HodlDraft]()}
}

func (d *anyDraft) hodl() hodl.HodlDraft {
	return hodl.HodlDraft{URL: d.URL, Title: d.Title, Note: d.Note, Tags: d.HodlTags, Source: d.Source, Location: d.Location}
}

type anyReply struct {
	Location string `header:"Location" doc:"Path of what was captured"`
	ETag     string `header:"ETag" doc:"The fingerprint of a session"`
	Body     either
}

// either is the body of a session that was captured, or of a hodl.
type either struct{ value any }

// MarshalJSON writes the one it is.
func (e either) MarshalJSON() ([]byte, error) { return json.Marshal(e.value) }

// Schema is asked by huma for the OpenAPI document.
func (either) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{
		r.Schema(reflect.TypeFor[capturedBody](), true, ""), r.Schema(reflect.TypeFor[hodlBody](), true, ""),
	}}
}

func (s *server) captureAny(ctx context.Context, in *struct {
	IfMatchHeader
	Body lenient[anyDraft]
},
) (*anyReply, error) {
	d, err := in.Body.get()
	if err != nil {
		return nil, err
	}
	if !d.isSession() {
		reply := replyCaptured(in.Body.Unknown)
		return answer(ctx, func(h *hodl.Hodl) *anyReply {
			out := reply(h)
			return &anyReply{Location: out.Location, Body: either{out.Body}}
		})(s.Capture.Hodl(ctx, principal(ctx), d.hodl()))
	}
	if p := principal(ctx); !p.CaptureOnly() && !p.May("sessions:write") {
		return nil, lacks("sessions:write")
	}
	c := capture.SessionCapture{Draft: d.SessionDraft, Mend: true, IfMatch: entityTag(in.IfMatch)}
	reply := replySessionCaptured(in.Body.Unknown)
	return answer(ctx, func(got *capture.Captured) *anyReply {
		out := reply(got)
		return &anyReply{out.Location, out.ETag, either{out.Body}}
	})(s.Capture.Session(ctx, principal(ctx), c))
}
