// Package fingerprint names session versions by what they hold, and writes
// values as canonical JSON (RFC 8785) for whatever is hashed or signed.
package fingerprint

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"hodl"
)

// covered is what a fingerprint covers: everything captured and who wrote it,
// no times, counters or states. Field names are part of every fingerprint ever
// made; renaming one renames all versions.
type covered struct {
	Salt    string         `json:"salt"` // standard base64
	Title   string         `json:"title"`
	Summary string         `json:"summary"`
	Tabs    []hodl.Tab     `json:"tabs"`
	Media   []hodl.Medium  `json:"media"`
	Thread  []node         `json:"reasoning_thread"`
	Tags    []string       `json:"ai_tags"`
	Notes   []note         `json:"notes"`
	Hodls   []embeddedHodl `json:"hodls"`
}

type node struct {
	hodl.Node
	Author string     `json:"author"`
	Trust  hodl.Trust `json:"trust"`
}

type note struct {
	ID     int64      `json:"note_id"`
	Body   string     `json:"body"`
	Author string     `json:"author"`
	Trust  hodl.Trust `json:"trust"`
}

type embeddedHodl struct {
	ID        hodl.HodlID    `json:"id"`
	URL       string         `json:"url"`
	Title     string         `json:"title"`
	Note      string         `json:"note"`
	Tags      []string       `json:"tags"`
	Source    hodl.Source    `json:"source"`
	Location  *hodl.Location `json:"location,omitempty"`
	SessionID hodl.SessionID `json:"session_id"`
	DeepLink  string         `json:"deep_link"`
}

// Of returns the fingerprint of content: SHA-256, in lower-case hex, over the
// canonical JSON of the session's salt and of what a version holds. Without the
// salt nobody can confirm a guess of the content. A nil list and an empty one are
// the same; provenance counts for the nodes of the thread only. It refuses text
// that is not UTF-8 and numbers that are not finite.
func Of(salt []byte, content *hodl.Content) (string, error) {
	c := covered{
		Salt:    base64.StdEncoding.EncodeToString(salt),
		Title:   content.Title,
		Summary: content.Summary,
		Tabs:    content.Tabs,
		Media:   content.Media,
		Thread:  nodes(content),
		Tags:    content.Tags,
		Notes:   notes(content.Notes),
		Hodls:   embedded(content.Hodls),
	}
	text, err := Canonical(&c)
	if err != nil {
		return "", fmt.Errorf("fingerprint a session: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

func nodes(c *hodl.Content) []node {
	out := make([]node, len(c.Thread))
	for i, n := range c.Thread {
		p := c.Provenance[n.ID]
		out[i] = node{Node: n, Author: p.Author, Trust: p.Trust}
	}
	return out
}

func notes(from []hodl.Note) []note {
	out := make([]note, len(from))
	for i, n := range from {
		out[i] = note{ID: n.ID, Body: n.Body, Author: n.Author, Trust: n.Trust}
	}
	return out
}

func embedded(from []hodl.Hodl) []embeddedHodl {
	out := make([]embeddedHodl, len(from))
	for i, h := range from {
		out[i] = embeddedHodl{
			ID: h.ID, URL: h.URL, Title: h.Title, Note: h.Note, Tags: h.Tags, Source: h.Source,
			Location: h.Location, SessionID: h.SessionID, DeepLink: h.DeepLink,
		}
	}
	return out
}

// asMembers leaves out what is marked omitempty by its Go value, as encoding/json
// does, so that the same struct is the same text in every package.
var asMembers = jsonv1.OmitEmptyWithLegacySemantics(true)

// Canonical returns v as canonical JSON (RFC 8785): members sorted by the UTF-16
// units of their names, numbers as ECMAScript writes doubles, no white space.
// Integers beyond 2^53 lose their last digits, as the RFC has it. Raw JSON is
// passed as a [jsontext.Value]. It refuses what is not I-JSON: invalid UTF-8,
// repeated names, numbers that are not finite.
func Canonical(v any) ([]byte, error) {
	text, err := json.Marshal(v, asMembers)
	if err != nil {
		return nil, fmt.Errorf("encode as JSON: %w", err)
	}
	out := jsontext.Value(text)
	if err := out.Canonicalize(); err != nil {
		return nil, fmt.Errorf("make JSON canonical: %w", err)
	}
	return out, nil
}
