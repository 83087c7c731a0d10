// Package render turns a redacted session into the bytes an agent gets. There is
// one renderer, so that every door (REST, MCP, each client library) hands over
// identical bytes, and equal inputs give equal bytes, so that they may be cached.
//
// A format is one file and one row of the table below.
package render

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"hodl"
	"hodl/internal/count"
)

// A Format is the name of a rendering, as clients ask for it.
type Format string

const (
	JSON         Format = "json"
	PromptReady  Format = "prompt-ready"
	Markdown     Format = "markdown"
	Anthropic    Format = "anthropic"
	Gemini       Format = "gemini"
	OpenAIAgents Format = "openai-agents"
	MCP          Format = "mcp"
)

// Media types of request parts are ours to name: nobody registered any.
const (
	typePrompt    = "text/x-unihodl-prompt; charset=utf-8"
	typeMarkdown  = "text/markdown; charset=utf-8"
	typeAnthropic = "application/vnd.hodl.anthropic+json"
	typeGemini    = "application/vnd.hodl.gemini+json"
	typeOpenAI    = "application/vnd.hodl.openai-agents+json"
	typeMCP       = "application/vnd.hodl.mcp+json"
)

// A row is what is known of a format. An open body is a JSON object that takes the
// fields that differ per call as its last members.
type row struct {
	name        Format
	contentType string
	open        bool
	write       func(*View) ([]byte, error)
}

// formats is every rendering there is, the default first.
var formats = []row{
	{JSON, "application/json", true, writeJSON},
	{PromptReady, typePrompt, false, writePrompt},
	{Markdown, typeMarkdown, false, writeMarkdown},
	{Anthropic, typeAnthropic, false, writeAnthropic},
	{Gemini, typeGemini, false, writeGemini},
	{OpenAIAgents, typeOpenAI, false, writeOpenAI},
	{MCP, typeMCP, false, writeMCP},
}

// Formats lists the names of all renderings, the default first.
func Formats() []Format {
	out := make([]Format, len(formats))
	for i, f := range formats {
		out[i] = f.name
	}
	return out
}

// ParseFormat reads a format's name. An empty name is the default, [JSON]; one
// that is not known is refused as [hodl.NotAcceptable].
func ParseFormat(name string) (Format, error) {
	if name == "" {
		return JSON, nil
	}
	var known []string
	for _, f := range formats {
		if string(f.name) == name {
			return f.name, nil
		}
		known = append(known, string(f.name))
	}
	return "", hodl.Errorf(hodl.NotAcceptable, "there is no format %s", strconv.Quote(name)).WithHint("use one of: %s", strings.Join(known, ", "))
}

// ContentType returns the media type of the format, "" for one that is not known.
func (f Format) ContentType() string {
	for _, row := range formats {
		if row.name == f {
			return row.contentType
		}
	}
	return ""
}

// A Rendering is a resume context as bytes. It never changes and may be shared
// and cached; Body must not be written to.
type Rendering struct {
	Format      Format
	ContentType string
	Body        []byte // without the fields that differ per call
	SHA256      string // of Body, in hex

	open   bool
	quoted func() []byte // Body as a JSON string, made when it is first asked for
}

// Tokens is how many tokens of o200k_base the body is.
func (r Rendering) Tokens() int { return count.Tokens(string(r.Body)) }

// Render writes what v grants as f. It refuses the zero View as
// [hodl.Internal] and an unknown format as [hodl.NotAcceptable].
func Render(v View, f Format) (Rendering, error) {
	if _, err := hodl.ParseSessionID(string(v.context.Session)); err != nil {
		return Rendering{}, hodl.Errorf(hodl.Internal, "render a context that no policy has seen")
	}
	for _, row := range formats {
		if row.name != f {
			continue
		}
		body, err := row.write(&v)
		if err != nil {
			return Rendering{}, err
		}
		sum := sha256.Sum256(body)
		return Rendering{
			Format: f, ContentType: row.contentType, Body: body, SHA256: hex.EncodeToString(sum[:]), open: row.open,
			quoted: sync.OnceValue(func() []byte { return quote(body) }),
		}, nil
	}
	return Rendering{}, hodl.Errorf(hodl.NotAcceptable, "there is no format %s", strconv.Quote(string(f)))
}

// Returned describes the rendering for its access record.
func (r Rendering) Returned() *hodl.Returned {
	return &hodl.Returned{Bytes: len(r.Body), Format: string(r.Format), SHA256: r.SHA256}
}

// Seal returns the body as it goes out. An open object gets hydration_id as its last
// member, and behind it receipt if there is one, after bytes that are those of Body;
// other formats carry them in headers, which the edge sets, and return Body itself.
func (r Rendering) Seal(hydration hodl.RecordID, receipt string) []byte {
	if !r.open {
		return r.Body
	}
	const member, more = `,"hydration_id":`, `,"receipt":`
	out := make([]byte, 0, len(r.Body)+len(member)+len(hydration)+len(more)+len(receipt)*5/4+16)
	out = append(out, r.Body[:len(r.Body)-1]...)
	out = append(out, member...)
	// Ids are letters, digits and underscores, so Go's quoting is JSON's.
	out = strconv.AppendQuote(out, string(hydration))
	if receipt != "" { // base64, names and line breaks, which both quote alike
		out = strconv.AppendQuote(append(out, more...), receipt)
	}
	return append(out, '}')
}

// SealQuoted is [Rendering.Seal] as a JSON string. That of a body which carries nothing
// of its call is kept: to make it takes a tenth of what a hydration does.
func (r Rendering) SealQuoted(hydration hodl.RecordID, receipt string) []byte {
	if !r.open {
		return r.quoted()
	}
	return quote(r.Seal(hydration, receipt))
}

func quote(text []byte) []byte {
	// What is not UTF-8 is replaced, and said to be so: renderings have none.
	out, _ := jsontext.AppendQuote(make([]byte, 0, len(text)+len(text)/16), text)
	return out
}
