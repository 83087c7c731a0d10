package detect_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hodl/internal/detect"
)

// text makes a session's worth of prose, code and addresses of about n bytes, with
// so many values planted.
func text(n, values int) string {
	pieces := []string{
		"The retry loop in client.go backs off twice before it gives up; see the comment above dial.\n",
		"func (c *Client) do(ctx context.Context, req *http.Request) (*http.Response, error) {\n\treturn c.http.Do(req.WithContext(ctx))\n}\n",
		"https://pkg.go.dev/net/http#Transport.RoundTrip\n",
		"https://github.com/golang/go/issues/12345?q=is%3Aopen+label%3Abug\n",
		"tokens are counted per request, the key of the map is the session's name; nothing is kept.\n",
		"for i, v := range values { if v.Key == key { return v.Value } } // linear, and that is fine\n",
		"Deploys happen on Tuesdays at 10:30 from the main branch, version v1.24.3.\n",
	}
	secrets := []string{
		"token ghp" + "_x8Kq2LmZ4vRt7WnYbC3dEfGhJ5sPaQ1uT9iO here\n",
		"db_password = \"s3cr3t-Horse-91\"\n",
		"https://example.com/reset?token=rUmDFcW8FIRIWsM_PrT_yFSKKGGgJIDixAT-g5ho\n",
		"mail jane.roe@example.org about it\n",
		"card 4012 8888 8888 1881 was declined\n",
	}
	var b strings.Builder
	step := n / (values + 1)
	for i, planted := 0, 0; b.Len() < n; i++ {
		if planted < values && b.Len() > (planted+1)*step-100 {
			b.WriteString(secrets[planted%len(secrets)])
			planted++
		}
		b.WriteString(pieces[i%len(pieces)])
	}
	return b.String()
}

func BenchmarkScan(b *testing.B) {
	for _, size := range []struct{ bytes, values int }{{8 << 10, 0}, {8 << 10, 5}, {64 << 10, 27}} {
		t := text(size.bytes, size.values)
		name := fmt.Sprintf("%dk with %d", size.bytes>>10, size.values)
		b.Run(name+"/bare", func(b *testing.B) {
			b.SetBytes(int64(len(t)))
			for b.Loop() {
				detect.Keywords(t)
			}
		})
		b.Run(name+"/scan", func(b *testing.B) {
			b.SetBytes(int64(len(t)))
			b.ReportAllocs()
			var spans []detect.Span
			for b.Loop() {
				spans = detect.Scan(spans[:0], t, detect.Text, "")
			}
			if len(detect.Resolve(spans)) < size.values {
				b.Fatalf("%d of %d found", len(spans), size.values)
			}
		})
	}
}

// BenchmarkHostile measures texts made to cost much, against the bare pass over
// the same bytes of prose: the fastest of each make the figure "×bare".
func BenchmarkHostile(b *testing.B) {
	const n = 64 << 10
	prose := text(n, 0)
	for name, unit := range map[string]string{
		"keywords": "password token secret key ", "assignments": "password=", "quotes": `password="`, "brackets": "((((((((", "digits": "1234567890 ",
		"percent": "%25", "escapes": `\"\\\n`, "addresses": "https://a:b@", "at": "a@", "base64": "cGFzc3dvcmQ9", "line": "x", "colons": "ab:", "ssn": "ssn ", "eyj": "eyJ", "pem": "-----BEGIN PRIVATE KEY-----",
		"dashes": "-u -p ", "queries": "https://a/?token=https://", "iban": "GB82 ", "hex": "0123456789abcdef", "wide": "\uff50", "labels": "passport number A",
	} {
		t := strings.Repeat(unit, n/len(unit))
		b.Run(name, func(b *testing.B) {
			var spans []detect.Span
			bare, scan := time.Hour, time.Hour
			for b.Loop() {
				bare = min(bare, timed(func() { detect.Keywords(prose) }))
				scan = min(scan, timed(func() { spans = detect.Scan(spans[:0], t, detect.Text, "") }))
			}
			b.ReportMetric(float64(scan)/float64(bare), "×bare")
		})
	}
}

func timed(run func()) time.Duration {
	start := time.Now()
	run()
	return time.Since(start)
}
