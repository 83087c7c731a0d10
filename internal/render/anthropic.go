package render

// An anthropicBlock is a text block of a Messages request (Anthropic, Messages API).
type anthropicBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// writeAnthropic writes the value of system: our words, a block for each section,
// our words again. Joined they are the prompt-ready rendering.
func writeAnthropic(v *View) ([]byte, error) {
	system := []anthropicBlock{}
	for _, text := range asPrompt(v, tagged).sections() {
		system = append(system, anthropicBlock{"text", text})
	}
	return marshal(Anthropic, system)
}
