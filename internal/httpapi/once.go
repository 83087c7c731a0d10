package httpapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"hodl"
	"hodl/internal/store"
)

// An idempotency key makes a write take effect once, however often it is sent. What
// was answered is kept by the store in the transaction of the effect, so a handler
// of a write says how it answers before it asks the core:
//
//	return answer(ctx, replyHodl)(s.Capture.Hodl(ctx, principal(ctx), draft))
//
// The first answer and every repeat of it are the bytes that were kept.

const (
	headerKey      = "Idempotency-Key"
	headerReplayed = "Idempotency-Replayed"
)

// takesKey reports whether an operation is a write that an idempotency key names. A
// hydration is not: each is a use of its token, and its answer is not kept.
func (o op) takesKey() bool {
	return o.method != http.MethodGet && !slices.Contains(keyless, o.id)
}

// keyless are the operations that change nothing a repeat would change again, and
// the one that uses up its own credential.
var keyless = []string{"hydrate", "introspectToken", "resumeHodl", "previewPolicy", "joinWorkspace"}

var keyParameter = &huma.Param{
	Name: headerKey, In: "header",
	Description: "A name of your choice for this request. For 24 hours, sending the same request again with the same name has no further effect and gets the same answer",
	Schema:      &huma.Schema{Type: huma.TypeString, Pattern: "^[!-~]+$", MinLength: new(1), MaxLength: new(255)},
}

// withKey reads the Idempotency-Key of a request.
func withKey(ctx huma.Context) (huma.Context, error) {
	r, _ := humago.Unwrap(ctx)
	sent := r.Header.Values(headerKey)
	if takes, _ := ctx.Operation().Metadata[headerKey].(bool); !takes || len(sent) == 0 {
		return ctx, nil
	}
	if len(sent) > 1 || !store.IsOnceKey(sent[0]) {
		return ctx, hodl.Invalid(headerKey, "must be one name of 1 to 255 visible ASCII characters")
	}
	body := sha256.New()
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.TeeReader(r.Body, body), r.Body}
	return huma.WithContext(ctx, store.WithOnce(ctx.Context(), &store.Once{
		Key: sent[0], Route: r.Method + " " + ctx.Operation().Path,
		Request: sync.OnceValue(func() [32]byte {
			_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, hodl.MaxImport)) // what no handler has read; one that breaks off is another request
			return sha256.Sum256(fmt.Appendf(nil, "%q %q %q %x", r.URL.Path, r.URL.Query().Encode(), r.Header.Get("If-Match"), body.Sum(nil)))
		}),
	})), nil
}

// answer says how the result of a write becomes its reply. It comes before the
// write, and takes what the write returned:
//
//	return answer(ctx, reply)(write())
func answer[R, O any](ctx context.Context, reply func(R) *O) func(R, error) (*O, error) {
	if o := store.OnceOf(ctx); o != nil {
		o.Encode = func(result any) ([]byte, error) {
			r, ok := result.(R)
			if _, none := any(r).(nothing); !ok && !none {
				return nil, fmt.Errorf("%s: the result is a %T, its reply is made of %T", o.Route, result, r)
			}
			return encodeReply(reply(r))
		}
	}
	return func(r R, err error) (*O, error) {
		if err != nil {
			return nil, err
		}
		return reply(r), nil
	}
}

// nothing is the result of a write that returns only an error.
type nothing struct{}

// done gives the error of such a write its result.
func done(err error) (nothing, error) { return nothing{}, err }

// perform runs a handler once for an idempotency key. The answer of a request that
// carries one comes as an error: the only way to hand huma headers and bytes that
// were made elsewhere.
func perform[I, O any](ctx context.Context, api router, in *I, handle func(context.Context, *I) (*O, error)) (*O, error) {
	o := store.OnceOf(ctx)
	if o == nil {
		return handle(ctx, in)
	}
	end, err := api.once(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	out, err := handle(ctx, in)
	if err != nil {
		return nil, err
	}
	if o.Kept() == nil { // there was nothing to write
		body, err := encodeReply(out)
		if err != nil {
			return nil, err
		}
		if err := api.keep(ctx, body); err != nil {
			return nil, err
		}
	}
	return nil, &kept{bytes: o.Kept()}
}

// once begins a request of an API key; that of a resume token begins where the token
// is verified. The role is part of who asks: what an admin was told is not repeated
// to somebody who is none any more.
func (s *server) once(ctx context.Context) (func(), error) {
	p, isKey := ctx.Value(principalKey).(*hodl.Principal)
	if !isKey {
		return func() {}, nil
	}
	return s.Store.Once(ctx, p.Workspace, p.Mode, string(p.Key)+" "+string(p.Role))
}

func (s *server) keep(ctx context.Context, answer []byte) error { return s.Store.Keep(ctx, answer) }

// encodeReply writes an answer as it is kept: the headers as a line of JSON, and the
// body. The status is the route's.
func encodeReply(out any) ([]byte, error) {
	v := reflect.ValueOf(out).Elem()
	header := map[string]string{}
	var body any
	for f, value := range v.Fields() {
		if name := f.Tag.Get("header"); name != "" && !value.IsZero() {
			header[name] = fmt.Sprint(value)
		}
		if f.Name == "Body" {
			body = value.Interface()
		}
	}
	var b bytes.Buffer
	if err := json.MarshalWrite(&b, header, json.Deterministic(true)); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	err := jsonFormat.Marshal(&b, body)
	return b.Bytes(), err
}

// kept is an answer from the store, on its way out.
type kept struct {
	bytes    []byte
	status   int
	replayed bool
}

// asKept returns the answer that an error is.
func asKept(err error, status int) (*kept, bool) {
	if again, ok := errors.AsType[*store.Repeat](err); ok {
		return &kept{again.Answer, status, true}, true
	}
	k, ok := errors.AsType[*kept](err)
	if ok {
		k.status = status
	}
	return k, ok
}

func (*kept) Error() string { return "an answer that was kept" }

// GetStatus and GetHeaders are asked by huma.
func (k *kept) GetStatus() int { return k.status }

func (k *kept) GetHeaders() http.Header {
	head, _, _ := bytes.Cut(k.bytes, []byte("\n"))
	var names map[string]string
	_ = json.Unmarshal(head, &names) // encodeReply wrote it
	out := http.Header{}
	for name, value := range names {
		out.Set(name, value)
	}
	if k.replayed {
		out.Set(headerReplayed, "true")
	}
	return out
}

// MarshalJSON is asked by the format.
func (k *kept) MarshalJSON() ([]byte, error) {
	_, body, _ := bytes.Cut(k.bytes, []byte("\n"))
	return jsontext.Value(body), nil
}
