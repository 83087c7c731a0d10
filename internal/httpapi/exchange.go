package httpapi

import (
	"context"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"

	"hodl"
	"hodl/internal/resume"
)

// The names of RFC 8693.
const (
	grantType   = "urn:ietf:params:oauth:grant-type:token-exchange"
	accessToken = "urn:ietf:params:oauth:token-type:access_token" //nolint:gosec // a name, no credential
	jwtToken    = "urn:ietf:params:oauth:token-type:jwt"          //nolint:gosec // a name, no credential
)

type MintedBody struct {
	Token     string         `json:"token" doc:"The token; it is shown this once"`
	ID        hodl.TokenID   `json:"jti" doc:"The token's id"`
	ExpiresAt time.Time      `json:"expires_at" doc:"When it ends (RFC 3339, UTC)"`
	Audience  string         `json:"audience" doc:"Who it is for"`
	Scopes    []hodl.Scope   `json:"scopes" doc:"What it may do"`
	Session   hodl.SessionID `json:"session_id" doc:"The session it opens"`
	Mode      hodl.Mode      `json:"mode" enum:"live,sandbox" doc:"Live or sandbox data"`
}

func mintedOf(t *resume.Minted) MintedBody {
	return MintedBody{t.Signed, t.ID, t.ExpiresAt, t.Audience, t.Scopes, t.Session, t.Mode}
}

// exchangeForm is RFC 8693 §2.1. What else it names is ignored, but for an actor:
// that is the audience of the token itself.
type exchangeForm struct {
	_           struct{} `additionalProperties:"true"`
	GrantType   string   `json:"grant_type" enum:"urn:ietf:params:oauth:grant-type:token-exchange" doc:"Always urn:ietf:params:oauth:grant-type:token-exchange"`
	Subject     string   `json:"subject_token" doc:"The resume token; may stand in Authorization as well"`
	SubjectType string   `json:"subject_token_type" enum:"urn:ietf:params:oauth:token-type:access_token,urn:ietf:params:oauth:token-type:jwt" doc:"What it is"`
	Audience    string   `json:"audience" doc:"Who the new token is for"`
	Scope       string   `json:"scope,omitempty" doc:"What it may do, separated by spaces; when absent all the token may but read:redacted and session:hand_off"`
	Requested   string   `json:"requested_token_type,omitempty" enum:"urn:ietf:params:oauth:token-type:access_token,urn:ietf:params:oauth:token-type:jwt" doc:"What is wanted; a resume token is both"`
}

// exchangedBody is RFC 8693 §2.2.1.
type exchangedBody struct {
	Token      string `json:"access_token" doc:"The token; it is shown this once"`
	IssuedType string `json:"issued_token_type" doc:"As it was asked for"`
	Type       string `json:"token_type" enum:"Bearer,DPoP" doc:"DPoP when it is bound to the key of its audience"`
	ExpiresIn  int    `json:"expires_in" doc:"Lifetime in seconds"`
	Scope      string `json:"scope" doc:"What it may do, separated by spaces"`
}

type ExchangeInput struct {
	FormOrJSON
	Audience string `header:"Hodl-Audience" doc:"Who the caller is; must be the token's audience when given"`
	Proof    string `header:"DPoP" doc:"Proof of possession (RFC 9449), for a token that is bound to a key"`
}

func (*ExchangeInput) bodies() (asJSON, asForm reflect.Type) {
	return reflect.TypeFor[hodl.ExchangeDraft](), reflect.TypeFor[exchangeForm]()
}

// exchanged is the answer in the words of the request: a form's or JSON's.
type exchanged struct{ value any }

// MarshalJSON writes the one it is.
func (e exchanged) MarshalJSON() ([]byte, error) { return json.Marshal(e.value) }

// Schema is asked by huma for the OpenAPI document.
func (exchanged) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{
		r.Schema(reflect.TypeFor[MintedBody](), true, ""), r.Schema(reflect.TypeFor[exchangedBody](), true, ""),
	}}
}

func (s *server) tokenExchange(ctx context.Context, in *ExchangeInput) (*struct{ Body exchanged }, error) {
	token, _ := ctx.Value(tokenKey).(string)
	var d hodl.ExchangeDraft
	var f exchangeForm
	var err error
	if in.isForm() {
		d, f, err = in.readForm()
		token, err = subjectOf(token, f.Subject, err)
	} else if err = in.decode(&d); d.Scopes == nil {
		d.Scopes = []hodl.Scope{} // only a form may leave them open
	}
	if err != nil {
		return nil, err
	}
	return answer(ctx, func(t *resume.Minted) *struct{ Body exchanged } {
		if !in.isForm() {
			return &struct{ Body exchanged }{exchanged{mintedOf(t)}}
		}
		return &struct{ Body exchanged }{exchanged{exchangedBody{
			Token: t.Signed, IssuedType: f.Requested, Type: t.Type, Scope: joinScopes(t.Scopes),
			ExpiresIn: int(math.Floor(t.ExpiresAt.Sub(t.IssuedAt).Seconds())),
		}}}
	})(s.Resume.Exchange(ctx, resume.Call{Token: token, Audience: in.Audience, Surface: resume.REST, Presentation: requestOf(ctx).how, Detail: detail(ctx)}, d))
}

// subjectOf is the token of a form: in its body, or in the header, and when in both
// the same.
func subjectOf(header, body string, err error) (string, error) {
	switch {
	case err != nil:
		return "", err
	case body == "":
		return "", hodl.Invalid("subject_token", "is required")
	case header != "" && header != body:
		return "", hodl.Invalid("subject_token", "is not the token in Authorization; send one of them, or the same in both")
	}
	return body, nil
}

// readForm checks what is RFC 8693's in a form and returns what is asked for.
func (in *ExchangeInput) readForm() (d hodl.ExchangeDraft, f exchangeForm, err error) {
	var actor, resource string
	err = in.form(map[string]*string{
		"grant_type": &f.GrantType, "subject_token": &f.Subject, "subject_token_type": &f.SubjectType, "audience": &f.Audience,
		"scope": &f.Scope, "requested_token_type": &f.Requested, "actor_token": &actor, "resource": &resource,
	})
	if err != nil {
		return d, f, err
	}
	var fields []hodl.FieldError
	wants := func(name, got string, allowed ...string) {
		if !slices.Contains(allowed, got) {
			fields = append(fields, hodl.FieldError{Path: name, Message: "must be " + strings.Join(allowed, " or ")})
		}
	}
	if f.Requested == "" {
		f.Requested = accessToken
	}
	wants("grant_type", f.GrantType, grantType)
	wants("subject_token_type", f.SubjectType, accessToken, jwtToken)
	wants("requested_token_type", f.Requested, accessToken, jwtToken)
	if actor != "" {
		fields = append(fields, hodl.FieldError{Path: "actor_token", Message: "is not taken: the actor is the audience of the subject token"})
	}
	if resource != "" {
		fields = append(fields, hodl.FieldError{Path: "resource", Message: "is not taken; name the audience"})
	}
	if len(fields) > 0 {
		return d, f, hodl.InvalidFields(fields...)
	}
	d.Audience = f.Audience
	for part := range strings.FieldsSeq(f.Scope) {
		d.Scopes = append(d.Scopes, hodl.Scope(part))
	}
	return d, f, nil
}

func joinScopes(scopes []hodl.Scope) string {
	parts := make([]string, len(scopes))
	for i, s := range scopes {
		parts[i] = string(s)
	}
	return strings.Join(parts, " ")
}

type introspectRequest struct {
	Token string `json:"token" doc:"The resume token to look into"`
}

// introspectForm is RFC 7662 §2.1. What else it names is ignored (RFC 6749 §3.2).
type introspectForm struct {
	_     struct{} `additionalProperties:"true"`
	Token string   `json:"token" doc:"The resume token to look into"`
}

type IntrospectInput struct {
	FormOrJSON
	Proof string `header:"DPoP" doc:"Proof of possession (RFC 9449), when an agent asks about its own token: then that stands in Authorization as DPoP"`
}

func (*IntrospectInput) bodies() (asJSON, asForm reflect.Type) {
	return reflect.TypeFor[introspectRequest](), reflect.TypeFor[introspectForm]()
}

// introspection is RFC 7662 §2.2, with the claims of a resume token. Of a token that
// is not active nothing is told but that.
type introspection struct {
	Active    bool             `json:"active" doc:"Whether the token can be used now, and the caller may know"`
	Scope     string           `json:"scope,omitempty" doc:"What it may do, separated by spaces"`
	Type      string           `json:"token_type,omitempty" enum:"Bearer,DPoP" doc:"DPoP when it is bound to the key of its audience"`
	Issuer    string           `json:"iss,omitempty" doc:"The server that minted it"`
	Subject   string           `json:"sub,omitempty" doc:"Whose session it is: workspace and user"`
	Audience  string           `json:"aud,omitempty" doc:"Who it is for"`
	ID        hodl.TokenID     `json:"jti,omitempty" doc:"The token's id"`
	IssuedAt  int64            `json:"iat,omitzero" doc:"When it was minted (Unix seconds)"`
	NotBefore int64            `json:"nbf,omitzero" doc:"When it starts (Unix seconds)"`
	Expires   int64            `json:"exp,omitzero" doc:"When it ends (Unix seconds)"`
	Session   hodl.SessionID   `json:"session_id,omitempty" doc:"The session it opens"`
	Policy    string           `json:"redaction_policy,omitempty" doc:"The policy applied in addition to the workspace's"`
	Max       int              `json:"max_hydrations,omitzero" doc:"How many hydrations it is good for"`
	Left      *int             `json:"hydrations_left,omitempty" doc:"How many are left to it"`
	Delegator string           `json:"delegator,omitempty" doc:"The person who handed off"`
	Mode      hodl.Mode        `json:"mode,omitempty" enum:"live,sandbox" doc:"Live or sandbox data"`
	Actor     *actorBody       `json:"act,omitempty" doc:"Who handed it on, the last first (RFC 8693 §4.1)"`
	Confirm   *hodl.Thumbprint `json:"cnf,omitempty" doc:"The key it is bound to (RFC 7800)"`
}

// actorBody is a link of the chain of those who handed a token on.
type actorBody struct {
	Subject string         `json:"sub" doc:"Its audience"`
	Actor   map[string]any `json:"act,omitempty" doc:"Who handed it on before"`
}

func (s *server) tokenIntrospect(ctx context.Context, in *IntrospectInput) (*struct{ Body introspection }, error) {
	var r introspectRequest
	err := error(nil)
	if in.isForm() {
		err = in.form(map[string]*string{"token": &r.Token})
	} else {
		err = in.decode(&r)
	}
	if err == nil && r.Token == "" {
		err = hodl.Invalid("token", "is required")
	}
	if err != nil {
		return nil, err
	}
	found, err := s.introspect(ctx, r.Token)
	if err != nil || found == nil {
		return &struct{ Body introspection }{}, err
	}
	return &struct{ Body introspection }{introspectionOf(found)}, nil
}

// introspect asks for a key, or for an agent that proves possession of the key its
// token is bound to.
func (s *server) introspect(ctx context.Context, token string) (*resume.Introspection, error) {
	how := requestOf(ctx).how
	if !how.DPoP {
		return s.Resume.Introspect(ctx, caller(ctx), token)
	}
	if own, _ := ctx.Value(tokenKey).(string); own != token {
		return nil, hodl.Invalid("token", "must be the one in Authorization; others are for an API key to ask about")
	}
	return s.Resume.IntrospectOwn(ctx, resume.Call{Token: token, Surface: resume.REST, Presentation: how, Detail: detail(ctx)})
}

func introspectionOf(x *resume.Introspection) introspection {
	c := x.Claims
	return introspection{
		Active: true, Scope: joinScopes(c.Scopes), Type: c.Type(), Issuer: c.Issuer, Subject: c.Subject, Audience: c.Audience, ID: c.ID,
		IssuedAt: c.IssuedAt, NotBefore: c.NotBefore, Expires: c.Expires, Session: c.Session, Policy: c.RedactionPolicy,
		Max: c.MaxHydrations, Left: &x.Left, Delegator: c.Delegator, Mode: c.Mode, Actor: actorOf(c.Actor), Confirm: c.Confirm,
	}
}

func actorOf(a *hodl.Actor) *actorBody {
	if a == nil {
		return nil
	}
	return &actorBody{a.Subject, earlier(a.Actor)}
}

// earlier is the rest of a chain as plain JSON: a schema that refers to itself is
// more than some readers of the document bear.
func earlier(a *hodl.Actor) map[string]any {
	if a == nil {
		return nil
	}
	out := map[string]any{"sub": a.Subject}
	if before := earlier(a.Actor); before != nil {
		out["act"] = before
	}
	return out
}

type revokeAllReply struct {
	Body struct {
		Revoked   bool             `json:"revoked" doc:"Always true"`
		Session   hodl.SessionID   `json:"session_id,omitempty" doc:"The session whose tokens ended"`
		Key       hodl.KeyID       `json:"api_key_id,omitempty" doc:"The key whose tokens ended"`
		User      hodl.UserID      `json:"user_id,omitempty" doc:"The user whose tokens ended"`
		Workspace hodl.WorkspaceID `json:"workspace_id,omitempty" doc:"The workspace whose tokens ended"`
		RevokedAt time.Time        `json:"revoked_at" doc:"Tokens minted before are ended (RFC 3339, UTC)"`
		Reason    *string          `json:"reason" doc:"Why; null when none was given"`
	}
}

type RevokeAllBody struct {
	Session hodl.SessionID `json:"session_id,omitempty" doc:"All tokens of this session"`
	Key     hodl.KeyID     `json:"api_key_id,omitempty" doc:"All tokens this API key minted"`
	User    hodl.UserID    `json:"user_id,omitempty" doc:"All tokens of this user; others than oneself for admins only"`
	All     bool           `json:"all,omitempty" doc:"All tokens of the workspace; for admins only"`
	Reason  string         `json:"reason,omitempty" doc:"Why, for the record; at most 1 KiB"`
}

// revocation is the one subject a request names.
func (b *RevokeAllBody) revocation(ws hodl.WorkspaceID) (hodl.Revocation, error) {
	var named []hodl.Revocation
	for kind, subject := range map[hodl.RevocationKind]string{hodl.OfSession: string(b.Session), hodl.OfKey: string(b.Key), hodl.OfUser: string(b.User)} {
		if subject != "" {
			named = append(named, hodl.Revocation{Kind: kind, Subject: subject, Reason: b.Reason})
		}
	}
	if b.All {
		named = append(named, hodl.Revocation{Kind: hodl.OfWorkspace, Subject: string(ws), Reason: b.Reason})
	}
	if len(named) != 1 {
		return hodl.Revocation{}, hodl.Invalid("session_id", "or api_key_id, user_id or all must say whose tokens; name one of them, not "+strconv.Itoa(len(named)))
	}
	return named[0], nil
}

func (s *server) tokensRevoke(ctx context.Context, in *struct{ Body RevokeAllBody }) (*revokeAllReply, error) {
	c := caller(ctx)
	v, err := in.Body.revocation(c.Workspace)
	if err != nil {
		return nil, err
	}
	return answer(ctx, func(rec *hodl.Record) *revokeAllReply {
		out := &revokeAllReply{}
		b := &out.Body
		b.Revoked, b.RevokedAt, b.Reason = true, rec.At, orNull(v.Reason)
		b.Session, b.Key, b.User = in.Body.Session, in.Body.Key, in.Body.User
		if in.Body.All {
			b.Workspace = c.Workspace
		}
		return out
	})(s.Resume.RevokeAll(ctx, c, v))
}
