package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hodl"
)

// codeRefused is the JSON-RPC code of a refusal that has no code of its own; the
// range is left to servers.
const codeRefused = -32000

// isCredential reports whether a refusal is the credential's fault: HTTP says 401.
func isCredential(c hodl.Code) bool {
	switch c {
	case hodl.MissingCredentials, hodl.InvalidKey, hodl.InvalidToken, hodl.TokenExpired, hodl.TokenNotYetValid, hodl.TokenRevoked,
		hodl.AudienceMismatch, hodl.ProofRequired, hodl.InvalidProof:
		return true
	}
	return false
}

// refuse hands a refusal to the edge it belongs to: what is wrong with the credential
// becomes the status of the answer, all else stays a matter of the protocol.
func (s *Server) refuse(ctx context.Context, err error) error {
	s.Fault(ctx, err)
	if c := hodl.CodeOf(err); isCredential(c) || c == hodl.InsufficientScope {
		whoOf(ctx).answer.refuse(err)
	}
	return err
}

// told is a refusal in words: what happened, and what to do. It never repeats what
// was captured.
func told(err error) string {
	e, ok := errors.AsType[*hodl.Error](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		e = hodl.Errorf(hodl.Unavailable, "this took too long").WithHint("try again")
	case !ok || e.Code == hodl.Internal:
		e = hodl.Errorf(hodl.Internal, "something went wrong on the server").WithHint("try again; if it lasts, tell the operator")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s.", e.Code, e.Message)
	if len(e.Fields) > 1 {
		for _, f := range e.Fields {
			fmt.Fprintf(&b, "\n- %s %s", f.Path, f.Message)
		}
		b.WriteString("\n")
	}
	if hint := strings.ReplaceAll(e.Hint, "error.fields", "this message"); hint != "" {
		fmt.Fprintf(&b, " %s%s.", strings.ToUpper(hint[:1]), hint[1:])
	}
	if e.RetryAfter > 0 {
		fmt.Fprintf(&b, " Wait %d s.", int(math.Ceil(e.RetryAfter.Seconds())))
	}
	return b.String()
}

// failed is the result of a tool that was refused: text alone, for clients show a
// model nothing else of an error.
func failed(err error) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: told(err)}}, IsError: true}
}

// wire is a refusal as a JSON-RPC error, about uri if that is not empty.
func wire(err error, uri string) error {
	if already, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return already
	}
	e := &jsonrpc.Error{Code: codeRefused, Message: told(err)}
	switch hodl.CodeOf(err) {
	case hodl.NotFound, hodl.ValidationFailed, hodl.BadRequest, hodl.MalformedJSON, hodl.NotAcceptable:
		e.Code = jsonrpc.CodeInvalidParams
	case hodl.Internal:
		e.Code = jsonrpc.CodeInternalError
	}
	if uri != "" {
		e.Data, _ = json.Marshal(map[string]string{"uri": strings.ToValidUTF8(uri, "\uFFFD")}) // a string always can be
	}
	return e
}
