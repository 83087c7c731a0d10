package render

import "strings"

// An openaiItem is a message of the Responses API in its short form, which the
// Agents SDK takes as input items, and LangGraph and LangChain as messages.
type openaiItem struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// writeOpenAI writes input items: our words as the system's, everything captured as
// the user's, who ranks below, and our last words as the system's: the role developer
// is one that the Agents SDK for TypeScript refuses. Joined they are the prompt-ready
// rendering.
func writeOpenAI(v *View) ([]byte, error) {
	texts := asPrompt(v, tagged).sections()
	last := len(texts) - 1
	return marshal(OpenAIAgents, []openaiItem{
		{"system", texts[0]},
		{"user", strings.Join(texts[1:last], "")},
		{"system", texts[last]},
	})
}
