package store

import (
	"context"
	"database/sql"

	"hodl"
)

const tokenColumns = `id, session, member, api_key, audience, scopes, redaction_policy, max_hydrations, hydrations, issued_at, expires_at, revoked_at, revoke_reason`

func scanToken(ws hodl.WorkspaceID, m hodl.Mode, row scanner) (*hodl.Token, error) {
	t := &hodl.Token{Workspace: ws, Mode: m}
	var scopes string
	var issued, expires, revoked int64
	err := row.Scan(&t.ID, &t.Session, &t.User, &t.Key, &t.Audience, &scopes, &t.RedactionPolicy, &t.MaxHydrations, &t.Hydrations, &issued, &expires, &revoked, &t.RevokeReason)
	t.Scopes, t.IssuedAt, t.ExpiresAt, t.RevokedAt = splitScopes(scopes), timeOf(issued), timeOf(expires), timeOf(revoked)
	return t, err
}

// Mint keeps what the server must know of a token, before the token is shown. It
// refuses with [hodl.NotFound] when the session is not the user's and with
// [hodl.InvalidTransition] when it is archived.
func (s *Store) Mint(ctx context.Context, t hodl.Token, rec *hodl.Record, d hodl.RecordDetail) error {
	prepared, err := prepare(rec, d)
	if err != nil {
		return err
	}
	p := partition{t.Workspace, t.Mode}
	event := hodl.EventID(s.ids.New("evt", t.IssuedAt))
	return s.writer.do(ctx, &write{
		need: func(r *rows) { r.wantLog(p); r.wantSession(p, t.Session); r.wantToken(p, t.ID) },
		decide: func(r *rows) error {
			if _, err := r.log(p); err != nil {
				return err
			}
			row := r.sessions[sessionKey{p, t.Session}]
			if row == nil || row.member != t.User {
				return missing(sql.ErrNoRows, "session", t.Session)
			}
			if r.tokens[tokenKey{p, t.ID}] != nil {
				return hodl.Errorf(hodl.Conflict, "the token %s is already there", t.ID)
			}
			_, kind, err := row.state.After(hodl.OpShare)
			if err != nil {
				return err
			}
			r.tokens[tokenKey{p, t.ID}] = &tokenRow{Token: t, fresh: true, dirty: true}
			r.append(p, prepared)
			r.announce(hodl.Event{ID: event, Type: kind, Workspace: t.Workspace, Mode: t.Mode, Session: t.Session, Token: t.ID, At: t.IssuedAt})
			return nil
		},
	})
}

// Revoke ends a token at once, on every server. A token already revoked keeps its
// reason, and the call leaves no second record.
func (s *Store) Revoke(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, id hodl.TokenID, reason string, rec *hodl.Record, d hodl.RecordDetail) error {
	prepared, err := prepare(rec, d)
	if err != nil {
		return err
	}
	p := partition{ws, m}
	return s.writer.do(ctx, &write{
		need: func(r *rows) { r.wantLog(p); r.wantToken(p, id) },
		decide: func(r *rows) error {
			row := r.tokens[tokenKey{p, id}]
			if row == nil || row.User != user {
				return missing(sql.ErrNoRows, "resume token", id)
			}
			if !row.RevokedAt.IsZero() {
				return nil
			}
			row.RevokedAt, row.RevokeReason, row.dirty = rec.At, reason, true
			r.append(p, prepared)
			return nil
		},
	})
}

// Token returns what the server keeps of a token of user.
func (s *Store) Token(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, id hodl.TokenID) (*hodl.Token, error) {
	var out *hodl.Token
	err := s.view(ctx, ws, func(q querier) (err error) {
		out, err = scanToken(ws, m, q.QueryRowContext(ctx, `select `+tokenColumns+` from tokens
			where workspace = $1 and mode = $2 and id = $3 and member = $4`, ws, m, id, user))
		return err
	})
	return out, missing(err, "resume token", id)
}

// Tokens lists the tokens of user, newest first, of one session if session is not
// empty.
func (s *Store) Tokens(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, session hodl.SessionID, p Page) ([]*hodl.Token, error) {
	before := p.BeforeID
	if before == "" {
		before = "rt_z" // sorts after every id the server makes, in any collation
	}
	var out []*hodl.Token
	err := s.view(ctx, ws, func(q querier) (err error) {
		out, err = rowsOf(ctx, q, func(row *sql.Rows) (*hodl.Token, error) { return scanToken(ws, m, row) },
			`select `+tokenColumns+` from tokens where workspace = $1 and mode = $2 and member = $3 and ($4 = '' or session = $4) and id < $5
			and issued_at >= $6 order by id desc limit $7`, ws, m, user, session, before, micros(p.Since), p.Limit)
		return err
	})
	return out, err
}
