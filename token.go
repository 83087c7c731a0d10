package hodl

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Scope is a right a resume token carries. Names are the published ones.
type Scope string

const (
	ReadContext    Scope = "read:context"     // tabs, media positions, notes, ai_tags, hodls
	ReadReasoning  Scope = "read:reasoning"   // the reasoning thread
	ReadTranscript Scope = "read:transcript"  // transcript_anchor of media
	ReadRedacted   Scope = "read:redacted"    // what the policy would strip, secrets never
	WriteNotes     Scope = "write:notes"      // append a note
	WriteNextStep  Scope = "write:next_step"  // propose the next step, append typed nodes
	HandOff        Scope = "session:hand_off" // exchange for a narrower token
)

// Scopes lists every scope a token can carry, in canonical order.
var Scopes = []Scope{ReadContext, ReadReasoning, ReadTranscript, ReadRedacted, WriteNotes, WriteNextStep, HandOff}

// Bounds of a token. A workspace may lower each maximum.
const (
	MinTTL            = time.Minute
	MaxTTL            = 24 * time.Hour
	DefaultTTL        = time.Hour
	MaxHydrations     = 1000
	DefaultHydrations = 5
	ClockSkew         = 30 * time.Second
)

// Bounds of exchange: how many times a token is handed on, and how many live
// tokens may come from one at a time.
const (
	MaxDepth    = 4
	MaxChildren = 16
)

// Claims is what a resume token says, in the published names. All of it is
// signed; none of it is secret.
type Claims struct {
	Issuer          string      `json:"iss"`
	Subject         string      `json:"sub"` // wks_…:usr_…
	Audience        string      `json:"aud"`
	ID              TokenID     `json:"jti"`
	IssuedAt        int64       `json:"iat"` // Unix seconds, as the next two
	NotBefore       int64       `json:"nbf"`
	Expires         int64       `json:"exp"`
	Scopes          []Scope     `json:"scope"`
	Session         SessionID   `json:"session_id"`
	RedactionPolicy string      `json:"redaction_policy"`
	MaxHydrations   int         `json:"max_hydrations"`
	Delegator       string      `json:"delegator,omitempty"`
	Nonce           string      `json:"nonce,omitempty"` // present when a write scope is granted
	Mode            Mode        `json:"mode"`
	Actor           *Actor      `json:"act,omitempty"` // RFC 8693 §4.1
	Confirm         *Thumbprint `json:"cnf,omitempty"` // RFC 9449 §6.1
}

// An Actor is a link of a delegation chain (RFC 8693 §4.1): who handed the token
// on, the last first. The chain of a token that a key minted is nil.
type Actor struct {
	Subject string `json:"sub"`
	Actor   *Actor `json:"act,omitempty"`
}

// A Thumbprint binds a token to the key of its audience (RFC 9449 §6.1).
type Thumbprint struct {
	JKT string `json:"jkt"`
}

// Owner splits the subject into the workspace and the user it names.
func (c *Claims) Owner() (WorkspaceID, UserID) {
	ws, user, _ := strings.Cut(c.Subject, ":")
	return WorkspaceID(ws), UserID(user)
}

// Has reports whether the token carries scope s.
func (c *Claims) Has(s Scope) bool { return slices.Contains(c.Scopes, s) }

// Type is how the token is presented: DPoP when it is bound to a key, else Bearer.
func (c *Claims) Type() string {
	if c.Confirm != nil {
		return "DPoP"
	}
	return "Bearer"
}

// TokenDraft is what a client sends to mint a token.
type TokenDraft struct {
	Session         SessionID `json:"session_id" doc:"The session the token opens" example:"ses_8f3aZ91b"`
	Audience        string    `json:"audience" doc:"Who it is for: a built-in or registered audience, or this server's MCP address" example:"claude.anthropic.com"`
	Scopes          []Scope   `json:"scopes" enum:"read:context,read:reasoning,read:transcript,read:redacted,write:notes,write:next_step,session:hand_off" doc:"What it may do"`
	TTLSeconds      *int      `json:"ttl_seconds,omitempty" doc:"Lifetime, 60 to 86,400 seconds; 3,600 when absent"`
	MaxHydrations   *int      `json:"max_hydrations,omitempty" doc:"How many hydrations it is good for, 1 to 1,000; 5 when absent"`
	RedactionPolicy string    `json:"redaction_policy,omitempty" doc:"A policy applied in addition to the workspace's"`
}

// Check reports every fault of the draft, or nil. Whether the audience and the
// session exist is not known here.
func (d *TokenDraft) Check() error {
	var f faults
	if !sessionID(string(d.Session)) {
		f.add("session_id", `must be "ses_" followed by 1 to 64 letters and digits`)
	}
	f.grant(d.Audience, d.Scopes, d.TTLSeconds, d.MaxHydrations)
	f.text("redaction_policy", d.RedactionPolicy, MaxTag)
	return f.err()
}

// grant checks what every call that makes a token says of it.
func (f *faults) grant(audience string, scopes []Scope, ttl, hydrations *int) {
	f.required("audience", audience, MaxAudience)
	if len(scopes) == 0 {
		f.add("scopes", "is empty; name at least one of %s", strings.Join(strs(Scopes), ", "))
	}
	for i, s := range scopes {
		f.oneOf(fmt.Sprintf("scopes[%d]", i), string(s), strs(Scopes)...)
	}
	if ttl != nil && (*ttl < int(MinTTL.Seconds()) || *ttl > int(MaxTTL.Seconds())) {
		f.add("ttl_seconds", "is %d; it must be from %d to %d", *ttl, int(MinTTL.Seconds()), int(MaxTTL.Seconds()))
	}
	if hydrations != nil && (*hydrations < 1 || *hydrations > MaxHydrations) {
		f.add("max_hydrations", "is %d; it must be from 1 to %d", *hydrations, MaxHydrations)
	}
}

// SortScopes returns scopes without repeats, in canonical order.
func SortScopes(scopes []Scope) []Scope {
	var out []Scope
	for _, s := range Scopes {
		if slices.Contains(scopes, s) {
			out = append(out, s)
		}
	}
	return out
}

// Writes reports whether any of the scopes lets its bearer change the session.
func Writes(scopes []Scope) bool {
	return slices.Contains(scopes, WriteNotes) || slices.Contains(scopes, WriteNextStep)
}

// A Token is what the server keeps of a resume token: never the token itself.
type Token struct {
	ID              TokenID
	Workspace       WorkspaceID
	Mode            Mode
	Session         SessionID
	User            UserID
	Key             KeyID // the API key that minted it
	Audience        string
	Scopes          []Scope
	RedactionPolicy string
	MaxHydrations   int
	Hydrations      int       // its own
	Drawn           int       // those of the tokens that came from it, at any distance
	Left            int       // to it: the least of what it and its ancestors have left
	Parent          TokenID   // the token it was exchanged for; "" when a key minted it
	Ancestors       []TokenID // from the first minted to the parent
	Children        int       // how many were exchanged for it
	Link            string    // digest of the id in its hand-off link; "" when it has none
	IssuedAt        time.Time
	ExpiresAt       time.Time
	RevokedAt       time.Time // zero while neither it nor an ancestor is
	RevokeReason    string
}

// Unused returns how many of its hydrations neither the token nor those that came
// from it have used.
func (t *Token) Unused() int { return max(t.MaxHydrations-t.Hydrations-t.Drawn, 0) }

// Live reports whether the token can be used at now, as far as it alone decides.
func (t *Token) Live(now time.Time) bool { return t.RevokedAt.IsZero() && now.Before(t.ExpiresAt) }

// Audiences are those every server knows: the published clients' own, the model
// vendors and the agent frameworks. docs/spec.md lists them.
var Audiences = []string{
	"sdk.unihodl.app", "mcp.unihodl.app",
	"claude.anthropic.com", "chatgpt.openai.com", "gemini.google.com", "copilot.github.com", "mistral.ai", "x.ai", "deepseek.com", "cursor.com",
	"agents.openai.com", "langgraph.langchain.com", "crewai.com", "llamaindex.ai", "adk.google.com",
}
