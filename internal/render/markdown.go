package render

// writeMarkdown is the prompt for readers of Markdown: a data block is a fence,
// which no line within can close, because each begins with "|".
func writeMarkdown(v *View) ([]byte, error) { return asPrompt(v, fenced).out, nil }
