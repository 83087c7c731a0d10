package store

import (
	"context"
	"database/sql"

	"hodl"
)

const tokenColumns = `id, session, member, api_key, audience, scopes, redaction_policy, max_hydrations, hydrations, issued_at, expires_at, revoked_at, revoke_reason, drawn, seq, ancestors, link,
	(select count(*) from tokens c where c.workspace = t.workspace and c.mode = t.mode and c.parent = t.id and c.parent <> '')`

func scanToken(ws hodl.WorkspaceID, m hodl.Mode, row scanner) (*tokenRow, error) {
	t := &tokenRow{Token: hodl.Token{Workspace: ws, Mode: m}}
	var scopes, ancestors string
	var issued, expires, revoked int64
	err := row.Scan(&t.ID, &t.Session, &t.User, &t.Key, &t.Audience, &scopes, &t.RedactionPolicy, &t.MaxHydrations, &t.Hydrations, &issued, &expires, &revoked, &t.RevokeReason,
		&t.Drawn, &t.seq, &ancestors, &t.Link, &t.Children)
	t.Scopes, t.IssuedAt, t.ExpiresAt, t.RevokedAt = splitScopes(scopes), timeOf(issued), timeOf(expires), timeOf(revoked)
	t.descend(splitIDs(ancestors))
	return t, err
}

// Mint keeps what the server must know of a token, before the token is shown. It
// refuses with [hodl.NotFound] when the session is not the user's and with
// [hodl.InvalidTransition] when it is archived, and as [Beyond] when the workspace
// allows less.
func (s *Store) Mint(ctx context.Context, t hodl.Token, rec *hodl.Record, d hodl.RecordDetail) error {
	prepared, err := prepare(rec, d)
	if err != nil {
		return err
	}
	p := partition{t.Workspace, t.Mode}
	event := hodl.EventID(s.ids.New("evt", t.IssuedAt))
	return s.write(ctx, &write{
		need:   func(r *rows) { r.wantLog(p); r.wantSession(p, t.Session); r.wantToken(p, t.ID) },
		decide: func(r *rows) error { return r.mint(t, prepared, event) },
	})
}

// mint adds a token, its record and its event.
func (r *rows) mint(t hodl.Token, rec *preparedRecord, event hodl.EventID) error {
	p := partition{t.Workspace, t.Mode}
	log, err := r.log(p)
	if err != nil {
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
	if err := log.limits.Allow(&t); err != nil {
		return &Beyond{log.limits, err}
	}
	r.tokens[tokenKey{p, t.ID}] = &tokenRow{Token: t, seq: r.append(p, rec), mark: mark{fresh: true, dirty: true}}
	r.announce(hodl.Event{ID: event, Type: kind, Workspace: t.Workspace, Mode: t.Mode, Session: t.Session, Token: t.ID, At: t.IssuedAt})
	return nil
}

// Beyond refuses a token that goes further than the workspace lets it, and tells
// how far that is.
type Beyond struct {
	Limits hodl.TokenLimits
	err    error
}

func (e *Beyond) Error() string { return e.err.Error() }
func (e *Beyond) Unwrap() error { return e.err }

// Revoke ends a token at once, on every server. A token already revoked keeps its
// reason, and the call leaves no second record.
func (s *Store) Revoke(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, id hodl.TokenID, reason string, rec *hodl.Record, d hodl.RecordDetail) error {
	prepared, err := prepare(rec, d)
	if err != nil {
		return err
	}
	p := partition{ws, m}
	return s.write(ctx, &write{
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
	list, err := s.listTokens(ctx, partition{ws, m}, `member = $3 and id = $4`, user, id)
	if err == nil && len(list) == 0 {
		err = missing(sql.ErrNoRows, "resume token", id)
	}
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// Tokens lists the tokens of user, newest first, of one session if session is not
// empty.
func (s *Store) Tokens(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, session hodl.SessionID, p Page) ([]*hodl.Token, error) {
	before := p.BeforeID
	if before == "" {
		before = "rt_z" // sorts after every id the server makes, in any collation
	}
	return s.listTokens(ctx, partition{ws, m}, `member = $3 and ($4 = '' or session = $4) and id < $5 and issued_at >= $6 order by id desc limit $7`,
		user, session, before, micros(p.Since), p.Limit)
}

// listTokens reads the tokens that where picks, each with what its ancestors and
// the revocations of many make of it.
func (s *Store) listTokens(ctx context.Context, p partition, where string, args ...any) ([]*hodl.Token, error) {
	r := newRows()
	var out []*hodl.Token
	err := s.view(ctx, p.ws, func(q querier) error {
		if err := takeAll(ctx, q, r.takeLog, sqliteLogs.one(), p.ws, p.mode); err != nil {
			return err
		}
		list, err := rowsOf(ctx, q, func(row *sql.Rows) (*tokenRow, error) { return scanToken(p.ws, p.mode, row) },
			`select `+tokenColumns+` from tokens t where workspace = $1 and mode = $2 and `+where, append([]any{p.ws, p.mode}, args...)...)
		if err != nil {
			return err
		}
		if err := r.follow(ctx, q, list...); err != nil {
			return err
		}
		for _, x := range list {
			r.resolve(x)
			out = append(out, &x.Token)
		}
		return nil
	})
	return out, err
}
