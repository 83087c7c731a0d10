package redact_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

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

// BenchmarkApply measures a policy against the bare pass over the same fields, in
// turn. Other work on the machine makes any one of them slow and none fast: the
// fastest of each make the figure "×bare".
func BenchmarkApply(b *testing.B) {
	p, _ := redact.Lookup("balanced")
	for _, size := range []struct{ bytes, values int }{{8 << 10, 0}, {8 << 10, 5}, {64 << 10, 27}} {
		c := sized(size.bytes, size.values)
		b.Run(fmt.Sprintf("%dk with %d", size.bytes>>10, size.values), func(b *testing.B) {
			b.ReportAllocs()
			bare, apply := time.Hour, time.Hour
			for b.Loop() {
				bare = min(bare, timed(func() { barePass(c) }))
				apply = min(apply, timed(func() {
					r, err := p.Apply(session(), c)
					if err != nil || len(r.Redactions()) < size.values {
						b.Fatalf("%d removed, %v", len(r.Redactions()), err)
					}
				}))
			}
			b.ReportMetric(float64(apply)/float64(bare), "×bare")
			b.ReportMetric(float64(apply.Nanoseconds()), "ns/apply")
		})
	}
}

func barePass(c hodl.Content) {
	for i := range c.Tabs {
		detect.Keywords(c.Tabs[i].URL)
		detect.Keywords(c.Tabs[i].Title)
		detect.Keywords(c.Tabs[i].SelectedText)
		detect.Keywords(c.Notes[i].Body)
	}
}

func timed(run func()) time.Duration {
	start := time.Now()
	run()
	return time.Since(start)
}
