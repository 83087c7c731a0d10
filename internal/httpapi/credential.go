package httpapi

import (
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"hodl"
	"hodl/internal/resume"
)

// Schemes of Authorization, in small letters, and the header of nonces.
const (
	bearerScheme = "bearer"
	dpopScheme   = "dpop" // RFC 9449 §7.1; with resume tokens alone
	nonceHeader  = "DPoP-Nonce"
)

// present finds the credential of a request. Where a token may come with a proof of
// possession, it notes that one did, and has the answer carry the nonce of the next.
// A token in a form has no scheme: its proof alone tells.
func (s *server) present(ctx huma.Context, how *resume.Presentation) (string, error) {
	header := ctx.Header("Authorization")
	scheme, credential, _ := strings.Cut(header, " ")
	scheme, credential = strings.ToLower(scheme), strings.TrimSpace(credential)
	provable, _ := ctx.Operation().Metadata["provable"].(bool)
	if how.DPoP = provable && (scheme == dpopScheme || header == "" && how.Proof != ""); how.DPoP {
		ctx.SetHeader(nonceHeader, s.Resume.Nonce())
	}
	if credential == "" || scheme != bearerScheme && !how.DPoP {
		return "", hodl.Errorf(hodl.MissingCredentials, "the request carries no credentials").WithHint("send Authorization: Bearer and an API key or resume token")
	}
	return credential, nil
}
