//nolint:staticcheck // the suite asks for what the protocol has deprecated
package main

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hodl/internal/mcpserver"
)

// What follows is what the conformance suite asks every server for by name. It stands
// beside the product's own, behind the same HTTP, credentials and guard.

// fixtures returns them, served until ctx is done.
func fixtures(ctx context.Context) *mcpserver.Fixtures {
	return &mcpserver.Fixtures{
		Capabilities: &mcp.ServerCapabilities{
			Tools: &mcp.ToolCapabilities{ListChanged: true}, Prompts: &mcp.PromptCapabilities{ListChanged: true},
			Resources: &mcp.ResourceCapabilities{ListChanged: true, Subscribe: true}, Logging: &mcp.LoggingCapabilities{},
		},
		Complete: func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}, nil
		},
		Add: func(s *mcp.Server) {
			addContents(s)
			addSigns(s)
			addAsking(s)
			addInputs(s)
			addResources(s)
			addPrompts(s)
			go keepChanging(ctx, s)
		},
	}
}

type (
	request = mcp.CallToolRequest
	result  = mcp.CallToolResult
	handler = func(context.Context, *request) (*result, error)
)

const (
	anyObject = `{"type":"object"}`
	fixture   = "A fixture of the conformance suite"
)

func add(s *mcp.Server, name, schema string, h handler) {
	s.AddTool(&mcp.Tool{Name: name, Description: fixture, InputSchema: json.RawMessage(schema)}, func(ctx context.Context, r *request) (*result, error) {
		out, err := h(ctx, r)
		if _, protocol := errors.AsType[*jsonrpc.Error](err); err != nil && !protocol {
			out, err = &result{Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}}, IsError: true}, nil
		}
		return out, err
	})
}

// says is a tool that answers always the same.
func says(content ...mcp.Content) handler {
	return func(context.Context, *request) (*result, error) { return &result{Content: content}, nil }
}

func text(format string, args ...any) *mcp.TextContent {
	return &mcp.TextContent{Text: fmt.Sprintf(format, args...)}
}

func told(format string, args ...any) (*result, error) {
	return &result{Content: []mcp.Content{text(format, args...)}}, nil
}

// A red dot, and silence.
var (
	image = &mcp.ImageContent{MIMEType: "image/png", Data: decoded("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==")}
	sound = &mcp.AudioContent{MIMEType: "audio/wav", Data: decoded("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=")}
)

func decoded(s string) []byte {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

func embedded(uri string) *mcp.EmbeddedResource {
	return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "An embedded resource."}}
}

// addContents adds a tool for each kind of content.
func addContents(s *mcp.Server) {
	add(s, "test_simple_text", anyObject, says(text("This is a simple text response for testing.")))
	add(s, "test_image_content", anyObject, says(image))
	add(s, "test_audio_content", anyObject, says(sound))
	add(s, "test_embedded_resource", anyObject, says(embedded("test://embedded-resource")))
	add(s, "test_multiple_content_types", anyObject, says(text("Multiple content types test:"), image, embedded("test://mixed-content-resource")))
	add(s, "test_error_handling", anyObject, func(context.Context, *request) (*result, error) {
		return nil, errors.New("this tool intentionally returns an error for testing")
	})
	add(s, "test_streaming_elicitation", anyObject, says(text("nothing but the result comes on this stream")))
	add(s, "json_schema_2020_12_tool", schema2020, says(text("called")))
	add(s, "test_x_mcp_header", `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"level":{"type":"integer"}}}`, says(text("called")))
}

const schema2020 = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "additionalProperties": false,
	"$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
	"properties": {
		"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}, "contactMethod": {"type": "string", "enum": ["phone", "email"]},
		"phone": {"type": "string"}, "email": {"type": "string"}
	},
	"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
	"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
	"then": {"required": ["phone"]}, "else": {"required": ["email"]}
}`

// addSigns adds tools that tell something on the way, or change what is listed.
func addSigns(s *mcp.Server) {
	logs := func(lines ...string) handler {
		return func(ctx context.Context, r *request) (*result, error) {
			for _, line := range lines {
				if err := r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: line}); err != nil {
					return nil, err
				}
			}
			return told("logged")
		}
	}
	add(s, "test_tool_with_logging", anyObject, logs("Tool execution started", "Tool processing data", "Tool execution completed"))
	add(s, "test_logging_tool", anyObject, logs("one line"))
	add(s, "test_tool_with_progress", anyObject, func(ctx context.Context, r *request) (*result, error) {
		for _, at := range []float64{0, 50, 100} {
			if err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: at, Total: 100}); err != nil {
				return nil, err
			}
		}
		return told("%v", r.Params.GetProgressToken())
	})
	add(s, "test_reconnection", anyObject, func(_ context.Context, r *request) (*result, error) {
		if r.Extra != nil && r.Extra.CloseSSEStream != nil {
			r.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: 10 * time.Millisecond})
		}
		return told("done")
	})
	add(s, "test_trigger_tool_change", anyObject, func(context.Context, *request) (*result, error) {
		add(s, "transient_tool", anyObject, says(text("here")))
		return told("changed")
	})
	add(s, "test_trigger_prompt_change", anyObject, func(context.Context, *request) (*result, error) {
		s.AddPrompt(&mcp.Prompt{Name: "transient_prompt", Description: fixture}, prompt("here"))
		return told("changed")
	})
	add(s, "test_missing_capability", anyObject, func(_ context.Context, r *request) (*result, error) {
		if c := r.ClientCapabilities(); c != nil && c.Sampling != nil {
			return told("the client samples")
		}
		data, err := json.Marshal(mcp.MissingRequiredClientCapabilityData{RequiredCapabilities: &mcp.ClientCapabilities{Sampling: &mcp.SamplingCapabilities{}}})
		if err != nil {
			return nil, err
		}
		return nil, &jsonrpc.Error{Code: mcp.CodeMissingRequiredClientCapabilities, Message: "the client must sample", Data: data}
	})
}

// addAsking adds the tools that ask the client in the older way, which needs a
// session: on a stateless server they fail, and the baseline says so.
func addAsking(s *mcp.Server) {
	for _, name := range []string{"test_sampling", "test_elicitation", "test_elicitation_sep1034_defaults", "test_elicitation_sep1330_enums"} {
		add(s, name, anyObject, func(ctx context.Context, r *request) (*result, error) {
			out, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Who?", RequestedSchema: object("username", "string")})
			if err != nil {
				return nil, err
			}
			return told("%s", out.Action)
		})
	}
}

func object(field, kind string) map[string]any {
	return map[string]any{"type": "object", "properties": map[string]any{field: map[string]any{"type": kind}}, "required": []string{field}}
}

func ask(message, field, kind string) *mcp.ElicitParams {
	return &mcp.ElicitParams{Message: message, RequestedSchema: object(field, kind)}
}

func sample(message string) *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{Messages: []*mcp.SamplingMessage{{Role: "user", Content: text("%s", message)}}, MaxTokens: 100}
}

// accepted is what a person entered in answer to a question; nil when they did not.
func accepted(answers mcp.InputResponseMap, question string) map[string]any {
	if e, ok := answers[question].(*mcp.ElicitResult); ok && e != nil && e.Action == "accept" {
		return e.Content
	}
	return nil
}

func wants(state string, questions mcp.InputRequestMap) (*result, error) {
	return &result{InputRequests: questions, RequestState: state}, nil
}

// A sealer signs what the client carries for the server between two rounds.
type sealer struct{ key []byte }

func (s sealer) seal(state string) string {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(state))
	return state + "." + hex.EncodeToString(mac.Sum(nil))
}

func (s sealer) open(sealed string) (string, error) {
	i := strings.LastIndexByte(sealed, '.')
	if i < 0 || !hmac.Equal([]byte(s.seal(sealed[:i])), []byte(sealed)) {
		return "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "requestState is not what this server sealed"}
	}
	return sealed[:i], nil
}

// addInputs adds the tools that ask the client within their result.
func addInputs(s *mcp.Server) {
	const prefix = "test_input_required_result_"
	seals := sealer{[]byte(rand.Text())}
	add(s, prefix+"elicitation", anyObject, func(_ context.Context, r *request) (*result, error) {
		if name, _ := accepted(r.Params.InputResponses, "user_name")["name"].(string); name != "" {
			return told("Hello, %s!", name)
		}
		return wants("", mcp.InputRequestMap{"user_name": ask("What is your name?", "name", "string")})
	})
	add(s, prefix+"sampling", anyObject, func(_ context.Context, r *request) (*result, error) {
		if r.Params.InputResponses["capital_question"] != nil {
			return told("sampled")
		}
		return wants("", mcp.InputRequestMap{"capital_question": sample("What is the capital of France?")})
	})
	add(s, prefix+"list_roots", anyObject, func(_ context.Context, r *request) (*result, error) {
		if roots, ok := r.Params.InputResponses["client_roots"].(*mcp.ListRootsResult); ok && roots != nil {
			return told("%d roots", len(roots.Roots))
		}
		return wants("", mcp.InputRequestMap{"client_roots": &mcp.ListRootsParams{}})
	})
	confirm := func(_ context.Context, r *request) (*result, error) {
		if r.Params.RequestState != "" {
			if _, err := seals.open(r.Params.RequestState); err != nil {
				return nil, err
			}
			if accepted(r.Params.InputResponses, "confirm") != nil {
				return told("state-ok")
			}
		}
		return wants(seals.seal("confirm"), mcp.InputRequestMap{"confirm": ask("Please confirm", "ok", "boolean")})
	}
	add(s, prefix+"request_state", anyObject, confirm)
	add(s, prefix+"tampered_state", anyObject, confirm)
	add(s, prefix+"multiple_inputs", anyObject, func(_ context.Context, r *request) (*result, error) {
		if len(r.Params.InputResponses) == 3 {
			return told("all three")
		}
		return wants(seals.seal("three"), mcp.InputRequestMap{
			"user_name": ask("What is your name?", "name", "string"), "greeting": sample("Generate a greeting"), "client_roots": &mcp.ListRootsParams{},
		})
	})
	add(s, prefix+"multi_round", anyObject, func(_ context.Context, r *request) (*result, error) {
		if r.Params.RequestState == "" {
			return wants(seals.seal("1"), mcp.InputRequestMap{"step1": ask("Step 1: What is your name?", "name", "string")})
		}
		state, err := seals.open(r.Params.RequestState)
		if err != nil {
			return nil, err
		}
		if state == "1" {
			return wants(seals.seal(fmt.Sprintf("2 %v", accepted(r.Params.InputResponses, "step1")["name"])), mcp.InputRequestMap{"step2": ask("Step 2: Which colour?", "color", "string")})
		}
		return told("%s likes %v", strings.TrimPrefix(state, "2 "), accepted(r.Params.InputResponses, "step2")["color"])
	})
	add(s, prefix+"capabilities", anyObject, func(_ context.Context, r *request) (*result, error) {
		questions := mcp.InputRequestMap{}
		if c := r.ClientCapabilities(); c != nil {
			if c.Elicitation != nil {
				questions["user_name"] = ask("What is your name?", "name", "string")
			}
			if c.Sampling != nil {
				questions["greeting"] = sample("Generate a greeting")
			}
		}
		if len(r.Params.InputResponses) > 0 || len(questions) == 0 {
			return told("nothing to ask")
		}
		return wants("", questions)
	})
}

const watched = "test://watched-resource"

func addResources(s *mcp.Server) {
	static := func(c mcp.ResourceContents) mcp.ResourceHandler {
		return func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			out := c
			out.URI = r.Params.URI
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{&out}}, nil
		}
	}
	plain := mcp.ResourceContents{MIMEType: "text/plain", Text: "This is the content of the static text resource."}
	s.AddResource(&mcp.Resource{URI: "test://static-text", Name: "static-text", MIMEType: "text/plain"}, static(plain))
	s.AddResource(&mcp.Resource{URI: "test://static-binary", Name: "static-binary", MIMEType: "image/png"}, static(mcp.ResourceContents{MIMEType: "image/png", Blob: image.Data}))
	s.AddResource(&mcp.Resource{URI: watched, Name: "watched", MIMEType: "text/plain"}, static(plain))
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "test://template/{id}/data", Name: "template", MIMEType: "application/json"},
		func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(r.Params.URI, "test://template/"), "/data")
			body, err := json.Marshal(map[string]any{"id": id, "templateTest": true, "data": "Data for ID: " + id})
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, MIMEType: "application/json", Text: string(body)}}}, err
		})
}

// keepChanging has the watched resource change, as the suite expects of it.
func keepChanging(ctx context.Context, s *mcp.Server) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_ = s.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: watched}) // a stream that is gone ends by itself
		}
	}
}

func prompt(words string) mcp.PromptHandler {
	return func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return messages(text("%s", words))
	}
}

func messages(contents ...mcp.Content) (*mcp.GetPromptResult, error) {
	out := &mcp.GetPromptResult{}
	for _, c := range contents {
		out.Messages = append(out.Messages, &mcp.PromptMessage{Role: "user", Content: c})
	}
	return out, nil
}

func addPrompts(s *mcp.Server) {
	s.AddPrompt(&mcp.Prompt{Name: "test_simple_prompt", Description: fixture}, prompt("This is a simple prompt for testing."))
	two := []*mcp.PromptArgument{{Name: "arg1", Required: true}, {Name: "arg2", Required: true}}
	s.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_arguments", Description: fixture, Arguments: two}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return messages(text("Prompt with arguments: arg1='%s', arg2='%s'", r.Params.Arguments["arg1"], r.Params.Arguments["arg2"]))
	})
	one := []*mcp.PromptArgument{{Name: "resourceUri", Required: true}}
	s.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_embedded_resource", Description: fixture, Arguments: one}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return messages(embedded(r.Params.Arguments["resourceUri"]), text("Please process the embedded resource above."))
	})
	s.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_image", Description: fixture}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return messages(image, text("Please analyze the image above."))
	})
	s.AddPrompt(&mcp.Prompt{Name: "test_input_required_result_prompt", Description: fixture}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		if given := accepted(r.Params.InputResponses, "user_context"); given != nil {
			return messages(text("Context: %v", given["context"]))
		}
		return &mcp.GetPromptResult{InputRequests: mcp.InputRequestMap{"user_context": ask("Please provide context", "context", "string")}}, nil
	})
}
