package redact_test

import (
	"fmt"
	"strings"
	"testing"

	"hodl"
	"hodl/internal/detect"
	"hodl/internal/redact"
)

// sized makes content of about n bytes in tabs and notes, with so many values
// planted.
func sized(n, values int) hodl.Content {
	var c hodl.Content
	prose := "The retry loop in client.go backs off twice before it gives up; see the comment above dial. Deploys happen on Tuesdays at 10:30 from main, version v1.24.3. "
	for i, size := 0, 0; size < n; i++ {
		tab := hodl.Tab{
			URL: fmt.Sprintf("https://pkg.go.dev/net/http/page%d?tab=doc#Transport.RoundTrip", i), Title: "http package - net/http - Go Packages",
			SelectedText: prose + "func (c *Client) do(req *http.Request) (*http.Response, error) {\n\treturn c.http.Do(req)\n}\n",
		}
		note := hodl.Note{ID: int64(i), Body: prose + "tokens are counted per request, the key of the map is the session's name."}
		if i < values {
			note.Body += " " + canaries[i%len(canaries)].before + strings.Replace(canaries[i%len(canaries)].value, "x8Kq", fmt.Sprintf("x%dKq", i%10), 1) + canaries[i%len(canaries)].after
		}
		c.Tabs, c.Notes = append(c.Tabs, tab), append(c.Notes, note)
		size += len(tab.URL) + len(tab.Title) + len(tab.SelectedText) + len(note.Body)
	}
	return c
}

func BenchmarkApply(b *testing.B) {
	p, _ := redact.Lookup("balanced")
	for _, size := range []struct{ bytes, values int }{{8 << 10, 0}, {8 << 10, 5}, {64 << 10, 27}} {
		c := sized(size.bytes, size.values)
		name := fmt.Sprintf("%dk with %d", size.bytes>>10, size.values)
		b.Run(name+"/bare", func(b *testing.B) {
			for b.Loop() {
				for i := range c.Tabs {
					detect.Keywords(c.Tabs[i].URL)
					detect.Keywords(c.Tabs[i].Title)
					detect.Keywords(c.Tabs[i].SelectedText)
					detect.Keywords(c.Notes[i].Body)
				}
			}
		})
		b.Run(name+"/apply", func(b *testing.B) {
			for b.Loop() {
				r, err := p.Apply(session(), c)
				if err != nil || len(r.Redactions()) < size.values {
					b.Fatalf("%d removed, %v", len(r.Redactions()), err)
				}
			}
		})
	}
}
