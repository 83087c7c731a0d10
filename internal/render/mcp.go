package render

type (
	mcpResult struct {
		Contents []mcpContents `json:"contents"`
	}
	mcpContents struct {
		URI      string `json:"uri"`
		MIMEType string `json:"mimeType"`
		Text     string `json:"text"`
	}
)

// writeMCP writes the result of resources/read (Model Context Protocol): the
// prompt-ready rendering as the contents of the session's resource.
func writeMCP(v *View) ([]byte, error) {
	return marshal(MCP, mcpResult{[]mcpContents{{
		URI:      "hodl://sessions/" + string(v.context.Session),
		MIMEType: typePrompt,
		Text:     string(asPrompt(v, tagged).out),
	}}})
}
