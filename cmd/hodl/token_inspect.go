package main

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hodl"
)

func tokenInspectCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "inspect TOKEN", Short: "Show what a resume token says, without asking anyone", Args: exactly("TOKEN"),
		Long: `Shows the header and the claims of a token. The token is sent nowhere, and its
signature is not checked: anybody can write such a text. - reads the token from
standard input.`,
		Example: `  hodl token inspect - <token.txt
  hodl token inspect "$TOKEN" --json`,
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := e.secret(args[0])
			if err != nil {
				return err
			}
			header, claims, err := decodeToken(text)
			if err != nil {
				return hint(err, "give it whole, as it was minted")
			}
			if e.json {
				return e.printJSON(map[string]any{"header": header, "claims": claims, "signature_checked": false})
			}
			var c hodl.Claims
			if err := json.Unmarshal(claims, &c); err != nil {
				return hint(errors.New("these are not the claims of a resume token"), "--json shows them as they are")
			}
			return e.printClaims(header, &c)
		},
	}
}

// decodeToken takes a JWS in compact form apart (RFC 7515 §3.1).
func decodeToken(s string) (header, claims json.RawMessage, err error) {
	parts := strings.Split(s, ".")
	if len(parts) != 3 {
		return nil, nil, fmt.Errorf("not a token: it is not three parts with dots between them, but %d", len(parts))
	}
	out := [2]json.RawMessage{}
	for i, name := range []string{"header", "claims"} {
		raw, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err != nil || !json.Valid(raw) {
			return nil, nil, fmt.Errorf("not a token: no JSON in base64url where its %s should be", name)
		}
		out[i] = raw
	}
	return out[0], out[1], nil
}

func (e *env) printClaims(header json.RawMessage, c *hodl.Claims) error {
	var h struct{ Alg, Typ, Kid string }
	_ = json.Unmarshal(header, &h) // whatever it says, it is shown
	actors := ""
	for a := c.Actor; a != nil; a = a.Actor {
		actors += " " + a.Subject
	}
	bound := ""
	if c.Confirm != nil {
		bound = "to the key " + c.Confirm.JKT
	}
	return e.printFacts([][2]string{
		{"signature", "not checked"},
		{"header", strings.TrimSpace(h.Alg + " " + h.Typ + " " + h.Kid)},
		{"token", string(c.ID)},
		{"session", string(c.Session)},
		{"audience", c.Audience},
		{"scopes", joined(c.Scopes, " ")},
		{"hydrations", "at most " + strconv.Itoa(c.MaxHydrations)},
		{"issued", e.instant(c.IssuedAt)},
		{"valid from", e.instant(c.NotBefore)},
		{"expires", e.instant(c.Expires)},
		{"mode", string(c.Mode)},
		{"subject", c.Subject},
		{"issuer", c.Issuer},
		{"policy", c.RedactionPolicy},
		{"delegator", c.Delegator},
		{"acting", strings.TrimSpace(actors)},
		{"bound", bound},
	})
}

// instant is a claim's time, in Unix seconds, and how far it is from now.
func (e *env) instant(seconds int64) string {
	t := time.Unix(seconds, 0)
	return t.UTC().Format(time.RFC3339) + " (" + relative(t, e.now()) + ")"
}
