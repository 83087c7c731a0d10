package render_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hodl"
	"hodl/internal/redact"
	"hodl/internal/render"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestGolden(t *testing.T) {
	for _, tt := range cases {
		for _, f := range render.Formats() {
			path := filepath.Join("testdata", tt.name, string(f)+".golden")
			got := rendered(t, view(t, tt.content, tt.scopes...), f).Body
			if *update {
				write(t, path, got)
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s (-want +got; if it is meant, run with -update):\n%s", path, diff)
			}
		}
	}
}

func write(t *testing.T, path string, body []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, body, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestEqualInputsGiveEqualBytes(t *testing.T) {
	for _, f := range render.Formats() {
		want := rendered(t, view(t, full(), reads...), f)
		for range 20 {
			got := rendered(t, view(t, full(), hodl.ReadTranscript, hodl.ReadReasoning, hodl.ReadContext), f)
			if !bytes.Equal(got.Body, want.Body) || got.SHA256 != want.SHA256 {
				t.Fatalf("%s differs from call to call", f)
			}
		}
	}
}

func TestDigestLeavesOutWhatDiffersPerCall(t *testing.T) {
	r := rendered(t, view(t, full(), reads...), render.JSON)
	sealed := r.Seal("acr_01", "")
	if want := string(r.Body[:len(r.Body)-1]) + `,"hydration_id":"acr_01"}`; string(sealed) != want {
		t.Errorf("sealed as …%s", sealed[len(sealed)-60:])
	}
	if !json.Valid(sealed) || !json.Valid(r.Body) {
		t.Error("no valid JSON")
	}
	sum := sha256.Sum256(r.Body)
	want := &hodl.Returned{Bytes: len(r.Body), Format: "json", SHA256: hex.EncodeToString(sum[:])}
	if diff := cmp.Diff(want, r.Returned()); diff != "" {
		t.Error(diff)
	}
	p := rendered(t, view(t, full(), reads...), render.PromptReady)
	if !bytes.Equal(p.Seal("acr_01", ""), p.Body) {
		t.Error("the text of a prompt changed by sealing")
	}
}

func TestQuotedIsWhatGoesOut(t *testing.T) {
	for _, f := range render.Formats() {
		r := rendered(t, view(t, full(), reads...), f)
		for _, id := range []hodl.RecordID{"acr_01", "acr_02"} {
			var got string
			if err := json.Unmarshal(r.SealQuoted(id, "receipt"), &got); err != nil || got != string(r.Seal(id, "receipt")) {
				t.Errorf("%s is quoted as %.80q (%v)", f, got, err)
			}
		}
	}
}

func TestContentTypes(t *testing.T) {
	for f, want := range map[render.Format]string{
		render.JSON:         "application/json",
		render.PromptReady:  "text/x-unihodl-prompt; charset=utf-8",
		render.Markdown:     "text/markdown; charset=utf-8",
		render.Anthropic:    "application/vnd.hodl.anthropic+json",
		render.Gemini:       "application/vnd.hodl.gemini+json",
		render.OpenAIAgents: "application/vnd.hodl.openai-agents+json",
		render.MCP:          "application/vnd.hodl.mcp+json",
		"nonsense":          "",
	} {
		if got := f.ContentType(); got != want {
			t.Errorf("%s: %q, want %q", f, got, want)
		}
	}
	if got := rendered(t, view(t, full()), render.JSON).ContentType; got != "application/json" {
		t.Errorf("rendering says %q", got)
	}
}

func TestParseFormat(t *testing.T) {
	for name, want := range map[string]render.Format{"": render.JSON, "json": render.JSON, "prompt-ready": render.PromptReady} {
		if got, err := render.ParseFormat(name); err != nil || got != want {
			t.Errorf("ParseFormat(%q) = %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"JSON", "xml", "\x00", "prompt"} {
		if _, err := render.ParseFormat(name); hodl.CodeOf(err) != hodl.NotAcceptable {
			t.Errorf("ParseFormat(%q): %v, want not_acceptable", name, err)
		}
	}
}

// What no policy has seen cannot be rendered, not even as an empty context.
func TestRenderRefusesWhatIsNotRedacted(t *testing.T) {
	for name, v := range map[string]render.View{"zero view": {}, "zero redacted": render.Context(redact.Redacted{}, reads)} {
		if r, err := render.Render(v, render.JSON); hodl.CodeOf(err) != hodl.Internal || r.Body != nil {
			t.Errorf("%s: %q, %v", name, r.Body, err)
		}
	}
	if _, err := render.Render(view(t, full()), "xml"); hodl.CodeOf(err) != hodl.NotAcceptable {
		t.Errorf("unknown format: %v", err)
	}
}

func TestScopes(t *testing.T) {
	contextFields := []string{"tabs", "media", "ai_tags", "notes", "hodls"}
	for _, tt := range []struct {
		name     string
		scopes   []hodl.Scope
		granted  []string
		withheld []string
	}{
		{"nothing", nil, nil, []string{"tabs", "media", "media[].transcript_anchor", "reasoning_thread", "ai_tags", "notes", "hodls", "provenance"}},
		{"context", []hodl.Scope{hodl.ReadContext}, contextFields, []string{"media[].transcript_anchor", "reasoning_thread", "provenance"}},
		{"reasoning", []hodl.Scope{hodl.ReadReasoning}, []string{"reasoning_thread", "provenance"}, []string{"tabs", "media", "media[].transcript_anchor", "ai_tags", "notes", "hodls"}},
		{"transcript alone", []hodl.Scope{hodl.ReadTranscript}, nil, []string{"tabs", "media", "reasoning_thread", "ai_tags", "notes", "hodls", "provenance"}},
		{"all reads", reads, append([]string{"reasoning_thread", "provenance"}, contextFields...), nil},
	} {
		body := object(t, rendered(t, view(t, full(), tt.scopes...), render.JSON).Body)
		for _, field := range append([]string{"reasoning_thread", "provenance"}, contextFields...) {
			if full := !empty(body[field]); full != slices.Contains(tt.granted, field) {
				t.Errorf("%s: %s holds something: %v", tt.name, field, full)
			}
		}
		got := view(t, full(), tt.scopes...).Resume()
		if diff := cmp.Diff(append([]string{}, tt.withheld...), got.Withheld); diff != "" {
			t.Errorf("%s: withheld:\n%s", tt.name, diff)
		}
		if got.Title == "" || got.Summary == "" || got.CapturedAt.IsZero() {
			t.Errorf("%s: title, summary or captured_at is missing", tt.name)
		}
	}
}

// Not a word of what is withheld may show in any format.
func TestWithheldWordsAreNowhere(t *testing.T) {
	for _, f := range render.Formats() {
		for name, tt := range map[string]struct {
			scopes []hodl.Scope
			words  []string
		}{
			"without context":    {[]hodl.Scope{hodl.ReadReasoning}, []string{"replica 2\nonly", "Issue 7", "lease expires", "ask Ada", "\"cache", "vscode:", "0a1b2c3"}},
			"without reasoning":  {[]hodl.Scope{hodl.ReadContext}, []string{"lags by", "outlives", "shorten", "staging", "cursor.com", "n6"}},
			"without transcript": {[]hodl.Scope{hodl.ReadContext, hodl.ReadReasoning}, []string{"lease expires"}},
		} {
			body := rendered(t, view(t, full(), tt.scopes...), f).Body
			for _, word := range tt.words {
				if bytes.Contains(body, []byte(word)) {
					t.Errorf("%s %s shows %q", f, name, word)
				}
			}
		}
	}
}

func TestEditorHodlsAreTabsToo(t *testing.T) {
	tabs := view(t, editor(), hodl.ReadContext).Resume().Tabs
	want := []hodl.Tab{
		{URL: "https://example.com/docs", Title: "docs", Role: "editor"},
		{URL: "vscode://file/lease.go:88:13", Title: "lease.go:88", Role: "editor", SelectedText: "if lease < 60 {\n\treturn\n}"},
	}
	if diff := cmp.Diff(want, tabs); diff != "" {
		t.Error(diff)
	}
}

func TestSealedBytesAreTheCallersOwn(t *testing.T) {
	r := rendered(t, view(t, full(), reads...), render.JSON)
	before := strings.Clone(string(r.Body))
	clear(r.Seal("acr_01", ""))
	if string(r.Body) != before {
		t.Error("writing to the sealed bytes changed the shared body")
	}
}

// bench is a session of about 16 KB.
func bench() hodl.Content {
	c := full()
	for i := range 12 {
		text := strings.Repeat("what was seen here: a < b, and more of it. ", 8)
		c.Tabs = append(c.Tabs, hodl.Tab{URL: "https://example.com/" + strings.Repeat("path/", 12), Title: text[:80], ScrollYPct: number(float64(i)), SelectedText: text + text})
		c.Thread = append(c.Thread, hodl.Node{ID: "m" + string(rune('a'+i)), Kind: hodl.NodeKinds[i%7], Text: text, Confidence: number(0.25)})
		c.Notes = append(c.Notes, hodl.Note{ID: int64(i + 3), Body: text[:200], Author: "usr_1", Trust: hodl.TrustUser, CreatedAt: captured})
	}
	return c
}

func BenchmarkCold(b *testing.B) {
	c := bench()
	policy, _ := redact.Lookup(redact.Off)
	for _, f := range render.Formats() {
		b.Run(string(f), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r, err := policy.Apply(hodl.Session{ID: "ses_1", CapturedAt: captured}, c)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(rendered(b, render.Context(r, reads), f).Body)))
			}
		})
	}
}
