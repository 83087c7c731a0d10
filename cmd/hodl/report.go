package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hodl"
)

// How hodl speaks. A failure is one line, "hodl: what happened", and a line that
// says what to do about it: lower case, no full stop. Results go to standard
// output and everything else to standard error, so that output can be piped.
// What others wrote is never printed raw: see clean.

// Exit codes, as `hodl help exit-codes` tells them.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
	exitRefused = 3
	exitServer  = 4
)

func exitCodesTopic() *cobra.Command {
	return &cobra.Command{Use: "exit-codes", Short: "What the exit code says", Long: `hodl exits with

  0  done
  1  it failed on this machine: a file, a database, an address in use
  2  the command was not used as its --help says
  3  the server refused: the credential, the right, the request, a limit;
     or hodl redact --fail found something
  4  no answer: the server is unreachable, failing, or no hodl server

With --json a failure is printed to standard error as the API's own error body,
and standard output stays empty. A refusal begins with its code: hodl help errors.`}
}

func environmentTopic() *cobra.Command {
	return &cobra.Command{Use: "environment", Short: "The variables hodl reads", Long: `Every flag can be given as a variable: HODL_ and the flag's name in capitals, with
_ for -. --max-hydrations is HODL_MAX_HYDRATIONS. The flag wins. The variable of
--key is HODL_API_KEY.

A secret (--key, --token, --database, --database-admin) is better kept in a file:
HODL_API_KEY_FILE names one that holds the key, and so for the others.

Colours are used on terminals only. NO_COLOR turns them off, FORCE_COLOR on
elsewhere; NO_COLOR wins. TERM=dumb turns them off as well.

What hodl hold keeps while no server answers lies in XDG_STATE_HOME, or
~/.local/state, in the folder hodl/queue; on Windows in LocalAppData.`}
}

// A usageError is a mistake in how a command was called.
type usageError struct{ cause error }

func (e *usageError) Error() string { return e.cause.Error() }
func (e *usageError) Unwrap() error { return e.cause }

func usage(err error) error { return &usageError{err} }

// linked makes the page that a server's hint names one that can be followed.
func (e *env) linked(advice string) string {
	return strings.Replace(advice, "see /docs/", "see "+e.server()+"/docs/", 1)
}

func usagef(format string, args ...any) error { return usage(fmt.Errorf(format, args...)) }

// A hinted error says what to do about it.
type hinted struct {
	error
	hint string
}

func (e *hinted) Unwrap() error { return e.error }

func hint(err error, format string, args ...any) error {
	return &hinted{err, fmt.Sprintf(format, args...)}
}

// A told error is one whose reasons are printed already: only the exit code is left.
type told struct{ cause error }

func (e *told) Error() string { return e.cause.Error() }
func (e *told) Unwrap() error { return e.cause }

// An answerError is what a call to the server came to: a refusal, or nothing.
type answerError struct{ cause error }

func (e *answerError) Error() string { return e.cause.Error() }
func (e *answerError) Unwrap() error { return e.cause }

// answer marks the error of a call to the server. What the server refused to one
// who looks on its own database is no answer, but a failure here.
func answer(err error) error {
	if err == nil {
		return nil
	}
	return &answerError{err}
}

func exitCode(err error) int {
	var wrong *usageError
	var answered *answerError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &wrong):
		return exitUsage
	case !errors.As(err, &answered):
		return exitFailure
	}
	refused, ok := errors.AsType[*hodl.Error](err)
	if !ok || refused.Code == hodl.Internal || refused.Code == hodl.Unavailable {
		return exitServer
	}
	return exitRefused
}

// report tells what happened.
func (e *env) report(err error) {
	if _, known := errors.AsType[*told](err); err == nil || known {
		return
	}
	message, hint, fields := e.explain(err)
	if e.json {
		e.reportJSON(err, hint, fields)
		return
	}
	e.say("%s %s\n", e.paint(bold+red, "hodl:"), message)
	for _, f := range fields {
		e.say("  %s %s\n", clean(f.Path), clean(f.Message))
	}
	if hint != "" {
		e.say("%s %s\n", e.paint(bold, "hint:"), hint)
	}
}

// reportJSON prints the API's error body, with a code of our own where no server
// gave one.
func (e *env) reportJSON(err error, hint string, fields []hodl.FieldError) {
	code, message := "failed", err.Error()
	switch exitCode(err) {
	case exitUsage:
		code = "usage"
	case exitServer:
		code = string(hodl.Unavailable)
	}
	if refused, ok := errors.AsType[*hodl.Error](err); ok {
		code, message = string(refused.Code), refused.Message
	}
	body := map[string]any{"code": code, "message": message, "hint": hint}
	if len(fields) > 0 {
		body["fields"] = fields
	}
	_ = encode(e.err, map[string]any{"error": body}) // as say
}

// explain returns what to say of err, harmless to a terminal. A refusal begins with
// its code, which docs/errors.md explains.
func (e *env) explain(err error) (message, advice string, fields []hodl.FieldError) {
	message = err.Error()
	if refused, ok := errors.AsType[*hodl.Error](err); ok {
		message, advice = string(refused.Code)+": "+refused.Message, e.linked(refused.Hint)
		if len(refused.Fields) > 1 {
			fields = refused.Fields
		}
	}
	var ours *hinted
	if errors.As(err, &ours) {
		advice = ours.hint
	}
	return clean(strings.TrimSpace(message)), clean(advice), fields
}
