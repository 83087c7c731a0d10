package store

import (
	"context"
	"time"

	"hodl"
)

// An Admission is what decides whether a token may be used: the rows as they
// stand. Token and Session are nil when there is no such row.
type Admission struct {
	Token    *hodl.Token
	Lineage  []*hodl.Token // its ancestors, from the first minted to its parent
	Session  *SessionState
	Plan     hodl.PlanName
	Used     int64 // hydrations of the workspace this month, in the token's mode
	Hourly   int   // the workspace's cap of hydrations of a session in an hour; 0 for none
	ThisHour int   // those of the session in the hour of the use
	Receipts bool  // whether tokens of the workspace get receipts
}

// SessionState is where a session stands, without its content.
type SessionState struct {
	User        hodl.UserID
	State       hodl.State
	Fingerprint string
	CapturedAt  time.Time
	Policy      PolicyState // of an [Admission]: what a hydration is redacted by
}

func (x *sessionRow) standing() *SessionState {
	if x == nil {
		return nil
	}
	return &SessionState{User: x.member, State: x.state, Fingerprint: x.fingerprint, CapturedAt: x.capturedAt}
}

// A TokenUse names the rows a use of a resume token is decided on. One without a
// token is of an API key: it is counted against the session in the token's place.
type TokenUse struct {
	Workspace hodl.WorkspaceID
	Mode      hodl.Mode
	Token     hodl.TokenID
	Session   hodl.SessionID
	Delegated bool // the token was exchanged for another: its ancestors count
	At        time.Time
	Proof     *Proof // nil when the token needs none
	Place     *Place // is told where the record is; nil when nobody wants to know
}

func (u TokenUse) partition() partition { return partition{u.Workspace, u.Mode} }

// lane is the log the use is of, unless it touches more than that log, its token, its
// session and its month.
func (u TokenUse) lane() *partition {
	if u.Delegated || u.Proof != nil {
		return nil
	}
	p := u.partition()
	return &p
}

// Admission reads what decides on a use, without a lock: good enough to tell, never to
// admit.
func (s *Store) Admission(ctx context.Context, u TokenUse) (Admission, error) {
	return u.admission(ctx, s.view)
}

// Prospect is the admission as it was a moment ago, when something was only promised
// since: good enough to refuse early.
func (s *Store) Prospect(ctx context.Context, u TokenUse) (Admission, error) {
	return u.admission(ctx, s.glance)
}

func (u TokenUse) admission(ctx context.Context, view func(context.Context, hodl.WorkspaceID, func(querier) error) error) (Admission, error) {
	r := newRows()
	err := view(ctx, u.Workspace, func(q querier) error {
		if err := u.seen(ctx, q); err != nil {
			return err
		}
		return r.read(ctx, q, u)
	})
	if err != nil {
		return Admission{}, err
	}
	return r.admission(u), nil
}

// read takes, without a lock, the rows that decide on a use.
func (r *rows) read(ctx context.Context, q querier, u TokenUse) error {
	p := u.partition()
	for _, x := range []struct {
		take  func(scanner) error
		query string
		args  []any
	}{
		{r.takeLog, sqliteLogs.one(), []any{u.Workspace, u.Mode}},
		{r.takeToken, sqliteTokens.one(), []any{u.Workspace, u.Mode, u.Token}}, // none, of a key
		{r.takeSession, sqliteSessions.one(), []any{u.Workspace, u.Mode, u.Session}},
		{r.takeUsage, sqliteUsage.one(), []any{u.Workspace, u.Mode, hodl.Month(u.At)}},
	} {
		if err := takeAll(ctx, q, x.take, x.query, x.args...); err != nil {
			return err
		}
	}
	return r.follow(ctx, q, r.tokens[tokenKey{p, u.Token}])
}

// Hydrate takes one use of a token: it counts it against the token and the month,
// appends the record, announces the first use and moves the session, all in one
// durable commit. admit decides on the locked rows; what it returns is what
// Hydrate returns, and then nothing has changed. rec gets its place in the log.
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
	var at Place
	err = s.writer.do(ctx, &write{
		lane: u.lane(),
		need: func(r *rows) {
			r.wantLog(p)
			r.wantProof(p, u.Proof)
			sk, uk = r.wantSession(p, u.Session), r.wantUsage(p, month)
			if u.Token != "" {
				tk = r.wantToken(p, u.Token)
			}
			if u.Delegated {
				r.wantLineage(tk)
			}
		},
		decide: func(r *rows) error {
			log, err := r.log(p)
			if err != nil {
				return err
			}
			if err := r.unspent(p, u.Proof); err != nil {
				return err
			}
			token, session, usage := r.tokens[tk], r.sessions[sk], r.usage[uk]
			if err := admit(r.admission(u)); err != nil {
				return err
			}
			if token == nil && u.Token != "" || session == nil {
				return hodl.Errorf(hodl.NotFound, "no session %s", u.Session)
			}
			if token == nil || token.Hydrations == 0 {
				r.handOff(u, session, event)
			}
			if usage == nil {
				usage = &usageRow{mark: mark{fresh: true}}
				r.usage[uk] = usage
			}
			if log.limits.Hourly > 0 {
				session.count(u.At)
			}
			if token != nil {
				r.draw(token)
			} else {
				session.byKey++
				session.dirty = true
			}
			usage.hydrations++
			usage.dirty = true
			r.spend(p, u.Proof, u.At)
			at = s.place(r, p, prepared)
			return nil
		},
	})
	if err == nil {
		u.take(at, rec)
	}
	return err
}

// Read notes a use that takes nothing: what is read belongs to a hydration that was
// counted, or is nothing. admit decides as it does for [Store.Hydrate].
func (s *Store) Read(ctx context.Context, u TokenUse, admit func(Admission) error, rec *hodl.Record, d hodl.RecordDetail) error {
	prepared, err := prepare(rec, d)
	if err != nil {
		return err
	}
	p := u.partition()
	var at Place
	err = s.writer.do(ctx, &write{
		lane: u.lane(),
		need: func(r *rows) {
			r.wantLog(p)
			r.wantProof(p, u.Proof)
			r.wantSession(p, u.Session)
			if u.Token != "" {
				tk := r.wantToken(p, u.Token)
				if u.Delegated {
					r.wantLineage(tk)
				}
			}
		},
		decide: func(r *rows) error {
			if _, err := r.log(p); err != nil {
				return err
			}
			if err := r.unspent(p, u.Proof); err != nil {
				return err
			}
			if err := admit(r.admission(u)); err != nil {
				return err
			}
			r.spend(p, u.Proof, u.At)
			at = s.place(r, p, prepared)
			return nil
		},
	})
	if err == nil {
		u.take(at, rec)
	}
	return err
}

// admission is what the rows say of a use.
func (r *rows) admission(u TokenUse) Admission {
	p := u.partition()
	a := Admission{}
	if log := r.logs[p]; log != nil {
		a.Plan, a.Hourly, a.Receipts = log.plan, log.limits.Hourly, log.receipts
	}
	if token := r.tokens[tokenKey{p, u.Token}]; token != nil {
		a.Token, a.Lineage = &token.Token, r.lineage(token)
	}
	if session := r.sessions[sessionKey{p, u.Session}]; session != nil {
		a.Session, a.ThisHour = session.standing(), session.countIn(u.At)
		if log := r.logs[p]; log != nil {
			a.Session.Policy = log.policy
		}
	}
	if usage := r.usage[usageKey{p, hodl.Month(u.At)}]; usage != nil {
		a.Used = usage.hydrations
	}
	return a
}

// countIn returns the hydrations counted in the hour of at, and count adds one.
func (x *sessionRow) countIn(at time.Time) int {
	if !x.hour.Equal(at.Truncate(time.Hour)) {
		return 0
	}
	return x.hydrations
}

func (x *sessionRow) count(at time.Time) {
	x.hydrations = x.countIn(at) + 1
	x.hour, x.dirty = at.Truncate(time.Hour), true
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
		lane: &p,
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
