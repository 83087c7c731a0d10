package store

import (
	"context"
	"time"

	"hodl"
)

// An Admission is what decides whether a token may be used: the rows as they
// stand. Token and Session are nil when there is no such row.
type Admission struct {
	Token   *hodl.Token
	Session *SessionState
	Plan    hodl.PlanName
	Used    int64 // hydrations of the workspace this month, in the token's mode
}

// SessionState is where a session stands, without its content.
type SessionState struct {
	User        hodl.UserID
	State       hodl.State
	Fingerprint string
	CapturedAt  time.Time
}

func (x *sessionRow) standing() *SessionState {
	if x == nil {
		return nil
	}
	return &SessionState{x.member, x.state, x.fingerprint, x.capturedAt}
}

// A TokenUse names the rows a use of a resume token is decided on.
type TokenUse struct {
	Workspace hodl.WorkspaceID
	Mode      hodl.Mode
	Token     hodl.TokenID
	Session   hodl.SessionID
	At        time.Time
}

func (u TokenUse) partition() partition { return partition{u.Workspace, u.Mode} }

// Admission reads what decides on a use, without a lock: good enough to refuse
// early, never to admit.
func (s *Store) Admission(ctx context.Context, u TokenUse) (Admission, error) {
	a := Admission{}
	err := s.view(ctx, u.Workspace, func(q querier) error {
		p := u.partition()
		token, err := scanTokenRow(tokenKey{p, u.Token}, q.QueryRowContext(ctx, sqliteLoadToken, u.Workspace, u.Mode, u.Token))
		if ok, err := found(err); err != nil {
			return err
		} else if ok {
			a.Token = &token.Token
		}
		session, err := scanSessionRow(q.QueryRowContext(ctx, sqliteLoadSession, u.Workspace, u.Mode, u.Session))
		if ok, err := found(err); err != nil {
			return err
		} else if ok {
			a.Session = session.standing()
		}
		if _, err := found(q.QueryRowContext(ctx, sqliteLoadUsage, u.Workspace, u.Mode, hodl.Month(u.At)).Scan(&a.Used)); err != nil {
			return err
		}
		_, err = found(q.QueryRowContext(ctx, `select plan from workspaces where workspace = $1`, u.Workspace).Scan(&a.Plan))
		return err
	})
	return a, err
}

// Hydrate takes one use of a token: it counts it against the token and the month,
// appends the record, announces the first use and moves the session, all in one
// durable commit. admit decides on the locked rows; what it returns is what
// Hydrate returns, and then nothing has changed.
func (s *Store) Hydrate(ctx context.Context, u TokenUse, admit func(Admission) error, rec *hodl.Record, d hodl.RecordDetail) error {
	prepared, err := prepare(rec, d)
	if err != nil {
		return err
	}
	event := hodl.EventID(s.ids.New("evt", u.At))
	p := u.partition()
	var tk tokenKey
	var sk sessionKey
	var uk usageKey
	month := hodl.Month(u.At)
	return s.writer.do(ctx, &write{
		need: func(r *rows) {
			r.wantLog(p)
			tk, sk, uk = r.wantToken(p, u.Token), r.wantSession(p, u.Session), r.wantUsage(p, month)
		},
		decide: func(r *rows) error {
			log, err := r.log(p)
			if err != nil {
				return err
			}
			token, session, usage := r.tokens[tk], r.sessions[sk], r.usage[uk]
			if err := admit(admission(log, token, session, usage)); err != nil {
				return err
			}
			if token == nil || session == nil {
				return hodl.Errorf(hodl.NotFound, "no session %s", u.Session)
			}
			if token.Hydrations == 0 {
				r.handOff(u, session, event)
			}
			if usage == nil {
				usage = &usageRow{fresh: true}
				r.usage[uk] = usage
			}
			token.Hydrations++
			usage.hydrations++
			token.dirty, usage.dirty = true, true
			r.append(p, prepared)
			return nil
		},
	})
}

func admission(log *logRow, token *tokenRow, session *sessionRow, usage *usageRow) Admission {
	a := Admission{Session: session.standing(), Plan: log.plan}
	if token != nil {
		a.Token = &token.Token
	}
	if usage != nil {
		a.Used = usage.hydrations
	}
	return a
}

// handOff moves the session at the first hydration of a token.
func (r *rows) handOff(u TokenUse, session *sessionRow, id hodl.EventID) {
	next, event, err := session.state.After(hodl.OpHandOff)
	if err != nil {
		return // an archived session was not admitted
	}
	session.state, session.updatedAt, session.dirty = next, u.At, true
	r.announce(hodl.Event{ID: id, Type: event, Workspace: u.Workspace, Mode: u.Mode, Session: u.Session, Token: u.Token, At: u.At})
}

// Append writes a record that changes nothing else, such as a denial.
func (s *Store) Append(ctx context.Context, rec *hodl.Record, d hodl.RecordDetail) error {
	prepared, err := prepare(rec, d)
	if err != nil {
		return err
	}
	p := partition{rec.Workspace, rec.Mode}
	return s.writer.do(ctx, &write{
		need: func(r *rows) { r.wantLog(p) },
		decide: func(r *rows) error {
			if _, err := r.log(p); err != nil {
				return err
			}
			r.append(p, prepared)
			return nil
		},
	})
}
