package render

type (
	geminiContent struct {
		Parts []geminiPart `json:"parts"`
	}
	geminiPart struct {
		Text string `json:"text"`
	}
)

// writeGemini writes the value of systemInstruction (Gemini API, Content): our
// words, a part for each section, our words again. Joined they are the prompt-ready
// rendering.
func writeGemini(v *View) ([]byte, error) {
	instruction := geminiContent{Parts: []geminiPart{}}
	for _, text := range asPrompt(v, tagged).sections() {
		instruction.Parts = append(instruction.Parts, geminiPart{text})
	}
	return marshal(Gemini, instruction)
}
