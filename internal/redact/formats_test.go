package redact_test

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"hodl/internal/detect"
	"hodl/internal/redact"
)

//go:embed testdata/formats.txt
var formats string

// TestFormats holds the engine against texts as they stand in files, terminals and
// messages: what is between the marks goes, and nothing else does. Random parts are
// drawn, so that no rule fits one value by chance; and so that none stands in a file.
func TestFormats(t *testing.T) {
	p, _ := redact.Lookup("balanced")
	for n, line := range strings.Split(formats, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		class, form, ok := strings.Cut(line, "  ")
		if !ok {
			t.Fatalf("line %d has no type", n+1)
		}
		t.Run(fmt.Sprintf("%d %s", n+1, class), func(t *testing.T) {
			for seed := range uint64(20) {
				marked := draw(form, rand.New(rand.NewPCG(seed, uint64(n))))
				if err := heldAgainst(p, class, marked); err != "" {
					t.Fatalf("%s\n%s", err, marked)
				}
			}
		})
	}
}

// heldAgainst says what is wrong with what the policy removes of a marked text.
func heldAgainst(p *redact.Policy, class, marked string) string {
	text, wanted := unmark(marked)
	kind := detect.Text
	if strings.Contains(text, "://") && !strings.ContainsAny(text, " \n\"'") {
		kind = detect.URL
	}
	for _, s := range p.Spans(text, kind) {
		for i := s.Start; i < s.End; i++ {
			if !wanted[i] {
				return fmt.Sprintf("%s takes %q", s.Rule.ID, text[s.Start:s.End])
			}
			delete(wanted, i)
		}
		if string(s.Rule.Class()) != class {
			return fmt.Sprintf("%s is not of class %s", s.Rule.ID, class)
		}
	}
	if len(wanted) > 0 {
		return fmt.Sprintf("%d bytes are left", len(wanted))
	}
	return ""
}

// unmark takes the marks out of a text, and returns the places between them.
func unmark(marked string) (string, map[int]bool) {
	var b strings.Builder
	wanted, inside := map[int]bool{}, false
	for _, r := range marked {
		switch r {
		case '«', '»':
			inside = r == '«'
			continue
		}
		from := b.Len()
		b.WriteRune(r)
		for i := from; inside && i < b.Len(); i++ {
			wanted[i] = true
		}
	}
	return b.String(), wanted
}

var drawn = regexp.MustCompile(`\{([bhHdaAusgw])(\d*)\}`)

// draw fills in the random parts of a form.
func draw(form string, r *rand.Rand) string {
	const digits, small = "0123456789", "abcdefghijklmnopqrstuvwxyz"
	capitals := strings.ToUpper(small)
	alphabets := map[string]string{
		"b": digits + small + capitals, "h": digits + "abcdef", "H": digits + "ABCDEF", "d": digits, "a": digits + small, "A": digits + capitals,
		"u": digits + small + capitals + "-_", "s": digits + small + capitals + "+/",
	}
	from := func(alphabet string, n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = alphabet[r.IntN(len(alphabet))]
		}
		return string(b)
	}
	return strings.ReplaceAll(drawn.ReplaceAllStringFunc(form, func(m string) string {
		x := drawn.FindStringSubmatch(m)
		n, _ := strconv.Atoi(x[2])
		switch x[1] {
		case "g":
			h := from(alphabets["h"], 32)
			return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:]
		case "w":
			return from(capitals, 1) + from(small, 4+r.IntN(4)) + from(digits, 2+r.IntN(3)) + from("!-_*+", r.IntN(2)) + from(small, r.IntN(3)) + from(digits, 1)
		}
		return from(alphabets[x[1]], n)
	}), `\n`, "\n")
}
