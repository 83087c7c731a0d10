package httpapi

import (
	"cmp"
	"maps"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"hodl"
	"hodl/internal/render"
)

func operationsOf(item *huma.PathItem) map[string]*huma.Operation {
	all := map[string]*huma.Operation{"GET": item.Get, "POST": item.Post, "PUT": item.Put, "PATCH": item.Patch, "DELETE": item.Delete}
	maps.DeleteFunc(all, func(_ string, o *huma.Operation) bool { return o == nil })
	return all
}

// requestSchemas makes the schemas that a server holds requests against. What is
// answered is described in the document alone, which is committed: to describe it at
// every start would take a third of the routes' time.
type requestSchemas struct {
	huma.Registry
	answer reflect.Type // the body that the route being added answers with; nil between routes
}

func (r *requestSchemas) Schema(t reflect.Type, ref bool, hint string) *huma.Schema {
	if t == r.answer {
		return &huma.Schema{}
	}
	return r.Registry.Schema(t, ref, hint)
}

// leaveOut leaves out the body that a route answers with, unless it asks for the same.
func (r *requestSchemas) leaveOut(in, out reflect.Type) {
	asked, _ := in.FieldByName("Body")
	answer, _ := out.FieldByName("Body")
	if r.answer = answer.Type; answer.Type == asked.Type {
		r.answer = nil
	}
}

// contextBody is the default rendering of a resume context, which is written by
// render and only described here.
type contextBody struct {
	hodl.ResumeContext
	Hydration hodl.RecordID `json:"hydration_id" doc:"Id of the access record; outside the digest of what was returned"`
	Receipt   string        `json:"receipt,omitempty" doc:"Proof that the record is in the log (c2sp.org/tlog-proof), where the workspace allows it; outside the digest as well"`
}

// shapes are what the renderings that are JSON and not the context itself are; their
// fields are their frameworks'.
var shapes = map[render.Format]*huma.Schema{
	render.Anthropic:    {Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeObject}},
	render.OpenAIAgents: {Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeObject}},
	render.Gemini:       {Type: huma.TypeObject},
	render.MCP:          {Type: huma.TypeObject},
}

// describe is what a hydration answers, by media type.
func (*hydrateReply) describe(r huma.Registry) map[string]*huma.MediaType {
	out := map[string]*huma.MediaType{}
	for _, f := range render.Formats() {
		kind, _, _ := strings.Cut(f.ContentType(), ";")
		out[kind] = &huma.MediaType{Schema: cmp.Or(shapes[f], &huma.Schema{Type: huma.TypeString})}
	}
	out["application/json"] = &huma.MediaType{Schema: r.Schema(reflect.TypeFor[contextBody](), true, "")}
	return out
}
