package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// mcpVersion is the revision of the Model Context Protocol that is spoken here: each
// request stands alone.
const mcpVersion = "2026-07-28"

// An MCPError is a refusal in the words of the protocol.
type MCPError struct {
	Code    int64           `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

func (e *MCPError) Error() string { return fmt.Sprintf("%d: %s", e.Code, e.Message) }

// MCP calls a method of the server's MCP door, POST /mcp, and returns its result. It
// is for programs that speak the protocol themselves: others have a method for each
// route. params is the object of the parameters, nil for none.
func (c *caller) MCP(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	answer, err := c.mcp(ctx, method, params, c.http)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	for message, err := range messages(answer) {
		if err != nil {
			return nil, fmt.Errorf("POST /mcp: %w", err)
		}
		if message.Error != nil {
			return nil, message.Error
		}
		if message.Method == "" {
			return message.Result, nil
		}
	}
	return nil, errors.New("POST /mcp: the answer ended before the result")
}

// Updates tells take, until ctx is done or the server ends the stream, which of the
// resources has changed.
func (c *caller) Updates(ctx context.Context, resources []string, take func(uri string)) error {
	params, err := json.Marshal(map[string]any{"notifications": map[string]any{"resourceSubscriptions": resources}})
	if err != nil {
		return err
	}
	endless := *c.http
	endless.Timeout = 0
	answer, err := c.mcp(ctx, "subscriptions/listen", params, &endless)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	for message, err := range messages(answer) {
		switch {
		case err != nil:
			return fmt.Errorf("POST /mcp: %w", err)
		case message.Error != nil:
			return message.Error
		case message.Method == "notifications/resources/updated":
			take(message.Params.URI)
		}
	}
	return ctx.Err()
}

func (c *caller) mcp(ctx context.Context, method string, params json.RawMessage, h *http.Client) (*http.Response, error) {
	named, body, err := mcpRequest(method, params)
	if err != nil {
		return nil, err
	}
	k := call{method: "POST", path: "/mcp", file: bytes.NewReader(body), options: []CallOption{func(h http.Header) {
		h.Set("Content-Type", "application/json")
		h.Set("Accept", "application/json, text/event-stream")
		h.Set("Mcp-Protocol-Version", mcpVersion)
		h.Set("Mcp-Method", method)
		if named != "" {
			h.Set("Mcp-Name", headerValue(named))
		}
	}}}
	r, err := c.request(ctx, k)
	if err != nil {
		return nil, err
	}
	answer, err := h.Do(r)
	if err != nil || answer.StatusCode == http.StatusOK {
		return answer, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, mostAnswer))
	if err != nil {
		return nil, fmt.Errorf("POST /mcp: read the answer: %w", err)
	}
	var message mcpMessage
	if json.Unmarshal(text, &message) == nil && message.Version != "" && message.Error != nil {
		return nil, message.Error
	}
	return nil, refusal(answer, text)
}

// mcpRequest returns what a request is about and its body: the parameters, with what
// each request tells of its sender.
func mcpRequest(method string, params json.RawMessage) (named string, body []byte, err error) {
	all := map[string]json.RawMessage{}
	if len(params) > 0 && string(params) != "null" {
		if err := json.Unmarshal(params, &all); err != nil {
			return "", nil, fmt.Errorf("%s: the parameters are no object: %w", method, err)
		}
	}
	meta := map[string]any{}
	if sent := all["_meta"]; len(sent) > 0 {
		if err := json.Unmarshal(sent, &meta); err != nil {
			return "", nil, fmt.Errorf("%s: _meta is no object: %w", method, err)
		}
	}
	meta["io.modelcontextprotocol/protocolVersion"] = mcpVersion
	meta["io.modelcontextprotocol/clientCapabilities"] = map[string]any{}
	if all["_meta"], err = json.Marshal(meta); err != nil {
		return "", nil, err
	}
	field := map[string]string{"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}[method]
	if field != "" {
		_ = json.Unmarshal(all[field], &named) // the server says what is wrong with it
	}
	body, err = json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": all})
	return named, body, err
}

// headerValue is a name as a header carries it: what is not plain ASCII in base64.
func headerValue(s string) string {
	plain := s == strings.TrimSpace(s) && !strings.HasPrefix(s, "=?base64?")
	for _, r := range s {
		plain = plain && r >= ' ' && r <= '~'
	}
	if plain {
		return s
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?="
}

// An mcpMessage is a response, or a notification on its way.
type mcpMessage struct {
	Version string          `json:"jsonrpc"`
	Method  string          `json:"method"`
	Result  json.RawMessage `json:"result"`
	Error   *MCPError       `json:"error"`
	Params  struct {
		URI string `json:"uri"`
	} `json:"params"`
}

// messages reads an answer: one JSON value, or a stream of events.
func messages(answer *http.Response) func(yield func(mcpMessage, error) bool) {
	return func(yield func(mcpMessage, error) bool) {
		lines := bufio.NewReaderSize(io.LimitReader(answer.Body, mostAnswer), 64<<10)
		stream := strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream")
		for {
			data, err := event(lines, stream)
			if errors.Is(err, io.EOF) && len(data) == 0 {
				return
			}
			var message mcpMessage
			if err == nil || errors.Is(err, io.EOF) {
				err = json.Unmarshal(data, &message)
			}
			if !yield(message, err) || err != nil || !stream {
				return
			}
		}
	}
}

// event returns the data of the next event, or all there is when it is no stream.
func event(lines *bufio.Reader, stream bool) ([]byte, error) {
	if !stream {
		return io.ReadAll(lines)
	}
	var data []byte
	for {
		line, err := lines.ReadBytes('\n')
		text := bytes.TrimRight(line, "\r\n")
		if more, ok := bytes.CutPrefix(text, []byte("data:")); ok {
			data = append(append(data, bytes.TrimPrefix(more, []byte(" "))...), '\n')
		}
		if err != nil || len(text) == 0 && len(data) > 0 {
			return bytes.TrimRight(data, "\n"), err
		}
	}
}
