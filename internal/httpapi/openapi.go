package httpapi

import (
	"cmp"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"hodl"
	"hodl/internal/render"
)

// share makes the refusals of all operations references to one response per status,
// which lists its codes: they are the same everywhere.
func share(spec *huma.OpenAPI) {
	shared := map[string]*huma.Response{}
	for _, item := range spec.Paths {
		for _, o := range operationsOf(item) {
			for status, r := range o.Responses {
				if status[0] < '4' {
					delete(r.Headers, "Content-Type") // the media types tell
					delete(r.Headers, "Content-Length")
					if _, byAKey := o.Security[0][byKey]; byAKey {
						tellsRates(r)
					}
					continue
				}
				name := strings.ReplaceAll(r.Description, " ", "")
				shared[name] = describeRefusal(status, r)
				o.Responses[status] = &huma.Response{Ref: "#/components/responses/" + name}
			}
		}
	}
	spec.Components.Responses = shared
	spec.Components.Headers = rateHeaders()
}

func operationsOf(item *huma.PathItem) map[string]*huma.Operation {
	all := map[string]*huma.Operation{"GET": item.Get, "POST": item.Post, "PUT": item.Put, "PATCH": item.Patch, "DELETE": item.Delete}
	maps.DeleteFunc(all, func(_ string, o *huma.Operation) bool { return o == nil })
	return all
}

func describeRefusal(status string, r *huma.Response) *huma.Response {
	n, _ := strconv.Atoi(status)
	var named []string
	if n == http.StatusRequestTimeout {
		named = append(named, string(codes[n])) // its code has another status
	}
	for code, s := range statuses {
		if s == n {
			named = append(named, string(code))
		}
	}
	slices.Sort(named)
	out := &huma.Response{Description: http.StatusText(n) + ": " + strings.Join(named, ", "), Content: r.Content}
	text := &huma.Schema{Type: "string"}
	if n == http.StatusUnauthorized {
		out.Headers = map[string]*huma.Param{
			"WWW-Authenticate": {Schema: text, Description: "RFC 6750 §3, RFC 9449 §7.1"},
			nonceHeader:        {Schema: text, Description: "What the next proof of possession must carry (RFC 9449 §9)"},
		}
	}
	if n == http.StatusTooManyRequests || n == http.StatusServiceUnavailable {
		out.Headers = map[string]*huma.Param{"Retry-After": {Schema: text, Description: "Seconds to wait"}}
	}
	if n == http.StatusTooManyRequests {
		maps.Copy(out.Headers, rateHeaders())
	}
	return out
}

// contextBody is the default rendering of a resume context, which is written by
// render and only described here.
type contextBody struct {
	hodl.ResumeContext
	Hydration hodl.RecordID `json:"hydration_id" doc:"Id of the access record; outside the digest of what was returned"`
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

// tellsRates makes the headers of a key's answer references to the common ones.
func tellsRates(r *huma.Response) {
	if r.Headers == nil {
		r.Headers = map[string]*huma.Param{}
	}
	for name := range rateHeaders() {
		r.Headers[name] = &huma.Param{Ref: "#/components/headers/" + name}
	}
}

// rateHeaders tell where a workspace stands, on every answer to a key whose plan is
// bounded.
func rateHeaders() map[string]*huma.Param {
	text := &huma.Schema{Type: "string"}
	return map[string]*huma.Param{
		"RateLimit-Policy": {Schema: text, Description: "The bound: how much at once (q) comes back in how many seconds (w)"},
		"RateLimit":        {Schema: text, Description: "What is left of it (r), and for how many seconds there is no more (t)"},
	}
}
