package httpapi

import (
	"context"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/danielgtaylor/huma/v2/validation"

	"hodl"
)

const (
	ok      = http.StatusOK
	created = http.StatusCreated

	byKey   = "apiKey"
	byToken = "resumeToken"
	byProof = "provenToken"

	// orProof, before a scope, also lets an agent in that proves possession of the
	// key its token is bound to.
	orProof = "proof or "
)

// setHumaDefaults sets huma's package variables, once; among them what it says of a
// value, so that it speaks as the core does.
var setHumaDefaults = sync.OnceFunc(func() {
	huma.NewError = newError
	huma.DefaultArrayNullable = false
	validation.MsgExpectedRequiredProperty = "%s " + isRequired
	validation.MsgUnexpectedProperty = "is not a field here; leave it out"
	validation.MsgExpectedString = "must be a string"
	validation.MsgExpectedBoolean = "must be true or false"
	validation.MsgExpectedNumber = "must be a number"
	validation.MsgExpectedInteger = "must be a whole number"
	validation.MsgExpectedArray = "must be an array"
	validation.MsgExpectedObject = "must be an object"
	validation.MsgExpectedOneOf = "must be one of %s"
	validation.MsgExpectedMinimumNumber = "must be at least %v"
	validation.MsgExpectedMaximumNumber = "must be at most %v"
	validation.MsgExpectedMaxLength = "must have at most %d characters"
	validation.MsgExpectedMaxItems = "must have at most %d items"
})

// op describes a route: its name, method, path, what the caller must hold (a key
// scope, "" for any key, or [byToken]), a summary, the status of success and the
// refusals it adds to those every route has.
type op struct {
	id, method, path, needs, summary string
	status                           int
	refusals                         []int
}

func (o op) operation() huma.Operation {
	needs, provable := strings.CutPrefix(o.needs, orProof)
	security := []map[string][]string{{byKey: {}}}
	switch {
	case needs == byToken:
		security = []map[string][]string{{byToken: {}}, {byProof: {}}}
	case provable:
		security = append(security, map[string][]string{byProof: {}})
	}
	refusals := append([]int{400, 401, 403, 415, 429, 503}, o.refusals...)
	if o.method != http.MethodGet {
		refusals = append(refusals, http.StatusRequestTimeout)
	}
	out := huma.Operation{
		OperationID: o.id, Method: o.method, Path: o.path, Summary: o.summary, DefaultStatus: o.status,
		Tags:         []string{strings.Split(o.path, "/")[2]},
		Security:     security,
		Errors:       refusals,
		MaxBodyBytes: hodl.MaxRequest + 1,
		Metadata:     map[string]any{"needs": needs, "provable": provable || needs == byToken, headerKey: o.takesKey()},
	}
	if o.takesKey() {
		out.Parameters = []*huma.Param{keyParameter}
		out.Errors = append(out.Errors, http.StatusConflict, http.StatusUnprocessableEntity)
	}
	return out
}

// A router is what routes are added to.
type router struct {
	huma.API
	bodyTimeout time.Duration // how long a body may take to arrive

	once func(context.Context) (end func(), err error) // see perform
	keep func(ctx context.Context, answer []byte) error
}

// A describer is an answer whose body is bytes, which tells what they are.
type describer interface {
	describe(huma.Registry) map[string]*huma.MediaType
}

// register adds a route whose handler returns errors of the core.
func register[I, O any](api router, o op, handle func(context.Context, *I) (*O, error)) {
	operation := o.operation()
	operation.BodyReadTimeout = api.bodyTimeout
	schemas, serving := api.OpenAPI().Components.Schemas.(*requestSchemas)
	if answer, special := any(new(O)).(describer); special && !serving {
		operation.Responses = map[string]*huma.Response{strconv.Itoa(o.status): {Content: answer.describe(api.OpenAPI().Components.Schemas)}}
	}
	if in, special := any(new(I)).(interface{ describeBody() *huma.RequestBody }); special {
		operation.RequestBody = in.describeBody()
		operation.SkipValidateBody = true
	}
	if body, has := reflect.TypeFor[I]().FieldByName("Body"); has {
		// A lenient body checks itself; huma's check would refuse what it drops.
		_, operation.SkipValidateBody = reflect.New(body.Type).Interface().(interface{ isLenient() })
	}
	if in, special := any(new(I)).(formRequest); special {
		describeBodies(&operation, in, api.OpenAPI().Components.Schemas)
		defer delete(operation.RequestBody.Content, "application/octet-stream") // huma's name for a body it does not read
	}
	if serving {
		schemas.leaveOut(reflect.TypeFor[I](), reflect.TypeFor[O]())
		defer func() { schemas.answer = nil }()
		operation.Errors = nil
	}
	huma.Register(api.API, operation, func(ctx context.Context, in *I) (*O, error) {
		out, err := perform(ctx, api, in, handle)
		if answer, ok := asKept(err, o.status); ok {
			return nil, answer
		}
		if err != nil {
			fault(ctx, err)
			return nil, toWire(err)
		}
		return out, nil
	})
}

type contextKey int

const (
	principalKey contextKey = iota
	tokenKey
	requestKey
)

// mediaType is a Content-Type without its parameters.
func mediaType(header string) string {
	kind, _, _ := mime.ParseMediaType(header) // checkType has read it
	return kind
}

// authenticate finds out who is calling before a handler runs. A key on a token's
// route, or a token on a key's, is told which is wanted.
func (s *server) authenticate(api huma.API) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		needs, _ := ctx.Operation().Metadata["needs"].(string)
		how := &requestOf(ctx.Context()).how
		credential, err := s.present(ctx, how)
		if needs == byToken && ctx.Header("Authorization") == "" && takesForm(ctx) {
			err = nil // the token stands in the body (RFC 8693 §2.1)
		} else if err == nil && (needs == byToken || how.DPoP) {
			if strings.Count(credential, ".") != 2 {
				err = hodl.Errorf(hodl.InvalidToken, "this route takes a resume token").WithHint("mint one with the API key: POST /v1/resume_tokens")
			}
			ctx = huma.WithValue(ctx, tokenKey, credential)
		} else if err == nil {
			ctx, err = s.authenticateKey(ctx, credential, needs)
		}
		if err == nil {
			err = checkType(ctx)
		}
		if err == nil {
			err = checkQuery(ctx)
		}
		if err == nil {
			ctx, err = withKey(ctx)
		}
		if err != nil {
			fault(ctx.Context(), err)
			e := toWire(err)
			for name, values := range e.header {
				ctx.SetHeader(name, values[0])
			}
			_ = huma.WriteErr(api, ctx, e.status, e.Err.Message, err) // the client may be gone
			return
		}
		next(ctx)
	}
}

// checkType refuses a body of a type that the route does not take. One that says
// nothing is taken for what the route takes.
func checkType(ctx huma.Context) error {
	header := ctx.Header("Content-Type")
	r, _ := humago.Unwrap(ctx)
	if ctx.Operation().RequestBody == nil || r.ContentLength == 0 {
		return nil
	}
	if coding := ctx.Header("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return hodl.Errorf(hodl.UnsupportedMedia, "a body encoded with %.80q cannot be read here", coding).WithHint("send it as it is, without Content-Encoding")
	}
	if header == "" {
		return nil
	}
	kind, params, err := mime.ParseMediaType(header)
	if kind == formType && ctx.Operation().RequestBody.Content[formType] != nil {
		r.Header.Set("Content-Type", kind)
		return nil
	}
	takes := ctx.Operation().RequestBody.Content
	if charset := params["charset"]; err != nil || takes[kind] == nil || charset != "" && !strings.EqualFold(charset, "utf-8") {
		return hodl.Errorf(hodl.UnsupportedMedia, "a body of the type %.80q cannot be read here", header).WithHint("%s", hints[hodl.UnsupportedMedia])
	}
	r.Header.Set("Content-Type", kind) // huma does not know it in capitals
	return nil
}

// checkQuery refuses a parameter that is there and says nothing where a number or one
// of some words is wanted: huma takes it for absent.
func checkQuery(ctx huma.Context) error {
	u := ctx.URL()
	if u.RawQuery == "" {
		return nil
	}
	query := u.Query()
	for _, p := range ctx.Operation().Parameters {
		if p.In == "query" && (p.Schema.Type != huma.TypeString || p.Schema.Enum != nil) && slices.Contains(query[p.Name], "") {
			return hodl.Invalid(p.Name, "is empty; give it a value or leave it out")
		}
	}
	return nil
}

// takesForm reports whether a form has come where one is taken.
func takesForm(ctx huma.Context) bool {
	kind, _, err := mime.ParseMediaType(ctx.Header("Content-Type"))
	body := ctx.Operation().RequestBody
	return err == nil && kind == formType && body != nil && body.Content[formType] != nil && checkType(ctx) == nil
}

func (s *server) authenticateKey(ctx huma.Context, key, needs string) (huma.Context, error) {
	p, err := s.Keys.Authenticate(ctx.Context(), key)
	if hodl.CodeOf(err) == hodl.InvalidKey && strings.Count(key, ".") == 2 {
		err = hodl.Errorf(hodl.InvalidKey, "this route takes an API key").WithHint("a resume token opens only its session: /v1/sessions/{id}/hydrate, /notes, /reasoning_nodes, /next_step")
	}
	if err == nil {
		err = p.CheckPlace(requestOf(ctx.Context()).address, ctx.Header("Origin"))
	}
	if err != nil {
		return ctx, err
	}
	readable(ctx.SetHeader, ctx.Header("Origin"))
	if err := s.admit(ctx, p); err != nil {
		return ctx, err
	}
	if p.CaptureOnly() {
		return huma.WithValue(ctx, principalKey, p), onlyCaptures(ctx)
	}
	if needs != "" && !p.May(needs) {
		return ctx, lacks(needs)
	}
	return huma.WithValue(ctx, principalKey, p), nil
}

func lacks(scope string) error {
	return hodl.Errorf(hodl.InsufficientScope, "this key does not carry %s", scope).WithHint("use a key with that scope")
}

// captures are the operations a capture-only key opens. Each makes new things and
// answers the same whatever is there.
var captures = map[string]bool{"captureHodl": true, "captureHodls": true, "capture": true, "captureSession": true}

// onlyCaptures refuses whatever else a capture-only key asks for, before anything
// is looked up. Such a key is in the hands of everybody who sees the page, so that
// an Idempotency-Key would tell one of them what another has sent: it is ignored.
func onlyCaptures(ctx huma.Context) error {
	if !captures[ctx.Operation().OperationID] {
		return hodl.Errorf(hodl.InsufficientScope, "a capture-only key makes new hodls and sessions and does nothing else").WithHint("use another key")
	}
	r, _ := humago.Unwrap(ctx)
	r.Header.Del("Idempotency-Key")
	return nil
}

func principal(ctx context.Context) *hodl.Principal {
	return ctx.Value(principalKey).(*hodl.Principal)
}
