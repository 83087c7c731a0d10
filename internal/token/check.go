package token

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"hodl"
)

// maxTime is the last second of the year 9999, beyond which time has no RFC 3339
// form.
const maxTime = 253402300799

// check reports the first claim that is not of its form, as a
// [hodl.ValidationFailed] error. Sign and Verify both ask it, so that what is
// minted is what is accepted.
func check(c *hodl.Claims) error {
	for _, form := range []struct{ claim, fault string }{
		{"iss", textFault(c.Issuer, 1)},
		{"sub", subjectFault(c.Subject)},
		{"aud", textFault(c.Audience, 1)},
		{"jti", idFault(string(c.ID), "rt_")},
		{"exp", timesFault(c)},
		{"scope", scopesFault(c.Scopes)},
		{"session_id", idFault(string(c.Session), "ses_")},
		{"redaction_policy", textFault(c.RedactionPolicy, 0)},
		{"max_hydrations", hydrationsFault(c.MaxHydrations)},
		{"delegator", textFault(c.Delegator, 0)},
		{"nonce", nonceFault(c)},
		{"mode", modeFault(c.Mode)},
		{"act", actorFault(c.Actor)},
		{"cnf", confirmFault(c.Confirm)},
	} {
		if form.fault != "" {
			return hodl.Invalid(form.claim, form.fault)
		}
	}
	return nil
}

// textFault is the rule of every string claim. Control characters are refused
// because claims end up in logs, headers and prompts.
func textFault(s string, least int) string {
	switch {
	case len(s) < least:
		return "is required"
	case len(s) > hodl.MaxAudience:
		return fmt.Sprintf("is %d bytes; at most %d are allowed", len(s), hodl.MaxAudience)
	}
	found := kindsOf(s)
	if found&control != 0 {
		return "holds a control character; remove it"
	}
	if found&foreign != 0 && !utf8.ValidString(s) {
		return "is not valid UTF-8"
	}
	return ""
}

func subjectFault(s string) string {
	ws, user, _ := strings.Cut(s, ":")
	if idFault(ws, "wks_") != "" || idFault(user, "usr_") != "" {
		return `must be "wks_…:usr_…", each with 1 to 64 letters and digits`
	}
	return ""
}

func idFault(s, prefix string) string {
	rest, ok := strings.CutPrefix(s, prefix)
	if !ok || len(rest) < 1 || len(rest) > 64 || kindsOf(rest) != 0 {
		return fmt.Sprintf("must be %q followed by 1 to 64 letters and digits", prefix)
	}
	return ""
}

// What a byte may be; letters and digits are nothing else.
const (
	control = 1 << iota
	foreign // beyond ASCII
	sign    // any other
)

// kinds holds the kind of each byte, so that kindsOf is one look per byte: every
// mint and every verification asks it.
var kinds = func() (table [256]byte) {
	for c := range table {
		switch {
		case c < ' ' || c == 0x7f:
			table[c] = control
		case c >= utf8.RuneSelf:
			table[c] = foreign
		case !strings.ContainsRune("0123456789abcdefghijklmnopqrstuvwxyz", rune(c|0x20)):
			table[c] = sign
		}
	}
	return table
}()

// kindsOf returns the kinds of all bytes of s.
func kindsOf(s string) (all byte) {
	for i := range len(s) {
		all |= kinds[s[i]]
	}
	return all
}

func timesFault(c *hodl.Claims) string {
	switch {
	case c.IssuedAt <= 0 || c.Expires > maxTime:
		return "is out of range, or iat is"
	case c.NotBefore < c.IssuedAt || c.Expires <= c.NotBefore:
		return "must be after nbf, and nbf not before iat"
	case c.Expires-c.IssuedAt > int64(hodl.MaxTTL.Seconds()):
		return fmt.Sprintf("is more than %v after iat", hodl.MaxTTL)
	}
	return ""
}

func scopesFault(scopes []hodl.Scope) string {
	if len(scopes) == 0 {
		return "is empty"
	}
	for i, s := range scopes {
		if !slices.Contains(hodl.Scopes, s) {
			return fmt.Sprintf("names %q, which is no scope", s)
		}
		if slices.Contains(scopes[:i], s) {
			return fmt.Sprintf("repeats %q", s)
		}
	}
	return ""
}

func hydrationsFault(n int) string {
	if n < 1 || n > hodl.MaxHydrations {
		return fmt.Sprintf("is %d; it must be from 1 to %d", n, hodl.MaxHydrations)
	}
	return ""
}

func nonceFault(c *hodl.Claims) string {
	if c.Nonce == "" && hodl.Writes(c.Scopes) {
		return "is required with a write scope"
	}
	return textFault(c.Nonce, 0)
}

func modeFault(m hodl.Mode) string {
	if m != hodl.Live && m != hodl.Sandbox {
		return fmt.Sprintf("is %q; it must be live or sandbox", m)
	}
	return ""
}

func actorFault(a *hodl.Actor) string {
	for depth := 1; a != nil; depth, a = depth+1, a.Actor {
		if depth > MaxDepth {
			return fmt.Sprintf("is more than %d deep", MaxDepth)
		}
		if fault := textFault(a.Subject, 1); fault != "" {
			return "holds a sub that " + fault
		}
	}
	return ""
}

// confirmFault wants a SHA-256 JWK thumbprint (RFC 9449 §6.1).
func confirmFault(t *hodl.Thumbprint) string {
	if t == nil {
		return ""
	}
	var sum [32]byte
	if len(t.JKT) != encoding.EncodedLen(len(sum)) {
		return "must hold a thumbprint of 43 base64url characters"
	}
	// A skipped line end shows in the length.
	if n, err := encoding.Decode(sum[:], []byte(t.JKT)); err != nil || n != len(sum) {
		return "must hold a thumbprint in canonical base64url"
	}
	return ""
}
