package count_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"hodl/internal/count"
)

// The counts of another implementation of o200k_base (testdata/counts.json, written
// by internal/render/interop).
func TestCountsAreThoseOfOthers(t *testing.T) {
	raw, err := os.ReadFile("testdata/counts.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Text   string
		Tokens int
	}
	if err := json.Unmarshal(raw, &cases); err != nil || len(cases) < 100 {
		t.Fatal(len(cases), err)
	}
	for _, c := range cases {
		if got := count.Tokens(c.Text); got != c.Tokens {
			t.Errorf("%q: %d tokens, want %d", c.Text, got, c.Tokens)
		}
	}
}

func TestWithinStops(t *testing.T) {
	text := strings.Repeat("one two three ", 1000)
	all := count.Tokens(text)
	for _, most := range []int{0, 1, all - 1, all, all + 1} {
		if n, ok := count.Within(text, most); ok != (all <= most) || ok && n != all {
			t.Errorf("within %d of %d: %d, %t", most, all, n, ok)
		}
	}
	if n, ok := count.Within("", 0); n != 0 || !ok {
		t.Error("nothing takes something")
	}
}

// No token is less than a byte, and no text costs more than its length to count.
func FuzzTokens(f *testing.F) {
	f.Add("plain words, and 世界 \xff")
	f.Fuzz(func(t *testing.T, text string) {
		if n := count.Tokens(text); n > len(text) || n == 0 && text != "" {
			t.Errorf("%q is %d tokens", text, n)
		}
	})
}

func BenchmarkTokens(b *testing.B) {
	for name, unit := range map[string]string{"prose": "the lease expires before the leader knows; see lease.go:88\n", "hostile": "a", "marks": "\u0301"} {
		b.Run(name, func(b *testing.B) {
			text := strings.Repeat(unit, 32<<10/len(unit))
			count.Tokens(text)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				count.Tokens(text)
			}
		})
	}
}
