package hodl

import (
	"errors"
	"fmt"
	"time"
)

// A Code is the stable name of a refusal. Clients branch on it; docs/spec.md
// lists the statuses the edges give it.
type Code string

const (
	MalformedJSON       Code = "malformed_json"
	BadRequest          Code = "bad_request"
	MissingCredentials  Code = "missing_credentials"
	InvalidKey          Code = "invalid_key"
	InvalidToken        Code = "invalid_token"
	TokenExpired        Code = "token_expired"
	TokenNotYetValid    Code = "token_not_yet_valid"
	ProofRequired       Code = "proof_required"
	InvalidProof        Code = "invalid_proof"
	InsufficientScope   Code = "insufficient_scope"
	AudienceMismatch    Code = "audience_mismatch"
	TokenRevoked        Code = "token_revoked"
	HydrationsExhausted Code = "hydrations_exhausted"
	PlanRequired        Code = "plan_required"
	StepUpRequired      Code = "step_up_required"
	Forbidden           Code = "forbidden"
	NotFound            Code = "not_found"
	MethodNotAllowed    Code = "method_not_allowed"
	NotAcceptable       Code = "not_acceptable"
	Gone                Code = "gone"
	InvalidTransition   Code = "invalid_transition"
	Conflict            Code = "conflict"
	Stale               Code = "rejected_by_concurrency"
	PayloadTooLarge     Code = "payload_too_large"
	UnsupportedMedia    Code = "unsupported_media_type"
	ValidationFailed    Code = "validation_failed"
	IdempotencyMismatch Code = "idempotency_mismatch"
	RateLimited         Code = "rate_limited"
	QuotaExceeded       Code = "quota_exceeded"
	Internal            Code = "internal"
	Unavailable         Code = "unavailable"
)

// An Error is a refusal a caller can act on. Code is stable API; Message, Hint
// and Fields are for people and must be safe to show to whoever asked. Any other
// error is reported as [Internal].
type Error struct {
	Code       Code
	Message    string
	Hint       string        // what to do about it
	Fields     []FieldError  // for [ValidationFailed]: every fault found, in the order of the body
	NeedsNonce bool          // for [InvalidProof]: nothing is wrong but that the server's nonce is not in it
	RetryAfter time.Duration // for refusals that pass by themselves
	Limit      *Limit        // the bound that was met, of [RateLimited] and [QuotaExceeded]
	Cause      error         // logged, never serialized
}

// A FieldError names one field of a request and what is wrong with it.
type FieldError struct {
	Path    string `json:"path" doc:"Where: a JSON path such as tabs[3].url, or a parameter's name" example:"tabs[3].url"`
	Message string `json:"message" doc:"What is wrong and what would be right"`
}

func (e *Error) Error() string {
	s := string(e.Code) + ": " + e.Message
	for _, f := range e.Fields {
		s += "; " + f.Path + ": " + f.Message
	}
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Cause }

// Is reports whether target is an Error of the same code, so that errors.Is
// works with a bare &Error{Code: …}.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// Errorf returns an Error with a formatted message.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// WithHint returns e with a sentence on what to do.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// Invalid returns a [ValidationFailed] error for one field.
func Invalid(path, message string) *Error {
	return InvalidFields(FieldError{Path: path, Message: message})
}

// InvalidFields returns a [ValidationFailed] error that names every fault.
func InvalidFields(fields ...FieldError) *Error {
	e := Errorf(ValidationFailed, "%d fields are not valid", len(fields)).WithHint("mend the fields listed in error.fields and send the request again")
	if len(fields) == 1 {
		e.Message = fields[0].Path + " " + fields[0].Message
	}
	e.Fields = fields
	return e
}

// CodeOf returns the code of err: [Internal] for any error that is not an
// [Error], and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return Internal
}
