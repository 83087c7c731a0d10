package hodl

// ExchangeDraft is what the holder of a resume token sends to exchange it for a
// narrower one.
type ExchangeDraft struct {
	Audience        string  `json:"audience" doc:"Who the new token is for" example:"agents.openai.com"`
	Scopes          []Scope `json:"scopes" enum:"read:context,read:reasoning,read:transcript,write:notes,write:next_step,session:hand_off" doc:"What it may do: scopes of the token it comes from, read:redacted never"`
	TTLSeconds      *int    `json:"ttl_seconds,omitempty" doc:"Lifetime, 60 to 86,400 seconds, and not beyond the end of the token it comes from; 3,600 or what is left when absent"`
	RedactionPolicy string  `json:"redaction_policy,omitempty" doc:"A policy applied in addition to those of the token it comes from"`
	MaxHydrations   *int    `json:"max_hydrations,omitempty" doc:"How many hydrations it is good for, at most as many as the token it comes from; 5 or as many when absent. Each counts for that token as well"`
}

// Check reports every fault of the draft, or nil. What the token it comes from
// allows is not known here.
func (d *ExchangeDraft) Check() error {
	var f faults
	f.grant(d.Audience, d.Scopes, d.TTLSeconds, d.MaxHydrations)
	f.text("redaction_policy", d.RedactionPolicy, MaxTag)
	return f.err()
}

// HandOffDraft is what a person's key sends to give a session to another
// principal.
type HandOffDraft struct {
	Audience   string  `json:"audience" doc:"Who the session is for" example:"claude.anthropic.com"`
	Scopes     []Scope `json:"scopes" enum:"read:context,read:reasoning,read:transcript,read:redacted,write:notes,write:next_step,session:hand_off" doc:"What its token may do"`
	TTLSeconds *int    `json:"ttl_seconds,omitempty" doc:"Lifetime, 60 to 86,400 seconds; 3,600 when absent"`
	Delegator  UserID  `json:"delegator_user_id,omitempty" doc:"Who hands off: the key's own user, who it is when absent"`
}

// RevocationKind is whose tokens a revocation of many ends.
type RevocationKind string

const (
	OfSession   RevocationKind = "session"
	OfKey       RevocationKind = "key" // those the API key minted, and what came from them
	OfUser      RevocationKind = "user"
	OfWorkspace RevocationKind = "workspace"
)

// A Revocation ends every token of one subject that was minted before it, in one
// mode, and every token that came from one of them.
type Revocation struct {
	Kind    RevocationKind
	Subject string // its id
	Reason  string
}

// Check refuses with [ValidationFailed] what cannot be kept.
func (v *Revocation) Check() error {
	var f faults
	f.text("reason", v.Reason, MaxTitle)
	field := map[RevocationKind]string{OfSession: "session_id", OfKey: "api_key_id", OfUser: "user_id"}[v.Kind]
	f.text(field, v.Subject, MaxName)
	return f.err()
}

// Covers reports whether t is one of the subject's tokens.
func (v *Revocation) Covers(t *Token) bool {
	switch v.Kind {
	case OfSession:
		return string(t.Session) == v.Subject
	case OfKey:
		return string(t.Key) == v.Subject
	case OfUser:
		return string(t.User) == v.Subject
	case OfWorkspace:
		return string(t.Workspace) == v.Subject
	}
	return false
}

// Chain lists the subjects of a delegation chain, the last first.
func (a *Actor) Chain() []string {
	var out []string
	for ; a != nil; a = a.Actor {
		out = append(out, a.Subject)
	}
	return out
}
