package token

import (
	"strconv"
	"strings"

	"hodl"
)

// A set of claims has exactly one text: the members in the order below, without
// white space, the optional ones left out when empty, in strings only the
// quotation mark and the backslash escaped. appendClaims writes that text and
// parseClaims reads nothing else, so a repeated, unknown, misspelt or moved
// member, a fraction, an exponent or an escaped letter is refused without a rule
// of its own.

// appendClaims appends the text of c, which check has passed.
func appendClaims(b []byte, c *hodl.Claims) []byte {
	b = appendText(b, `{"iss":`, c.Issuer)
	b = appendText(b, `,"sub":`, c.Subject)
	b = appendText(b, `,"aud":`, c.Audience)
	b = appendText(b, `,"jti":`, string(c.ID))
	b = appendNumber(b, `,"iat":`, c.IssuedAt)
	b = appendNumber(b, `,"nbf":`, c.NotBefore)
	b = appendNumber(b, `,"exp":`, c.Expires)
	b = appendScopes(b, `,"scope":`, c.Scopes)
	b = appendText(b, `,"session_id":`, string(c.Session))
	b = appendText(b, `,"redaction_policy":`, c.RedactionPolicy)
	b = appendNumber(b, `,"max_hydrations":`, int64(c.MaxHydrations))
	b = appendOptional(b, `,"delegator":`, c.Delegator)
	b = appendOptional(b, `,"nonce":`, c.Nonce)
	b = appendText(b, `,"mode":`, string(c.Mode))
	if c.Actor != nil {
		b = appendActor(append(b, `,"act":`...), c.Actor)
	}
	if c.Confirm != nil {
		b = append(appendText(b, `,"cnf":{"jkt":`, c.Confirm.JKT), '}')
	}
	return append(b, '}')
}

func appendText(b []byte, name, s string) []byte {
	b = append(append(b, name...), '"')
	for {
		i := mark(s)
		if i < 0 {
			return append(append(b, s...), '"')
		}
		b = append(append(b, s[:i]...), '\\', s[i])
		s = s[i+1:]
	}
}

// mark returns the place of the first byte of s that stands escaped in a string,
// or -1. Two fast scans beat one slow one: there is hardly ever any.
func mark(s string) int {
	quote, backslash := strings.IndexByte(s, '"'), strings.IndexByte(s, '\\')
	if quote < 0 || backslash >= 0 && backslash < quote {
		return backslash
	}
	return quote
}

func appendOptional(b []byte, name, s string) []byte {
	if s == "" {
		return b
	}
	return appendText(b, name, s)
}

func appendNumber(b []byte, name string, n int64) []byte {
	return strconv.AppendInt(append(b, name...), n, 10)
}

func appendScopes(b []byte, name string, scopes []hodl.Scope) []byte {
	b = append(b, name...)
	for i, s := range scopes {
		before := ","
		if i == 0 {
			before = "["
		}
		b = appendText(b, before, string(s))
	}
	return append(b, ']')
}

func appendActor(b []byte, a *hodl.Actor) []byte {
	b = appendText(b, `{"sub":`, a.Subject)
	if a.Actor != nil {
		b = appendActor(append(b, `,"act":`...), a.Actor)
	}
	return append(b, '}')
}

// parseClaims reads the text of a set of claims, or returns nil when it is not
// one. The forms of the values are for check to judge.
func parseClaims(text string) *hodl.Claims {
	s := scanner{rest: text}
	c := &hodl.Claims{
		Issuer:          s.text(`{"iss":`),
		Subject:         s.text(`,"sub":`),
		Audience:        s.text(`,"aud":`),
		ID:              hodl.TokenID(s.text(`,"jti":`)),
		IssuedAt:        s.number(`,"iat":`),
		NotBefore:       s.number(`,"nbf":`),
		Expires:         s.number(`,"exp":`),
		Scopes:          s.scopes(`,"scope":`),
		Session:         hodl.SessionID(s.text(`,"session_id":`)),
		RedactionPolicy: s.text(`,"redaction_policy":`),
		MaxHydrations:   int(s.number(`,"max_hydrations":`)),
		Delegator:       s.optional(`,"delegator":`),
		Nonce:           s.optional(`,"nonce":`),
		Mode:            hodl.Mode(s.text(`,"mode":`)),
		Actor:           s.actor(),
	}
	if s.skip(`,"cnf":`) {
		c.Confirm = &hodl.Thumbprint{JKT: s.text(`{"jkt":`)}
		s.want("}")
	}
	s.want("}")
	if s.bad || s.rest != "" {
		return nil
	}
	return c
}

// A scanner reads a fixed sequence of members. Once something is not as it must
// be it is bad for good, and what it returns means nothing.
type scanner struct {
	rest string
	bad  bool
}

// skip reads lit if it comes next.
func (s *scanner) skip(lit string) bool {
	rest, found := strings.CutPrefix(s.rest, lit)
	s.rest = rest
	return found
}

func (s *scanner) want(lit string) {
	if !s.skip(lit) {
		s.bad = true
	}
}

func (s *scanner) text(name string) string {
	s.want(name)
	s.want(`"`)
	text, rest, found := strings.Cut(s.rest, `"`)
	if !found {
		s.bad = true
		return ""
	}
	if i := strings.IndexByte(text, '\\'); i >= 0 {
		return s.escaped(i)
	}
	s.rest = rest
	return text
}

// escaped reads the rest of a string whose first backslash is at i.
func (s *scanner) escaped(i int) string {
	var out strings.Builder
	for ; i >= 0 && i+1 < len(s.rest); i = mark(s.rest) {
		out.WriteString(s.rest[:i])
		next := s.rest[i+1]
		if s.rest[i] == '"' {
			s.rest = s.rest[i+1:]
			return out.String()
		}
		if next != '"' && next != '\\' {
			break
		}
		out.WriteByte(next)
		s.rest = s.rest[i+2:]
	}
	s.bad = true
	return ""
}

func (s *scanner) optional(name string) string {
	if !strings.HasPrefix(s.rest, name) {
		return ""
	}
	text := s.text(name)
	if text == "" {
		s.bad = true
	}
	return text
}

// number reads a whole number of at most 16 digits: no sign, no leading zero.
func (s *scanner) number(name string) int64 {
	s.want(name)
	n, i := int64(0), 0
	for i < len(s.rest) && i < 16 && '0' <= s.rest[i] && s.rest[i] <= '9' {
		n = n*10 + int64(s.rest[i]-'0')
		i++
	}
	if i == 0 || s.rest[0] == '0' && i > 1 {
		s.bad = true
	}
	s.rest = s.rest[i:]
	return n
}

func (s *scanner) scopes(name string) []hodl.Scope {
	s.want(name)
	out := make([]hodl.Scope, 0, 4)
	for before := "["; !s.bad; before = "," {
		out = append(out, hodl.Scope(s.text(before)))
		if s.skip("]") {
			break
		}
	}
	return out
}

// actor reads a chain of actors, or none. MaxSize bounds its depth here, and
// check the depth that is allowed.
func (s *scanner) actor() *hodl.Actor {
	if !s.skip(`,"act":`) {
		return nil
	}
	a := &hodl.Actor{Subject: s.text(`{"sub":`)}
	a.Actor = s.actor()
	s.want("}")
	return a
}
