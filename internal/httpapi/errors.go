package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"

	"hodl"
	"hodl/internal/decode"
	"hodl/internal/dpop"
)

// statuses is where, and only where, a code becomes a status.
var statuses = map[hodl.Code]int{
	hodl.MalformedJSON: 400, hodl.BadRequest: 400,
	hodl.MissingCredentials: 401, hodl.InvalidKey: 401, hodl.InvalidToken: 401, hodl.TokenExpired: 401, hodl.TokenNotYetValid: 401,
	hodl.ProofRequired: 401, hodl.InvalidProof: 401,
	hodl.InsufficientScope: 403, hodl.AudienceMismatch: 403, hodl.TokenRevoked: 403, hodl.HydrationsExhausted: 403, hodl.PlanRequired: 403, hodl.StepUpRequired: 403, hodl.Forbidden: 403,
	hodl.NotFound: 404, hodl.MethodNotAllowed: 405, hodl.NotAcceptable: 406,
	hodl.InvalidTransition: 409, hodl.Conflict: 409, hodl.Gone: 410, hodl.Stale: 412,
	hodl.PayloadTooLarge: 413, hodl.UnsupportedMedia: 415, hodl.ValidationFailed: 422, hodl.IdempotencyMismatch: 422,
	hodl.RateLimited: 429, hodl.QuotaExceeded: 429,
	hodl.Internal: 500, hodl.Unavailable: 503,
}

// codes gives a code to a status that the framework chose.
var codes = map[int]hodl.Code{
	400: hodl.BadRequest, 404: hodl.NotFound, 405: hodl.MethodNotAllowed, 406: hodl.NotAcceptable, 408: hodl.BadRequest,
	413: hodl.PayloadTooLarge, 415: hodl.UnsupportedMedia, 422: hodl.ValidationFailed, 503: hodl.Unavailable,
}

// errorBody is the published envelope: error is an object on every failure of
// every route.
type errorBody struct {
	Err errorDetail `json:"error"`

	status int
	header http.Header
	cause  error
}

type errorDetail struct {
	Code    hodl.Code         `json:"code" doc:"Stable name of the refusal" example:"not_found"`
	Message string            `json:"message" doc:"What happened"`
	Hint    string            `json:"hint" doc:"What to do about it, with the page that says more" example:"check the id; see /docs/errors#not_found"`
	Fields  []hodl.FieldError `json:"fields,omitempty" doc:"Every field at fault"`
}

func (e *errorBody) Error() string { return string(e.Err.Code) + ": " + e.Err.Message }

// GetStatus and GetHeaders are asked by huma.
func (e *errorBody) GetStatus() int          { return e.status }
func (e *errorBody) GetHeaders() http.Header { return e.header }
func (e *errorBody) Unwrap() error           { return e.cause }

// toWire turns any error into the envelope. What is not a [hodl.Error] is internal:
// the caller sees a fixed sentence, the log the cause.
func toWire(err error) *errorBody {
	if e, ok := errors.AsType[*errorBody](err); ok {
		return e
	}
	e, ok := errors.AsType[*hodl.Error](err)
	switch {
	case errors.Is(err, context.Canceled):
		e = hodl.Errorf(hodl.BadRequest, "the client went away")
	case errors.Is(err, context.DeadlineExceeded):
		e = hodl.Errorf(hodl.Unavailable, "this took too long").WithHint("try again")
	case !ok || e.Code == hodl.Internal:
		e = hodl.Errorf(hodl.Internal, "something went wrong on the server").WithHint("try again; if it lasts, tell the operator the X-Request-Id of this answer")
	}
	status, known := statuses[e.Code]
	if !known {
		status = http.StatusInternalServerError
	}
	body := &errorBody{Err: errorDetail{e.Code, e.Message, advice(e), e.Fields}, status: status, header: http.Header{}, cause: err}
	if status == http.StatusUnauthorized || e.Code == hodl.InsufficientScope {
		body.header.Set("WWW-Authenticate", challenge(e))
	}
	if e.RetryAfter > 0 || status == http.StatusServiceUnavailable {
		body.header.Set("Retry-After", strconv.Itoa(seconds(e.RetryAfter)))
	}
	if e.Limit != nil {
		tell(*e.Limit, body.header.Set)
	}
	return body
}

// advice is what to do, with the page that says more: docs/errors.md, which every
// server shows. It is a path, for who asks knows best by which name it reaches us.
func advice(e *hodl.Error) string {
	page := "see /docs/errors#" + string(e.Code)
	if e.Hint == "" {
		return page
	}
	return e.Hint + "; " + page
}

// challenge is the OAuth form of a refusal (RFC 6750 §3, RFC 9449 §7.1 and §9), which
// published clients must not find in the body.
func challenge(e *hodl.Error) string {
	proof := func(fault string) string {
		return fmt.Sprintf(`DPoP realm="hodl", error=%q, algs=%q`, fault, strings.Join(dpop.Algorithms, " "))
	}
	switch {
	case e.Code == hodl.ProofRequired:
		return proof("invalid_token")
	case e.NeedsNonce:
		return proof("use_dpop_nonce")
	case e.Code == hodl.InvalidProof:
		return proof("invalid_dpop_proof")
	}
	switch e.Code {
	case hodl.MissingCredentials:
		return `Bearer realm="hodl"`
	case hodl.InsufficientScope:
		return `Bearer realm="hodl", error="insufficient_scope"`
	}
	return `Bearer realm="hodl", error="invalid_token"`
}

// newError gives huma's own refusals the envelope. It is set once, before any
// route is registered: huma keeps it in a package variable.
func newError(status int, message string, errs ...error) huma.StatusError {
	for _, err := range errs {
		if _, ours := errors.AsType[*hodl.Error](err); ours {
			return toWire(err)
		}
	}
	if message == unreadable {
		return toWire(hodl.Errorf(hodl.BadRequest, "the body broke off").WithHint("send all of it: as much as Content-Length says, or whole chunks"))
	}
	if status == http.StatusRequestTimeout {
		wire := toWire(hodl.Errorf(hodl.BadRequest, "the body did not arrive in time").WithHint("send the whole body at once; nothing was stored"))
		wire.status = status // the one status of a code that has another
		return wire
	}
	code, known := codes[status]
	if !known {
		return toWire(errors.Join(append(errs, errors.New(message))...))
	}
	if code == hodl.PayloadTooLarge {
		message = fmt.Sprintf("the body is larger than %d MiB", hodl.MaxRequest>>20) // huma counts one byte more
	}
	e := hodl.Errorf(code, "%s", message)
	if code == hodl.ValidationFailed || code == hodl.BadRequest {
		e = fieldsError(code, message, errs)
	}
	if e.Hint == "" {
		e.Hint = hints[e.Code]
	}
	return toWire(e)
}

// unreadable is what huma says, with status 500, of a body that breaks off; the
// fault is the client's.
const unreadable = "cannot read request body"

var hints = map[hodl.Code]string{
	hodl.MalformedJSON:    decode.Hint,
	hodl.BadRequest:       "send the request as /docs describes it",
	hodl.PayloadTooLarge:  "send less, or in parts",
	hodl.UnsupportedMedia: "send Content-Type: application/json",
	hodl.ValidationFailed: "mend the fields listed in error.fields and send the request again",
	hodl.NotAcceptable:    "ask for application/json",
}

// fieldsError collects what huma found wrong, field by field.
func fieldsError(code hodl.Code, message string, errs []error) *hodl.Error {
	const enough = 50 // as many as the core's own checks tell
	var fields []hodl.FieldError
	for _, err := range errs {
		d, ok := errors.AsType[*huma.ErrorDetail](err)
		if !ok {
			return hodl.Errorf(code, "%s", message)
		}
		if e, decoding := unflatten(d.Message); decoding {
			return e
		}
		if len(fields) < enough {
			fields = append(fields, fieldError(d))
		}
	}
	if len(fields) == 0 {
		return hodl.Errorf(code, "%s", message)
	}
	return hodl.InvalidFields(fields...)
}

// isRequired is what huma is made to say of a field that is missing, after its name.
const isRequired = "is required"

// fieldError is what huma found wrong, at the field that is at fault: of one that is
// missing huma tells where it should stand.
func fieldError(d *huma.ErrorDetail) hodl.FieldError {
	path, message := fieldOf(d.Location), d.Message
	if name, missing := strings.CutSuffix(message, " "+isRequired); missing {
		path, message = strings.TrimPrefix(path+"."+name, "body."), isRequired
	}
	if wanted, found := wantedOf[message]; found {
		message = wanted
	}
	return hodl.FieldError{Path: clip(path, longestPath), Message: message}
}

// wantedOf is how huma refuses a parameter, and what it wants.
var wantedOf = map[string]string{
	"required query parameter is missing": isRequired,
	"invalid integer":                     "must be a whole number", "invalid float": "must be a number", "invalid boolean": "must be true or false",
}

// fieldOf is where a field is, without the part of the request it is in.
func fieldOf(location string) string {
	for _, part := range []string{"body.", "query.", "path.", "header."} {
		if rest, found := strings.CutPrefix(location, part); found {
			return rest
		}
	}
	return location
}

// writeError writes the envelope outside huma.
func writeError(w http.ResponseWriter, err error) {
	body := toWire(err)
	for name, values := range body.header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(body.status)
	_ = json.MarshalWrite(w, body) // the client may be gone
}
