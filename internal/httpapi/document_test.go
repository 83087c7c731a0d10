package httpapi

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"hodl"
)

// document encodes the OpenAPI document with its bounds, stable order and
// indentation.
func document(api huma.API) ([]byte, error) {
	raw, err := api.OpenAPI().MarshalJSON()
	if err != nil {
		return nil, err
	}
	var spec map[string]any
	if err := json.Unmarshal(raw, &spec); err != nil {
		return nil, err
	}
	tidy(spec)
	if err := bound(spec); err != nil {
		return nil, err
	}
	raw, err = json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	v := jsontext.Value(raw)
	if err := v.Canonicalize(); err != nil {
		return nil, err
	}
	err = v.Indent(jsontext.WithIndent(" "), jsontext.SpaceAfterColon(false))
	return append(deep.ReplaceAll(v, nil), '\n'), err
}

// deep is what begins a line within an operation or a schema: each of those is one
// line, for the program carries the document.
var deep = regexp.MustCompile(`\n {4,}`)

// bound adds the bounds to the schemas they name. A row for "Draft." fits every
// schema whose name ends so.
func bound(spec map[string]any) error {
	components := spec["components"].(map[string]any)
	schemas := components["schemas"].(map[string]any)
	for row, limits := range bounds {
		owner, field, _ := strings.Cut(row, ".")
		field, items := strings.CutSuffix(field, "[]")
		used := false
		for name, schema := range schemas {
			if base := strings.TrimPrefix(name, "Lenient"); base != owner && (owner != "Draft" || !strings.HasSuffix(base, owner)) {
				continue
			}
			properties, _ := schema.(map[string]any)["properties"].(map[string]any)
			property, found := properties[field].(map[string]any)
			if !found {
				continue
			}
			if items {
				property = property["items"].(map[string]any)
			}
			maps.Copy(property, limits)
			used = true
		}
		if !used {
			return fmt.Errorf("the bound of %s fits no schema", row)
		}
	}
	return nil
}

// tidy drops what says nothing: the second copy of each parameter's description and
// the schemas nothing refers to. Only what is sent to us is closed to unknown
// fields: an answer may get new ones within a version.
func tidy(spec map[string]any) {
	schemas := spec["components"].(map[string]any)["schemas"].(map[string]any)
	sent, used := map[string]bool{}, map[string]bool{}
	for _, item := range spec["paths"].(map[string]any) {
		for _, o := range item.(map[string]any) {
			operation := o.(map[string]any)
			parameters, _ := operation["parameters"].([]any)
			for _, p := range parameters {
				delete(p.(map[string]any)["schema"].(map[string]any), "description")
			}
			follow(operation["requestBody"], schemas, sent)
			follow(operation, schemas, used)
		}
	}
	follow(spec["components"].(map[string]any)["responses"], schemas, used)
	maps.DeleteFunc(schemas, func(name string, _ any) bool { return !used[name] })
	for name, schema := range schemas {
		if s := schema.(map[string]any); !sent[name] && s["additionalProperties"] == false {
			delete(s, "additionalProperties")
		}
	}
}

// follow adds the names of the schemas that v refers to, at any distance.
func follow(v any, schemas map[string]any, seen map[string]bool) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			follow(x, schemas, seen)
		}
	case map[string]any:
		ref, _ := v["$ref"].(string)
		name, isSchema := strings.CutPrefix(ref, "#/components/schemas/")
		if isSchema && !seen[name] {
			seen[name] = true
			follow(schemas[name], schemas, seen)
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			follow(v[key], schemas, seen)
		}
	}
}

// bounds are the limits the core checks, as the document tells them. They are not
// huma's to check: its messages would not say how far over a field is.
var bounds = map[string]map[string]any{
	"Draft.session_id": {"pattern": "^(ses_[A-Za-z0-9]{1,64})?$"},
	"Draft.title":      {"maxLength": hodl.MaxTitle}, "Draft.summary": {"maxLength": hodl.MaxSummary},
	"Draft.url": {"maxLength": hodl.MaxURL}, "Draft.note": {"maxLength": hodl.MaxNote},
	"Draft.tags": {"maxItems": hodl.MaxTags}, "Draft.tags[]": {"minLength": 1, "maxLength": hodl.MaxTag},
	"Draft.ai_tags": {"maxItems": hodl.MaxTags}, "Draft.ai_tags[]": {"minLength": 1, "maxLength": hodl.MaxTag},
	"Draft.tabs": {"maxItems": hodl.MaxItems}, "Draft.media": {"maxItems": hodl.MaxItems}, "Draft.notes": {"maxItems": hodl.MaxItems},
	"Draft.reasoning_thread": {"maxItems": hodl.MaxItems}, "Draft.hodl_ids": {"maxItems": hodl.MaxItems},
	"NoteDraft.body": {"minLength": 1, "maxLength": hodl.MaxNote},

	"HodlChange.title": {"maxLength": hodl.MaxTitle}, "HodlChange.url": {"maxLength": hodl.MaxURL}, "HodlChange.note": {"maxLength": hodl.MaxNote},
	"HodlChange.tags": {"maxItems": hodl.MaxTags}, "HodlChange.tags[]": {"minLength": 1, "maxLength": hodl.MaxTag},

	"Tab.url": {"minLength": 1, "maxLength": hodl.MaxURL}, "Tab.title": {"maxLength": hodl.MaxTitle},
	"Tab.selected_text": {"maxLength": hodl.MaxSelection}, "Tab.tab_role": {"maxLength": hodl.MaxName},
	"Medium.url": {"minLength": 1, "maxLength": hodl.MaxURL}, "Medium.transcript_anchor": {"maxLength": hodl.MaxSelection},
	"Node.id": {"minLength": 1, "maxLength": hodl.MaxTag}, "Node.text": {"minLength": 1, "maxLength": hodl.MaxNode},
	"NextStepBody.text": {"minLength": 1, "maxLength": hodl.MaxNode},

	"Location.repository": {"maxLength": hodl.MaxPath}, "Location.file": {"maxLength": hodl.MaxPath},
	"Location.branch": {"maxLength": hodl.MaxPath}, "Location.commit": {"maxLength": hodl.MaxPath},
	"Selection.text": {"maxLength": hodl.MaxSelection},

	"AudienceDraft.name": {"minLength": 1, "maxLength": hodl.MaxAudience}, "AudienceDraft.description": {"maxLength": hodl.MaxTitle},
	"AudienceDraft.addresses": {"maxItems": hodl.MaxPlaces}, "AudienceChange.description": {"maxLength": hodl.MaxTitle},
	"AudienceChange.addresses": {"maxItems": hodl.MaxPlaces},

	"TokenDraft.audience": {"minLength": 1, "maxLength": hodl.MaxAudience}, "TokenDraft.scopes": {"minItems": 1},
	"TokenDraft.ttl_seconds":    {"minimum": int(hodl.MinTTL.Seconds()), "maximum": int(hodl.MaxTTL.Seconds())},
	"TokenDraft.max_hydrations": {"minimum": 1, "maximum": hodl.MaxHydrations},
	"RevokeTokenRequest.reason": {"maxLength": hodl.MaxTitle}, "KeyDraft.name": {"minLength": 1, "maxLength": hodl.MaxName}, "KeyChange.name": {"minLength": 1, "maxLength": hodl.MaxName},
	"KeyDraft.scopes": {"minItems": 1}, "KeyDraft.scopes[]": {"enum": hodl.KeyScopes}, "KeyChange.scopes": {"minItems": 1}, "KeyChange.scopes[]": {"enum": hodl.KeyScopes},
	"KeyDraft.addresses": {"maxItems": hodl.MaxPlaces}, "KeyDraft.origins": {"maxItems": hodl.MaxPlaces},
	"KeyChange.addresses": {"maxItems": hodl.MaxPlaces}, "KeyChange.origins": {"maxItems": hodl.MaxPlaces},
	"AddMemberRequest.name": {"minLength": 1, "maxLength": hodl.MaxName}, "ChangeMemberRequest.name": {"minLength": 1, "maxLength": hodl.MaxName},
	"CreateWorkspaceRequest.name": {"minLength": 1, "maxLength": hodl.MaxName}, "ChangeWorkspaceRequest.name": {"minLength": 1, "maxLength": hodl.MaxName},
	"ChangeWorkspaceRequest.max_ttl_seconds": {"minimum": int(hodl.MinTTL.Seconds()), "maximum": int(hodl.MaxTTL.Seconds())},
	"ChangeWorkspaceRequest.max_hydrations":  {"minimum": 1, "maximum": hodl.MaxHydrations}, "ChangeWorkspaceRequest.hydrations_an_hour": {"minimum": 0},
	"EraseMemberRequest.reason":        {"maxLength": hodl.MaxTitle},
	"RotateKeyRequest.overlap_seconds": {"minimum": 0, "maximum": int(maxOverlap.Seconds())},
}

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
