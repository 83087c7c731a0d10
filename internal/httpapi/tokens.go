package httpapi

import (
	"context"
	"time"

	"hodl"
	"hodl/internal/resume"
)

type mintedReply struct{ Body MintedBody }

func replyMinted(t *resume.Minted) *mintedReply { return &mintedReply{mintedOf(t)} }

func (s *server) tokenMint(ctx context.Context, in *struct{ Body hodl.TokenDraft }) (*mintedReply, error) {
	return answer(ctx, replyMinted)(s.Resume.Mint(ctx, caller(ctx), in.Body))
}

type TokenPath struct {
	JTI hodl.TokenID `path:"jti" doc:"The token's id"`
}

type revokedReply struct {
	Body struct {
		Revoked bool         `json:"revoked" doc:"Always true"`
		ID      hodl.TokenID `json:"jti" doc:"The token"`
		Reason  *string      `json:"reason" doc:"Why; null when none was given"`
	}
}

func (s *server) tokenRevoke(ctx context.Context, in *struct {
	TokenPath
	Body *struct {
		Reason *string `json:"reason,omitempty" doc:"Why, for the record; at most 1 KiB"`
	}
},
) (*revokedReply, error) {
	reason := ""
	if in.Body != nil && in.Body.Reason != nil {
		reason = *in.Body.Reason
	}
	return answer(ctx, func(standing string) *revokedReply {
		out := &revokedReply{}
		out.Body.Revoked, out.Body.ID, out.Body.Reason = true, in.JTI, orNull(standing)
		return out
	})(s.Resume.Revoke(ctx, caller(ctx), in.JTI, reason))
}

// tokenBody is what is kept of a token: never the token.
type tokenBody struct {
	ID        hodl.TokenID   `json:"jti" doc:"The token's id"`
	Session   hodl.SessionID `json:"session_id" doc:"The session it opens"`
	Audience  string         `json:"audience" doc:"Who it is for"`
	Scopes    []hodl.Scope   `json:"scopes" doc:"What it may do"`
	Policy    string         `json:"redaction_policy" doc:"The policy applied in addition to the workspace's"`
	Max       int            `json:"max_hydrations" doc:"How many hydrations it was good for"`
	Left      int            `json:"hydrations_left" doc:"How many are left: the least of its own and of those of the tokens it comes from"`
	Parent    *hodl.TokenID  `json:"parent" doc:"The token it was exchanged for; null when a key minted it"`
	Depth     int            `json:"depth" doc:"How many times it was handed on; 0 when a key minted it"`
	Children  int            `json:"children" doc:"How many tokens were exchanged for it"`
	Mode      hodl.Mode      `json:"mode" enum:"live,sandbox" doc:"Live or sandbox data"`
	IssuedAt  time.Time      `json:"issued_at" doc:"When it was minted (RFC 3339, UTC)"`
	ExpiresAt time.Time      `json:"expires_at" doc:"When it ends (RFC 3339, UTC)"`
	RevokedAt *time.Time     `json:"revoked_at" doc:"When it was revoked; null while it is not"`
	Reason    *string        `json:"reason" doc:"Why it was revoked; null when no reason was given"`
}

func tokenOf(t *hodl.Token) tokenBody {
	return tokenBody{
		t.ID, t.Session, t.Audience, t.Scopes, t.RedactionPolicy, t.MaxHydrations, t.Left, orNull(t.Parent), len(t.Ancestors), t.Children, t.Mode,
		t.IssuedAt, t.ExpiresAt, timeOrNull(t.RevokedAt), orNull(t.RevokeReason),
	}
}

func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func (s *server) tokenGet(ctx context.Context, in *TokenPath) (*struct{ Body tokenBody }, error) {
	p := principal(ctx)
	t, err := s.Store.Token(ctx, p.Workspace, p.Mode, p.User, in.JTI)
	if err != nil {
		return nil, err
	}
	return &struct{ Body tokenBody }{tokenOf(t)}, nil
}

type tokenListReply struct {
	Body struct {
		Tokens []tokenBody `json:"resume_tokens" doc:"A page of tokens"`
		Next   *string     `json:"next_cursor" doc:"Cursor of the next page; null at the end"`
	}
}

func (s *server) tokenList(ctx context.Context, in *struct {
	Paging
	Session hodl.SessionID `query:"session_id" doc:"Only tokens of this session"`
},
) (*tokenListReply, error) {
	page, err := in.byID()
	if err != nil {
		return nil, err
	}
	p := principal(ctx)
	list, err := s.Store.Tokens(ctx, p.Workspace, p.Mode, p.User, in.Session, page)
	out := &tokenListReply{}
	for _, t := range list {
		out.Body.Tokens = append(out.Body.Tokens, tokenOf(t))
	}
	out.Body.Next = more(list, page.Limit, func(t *hodl.Token) string { return encodeCursor(string(t.ID)) })
	return out, err
}
