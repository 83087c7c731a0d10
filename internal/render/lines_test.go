package render_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"hodl/internal/render"
)

// byteByByte is onLines in the plainest way.
func byteByByte(body []byte) (out []byte) {
	depth, list, quoted := 0, false, false
	for i := 0; i < len(body); i++ {
		c := body[i]
		out = append(out, c)
		switch {
		case quoted && c == '\\':
			i++
			out = append(out, body[i])
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			list = depth == 2 && c == '[' || depth > 2 && list
		case c == '}' || c == ']':
			depth--
		case c == ',' && (depth == 1 || depth == 2 && list):
			out = append(out, '\n')
		}
	}
	return out
}

// What stands in strings begins no line, whatever quotes and backslashes it holds.
func TestLinesBeginBetweenStrings(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		b := make([]byte, random.IntN(9))
		for i := range b {
			b[i] = `\",[{}]:a`[random.IntN(9)]
		}
		return string(b)
	}
	for range 5_000 {
		body, err := json.Marshal(map[string]any{
			text(): text(), "x" + text(): []any{text(), map[string]any{text(): []string{text(), text()}}, 1.5, nil}, "y" + text(): map[string]string{text(): text(), "z": ""},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := string(render.OnLines(body)), string(byteByByte(body)); got != want {
			t.Fatalf("%s\nis put on lines as\n%s\nand should be\n%s", body, got, want)
		}
	}
}
