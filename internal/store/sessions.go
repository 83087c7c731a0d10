package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/go-json-experiment/json"

	"hodl"
)

// A SessionWrite is a new version of a session and what the session becomes by it.
type SessionWrite struct {
	Workspace   hodl.WorkspaceID
	Mode        hodl.Mode
	User        hodl.UserID
	ID          hodl.SessionID
	Op          hodl.Operation
	Expect      string // the version it was made from; "" when the session must not exist yet
	Body        VersionBody
	Fingerprint string
	At          time.Time
	Author      string

	Token  hodl.TokenID          // of a typed write by an agent, with
	Admit  func(Admission) error // what decides on it
	Proof  *Proof                // what it was proved with; nil when the token needs none
	Record *hodl.Record          // its access record, if it leaves one
	Detail hodl.RecordDetail
}

// A VersionBody is what is sealed of a version: the content and the session's
// salt, which never leaves the server.
type VersionBody struct {
	Salt     []byte              `json:"salt"`
	LastNote int64               `json:"last_note"`         // the highest number a note of the session ever had
	Numbers  map[string][]uint64 `json:"numbers,omitempty"` // of placeholders in versions before; see redact.Numbers
	Content  hodl.Content        `json:"content"`
}

// head is what a list shows of a session, sealed apart from the body so that
// listing does not open every body.
type head struct {
	Title   string   `json:"title"`
	Summary string   `json:"summary"`
	Tags    []string `json:"ai_tags"`
}

const (
	purposeSession   = "session"
	purposeHead      = "session-head"
	purposeSelection = "selection"
)

func objectOf(m hodl.Mode, parts ...string) string {
	s := string(m)
	for _, p := range parts {
		s += "/" + p
	}
	return s
}

// sealedWrite is a SessionWrite with its content sealed and its record encoded, so
// that the writer has no more to do than to save it.
type sealedWrite struct {
	SessionWrite
	head, body []byte
	event      hodl.EventID
	record     *preparedRecord
}

func (s *Store) seal(ctx context.Context, w SessionWrite) (*sealedWrite, error) {
	x := &sealedWrite{SessionWrite: w, event: hodl.EventID(s.ids.New("evt", w.At))}
	body, err := json.Marshal(w.Body)
	if err == nil {
		x.body, err = s.ring.Seal(ctx, w.Workspace, purposeSession, objectOf(w.Mode, string(w.ID), w.Fingerprint), body)
	}
	if err != nil {
		return nil, wrap(err, "seal session")
	}
	c := &w.Body.Content
	top, err := json.Marshal(head{c.Title, c.Summary, c.Tags})
	if err == nil {
		x.head, err = s.ring.Seal(ctx, w.Workspace, purposeHead, objectOf(w.Mode, string(w.ID)), top)
	}
	if err == nil && w.Record != nil {
		x.record, err = prepare(w.Record, w.Detail)
	}
	return x, wrap(err, "seal session")
}

func (w *sealedWrite) seals() []dataKeyRef { return sealedWith(w.Workspace, w.head, w.body) }

func (w *sealedWrite) partition() partition { return partition{w.Workspace, w.Mode} }

func (w *sealedWrite) need(r *rows) {
	r.wantSession(w.partition(), w.ID)
	if w.usesLog() {
		r.wantLog(w.partition())
	}
	if w.Admit != nil {
		r.wantLineage(r.wantToken(w.partition(), w.Token))
		r.wantProof(w.partition(), w.Proof)
	}
}

// usesLog reports whether the log's head is needed: to append to it, or because
// whoever locks a token locks the head first.
func (w *sealedWrite) usesLog() bool { return w.record != nil || w.Admit != nil }

// check decides without changing anything.
func (w *sealedWrite) check(r *rows) error {
	row := r.sessions[sessionKey{w.partition(), w.ID}]
	if w.usesLog() {
		if _, err := r.log(w.partition()); err != nil {
			return err
		}
	}
	if w.Admit != nil {
		if err := r.unspent(w.partition(), w.Proof); err != nil {
			return err
		}
		u := TokenUse{Workspace: w.Workspace, Mode: w.Mode, Token: w.Token, Session: w.ID, At: w.At}
		if err := w.Admit(r.admission(u)); err != nil {
			return err
		}
	}
	switch {
	case row == nil && w.Expect == "":
		return nil
	case row == nil:
		return stale(w.ID)
	case row.member != w.User:
		return hodl.Errorf(hodl.Conflict, "the id %s is taken", w.ID).WithHint("choose another session_id, or leave it out and the server makes one")
	case row.state == hodl.Archived:
		_, _, err := row.state.After(w.Op)
		return err
	case row.fingerprint != w.Expect:
		return stale(w.ID)
	}
	return nil
}

func stale(id hodl.SessionID) error {
	return hodl.Errorf(hodl.Stale, "session %s has changed meanwhile", id).WithHint("read it again and repeat the change on the new version")
}

// apply changes the rows; check has passed.
func (w *sealedWrite) apply(r *rows) {
	k := sessionKey{w.partition(), w.ID}
	r.spend(w.partition(), w.Proof, w.At)
	row := r.sessions[k]
	if row == nil {
		row = &sessionRow{member: w.User, createdAt: w.At, mark: mark{fresh: true}}
		r.sessions[k] = row
	}
	changed := row.fingerprint != w.Fingerprint
	if !changed && w.Op == hodl.OpCapture {
		return // the same content again: nothing happened
	}
	next, event, err := row.state.After(w.Op)
	if err != nil {
		return // check refused it
	}
	row.state, row.updatedAt, row.dirty = next, w.At, true
	if changed {
		row.fingerprint, row.head = w.Fingerprint, w.head
		if w.Op != hodl.OpWrite {
			row.capturedAt = w.At // what an agent adds is no capture
		}
		r.versions = append(r.versions, versionRow{k, w.Fingerprint, w.At, w.Author, w.body})
	}
	if event != "" {
		r.announce(hodl.Event{ID: w.event, Type: event, Workspace: w.Workspace, Mode: w.Mode, Session: w.ID, At: w.At})
	}
	if w.record != nil {
		r.append(w.partition(), w.record)
	}
}

// PutSession saves a new version. It refuses with [hodl.Stale] when the session
// does not stand at w.Expect, [hodl.Conflict] when the id is another user's and
// [hodl.InvalidTransition] when it is archived.
func (s *Store) PutSession(ctx context.Context, w SessionWrite) error {
	return s.submit(ctx, func() (*write, error) {
		x, err := s.seal(ctx, w)
		if err != nil {
			return nil, err
		}
		return &write{need: x.need, seals: x.seals(), decide: func(r *rows) error {
			if err := x.check(r); err != nil {
				return err
			}
			x.apply(r)
			return nil
		}}, nil
	})
}

// A Transition moves a session without touching its content.
type Transition struct {
	Workspace hodl.WorkspaceID
	Mode      hodl.Mode
	User      hodl.UserID
	ID        hodl.SessionID
	Op        hodl.Operation
	Expect    string // the version it stands at; "" for any
	At        time.Time
	Record    *hodl.Record // if it leaves one
	Detail    hodl.RecordDetail
}

// MoveSession makes a transition. Archiving ends the session's tokens for good. One
// already in effect changes nothing and leaves no record.
func (s *Store) MoveSession(ctx context.Context, t Transition) error {
	return s.onSession(ctx, t, func(r *rows, k sessionKey, row *sessionRow) (bool, error) {
		next, event, err := row.state.After(t.Op)
		if err != nil || next == row.state {
			return false, err
		}
		row.state, row.updatedAt, row.dirty = next, t.At, true
		if t.Op == hodl.OpArchive {
			r.revoke(k, t.At, "session archived")
		}
		if event != "" {
			r.announce(hodl.Event{ID: hodl.EventID(s.ids.New("evt", t.At)), Type: event, Workspace: t.Workspace, Mode: t.Mode, Session: t.ID, At: t.At})
		}
		return true, nil
	})
}

// DeleteSession erases the content of a session, ends its tokens and detaches its
// hodls. Its access records stay.
func (s *Store) DeleteSession(ctx context.Context, t Transition) error {
	return s.onSession(ctx, t, func(r *rows, k sessionKey, _ *sessionRow) (bool, error) {
		r.revoke(k, t.At, "session deleted")
		r.erase(k)
		return true, nil
	})
}

// onSession lets act change a session of t.User, and appends the record if it did.
func (s *Store) onSession(ctx context.Context, t Transition, act func(*rows, sessionKey, *sessionRow) (bool, error)) error {
	var prepared *preparedRecord
	if t.Record != nil {
		var err error
		if prepared, err = prepare(t.Record, t.Detail); err != nil {
			return err
		}
	}
	p := partition{t.Workspace, t.Mode}
	k := sessionKey{p, t.ID}
	return s.write(ctx, &write{
		need: func(r *rows) { r.wantLog(p); r.wantSession(p, t.ID) },
		decide: func(r *rows) error {
			row := r.sessions[k]
			if row == nil || row.member != t.User {
				return missing(sql.ErrNoRows, "session", t.ID)
			}
			if t.Expect != "" && row.fingerprint != t.Expect {
				return stale(t.ID)
			}
			changed, err := act(r, k, row)
			if err == nil && changed && prepared != nil {
				r.append(p, prepared)
			}
			return err
		},
	})
}

const sessionColumns = `s.id, s.member, s.head, s.state, s.fingerprint, s.captured_at, s.created_at, s.updated_at,
	(select coalesce(sum(t.hydrations), 0) from tokens t
		where t.workspace = s.workspace and t.mode = s.mode and t.session = s.id and t.issued_at >= s.created_at) + s.by_key`

func (s *Store) scanSession(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, row scanner) (*hodl.Session, error) {
	x := &hodl.Session{Workspace: ws, Mode: m}
	var sealed []byte
	var captured, created, updated int64
	if err := row.Scan(&x.ID, &x.User, &sealed, &x.State, &x.Fingerprint, &captured, &created, &updated, &x.Hydrations); err != nil {
		return nil, err
	}
	x.CapturedAt, x.CreatedAt, x.UpdatedAt = timeOf(captured), timeOf(created), timeOf(updated)
	plain, err := s.ring.Open(ctx, ws, purposeHead, objectOf(m, string(x.ID)), sealed)
	if err != nil {
		return nil, wrap(err, "open session %s", x.ID)
	}
	var h head
	if err := json.Unmarshal(plain, &h); err != nil {
		return nil, wrap(err, "read session %s", x.ID)
	}
	x.Title, x.Summary, x.Tags = h.Title, h.Summary, h.Tags
	return x, nil
}

// Session returns a session of user. One of another user is reported as
// [hodl.NotFound], exactly like one that never was.
func (s *Store) Session(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, id hodl.SessionID) (*hodl.Session, error) {
	var out *hodl.Session
	err := s.view(ctx, ws, func(q querier) (err error) {
		out, err = s.scanSession(ctx, ws, m, q.QueryRowContext(ctx, `select `+sessionColumns+` from sessions s
			where s.workspace = $1 and s.mode = $2 and s.id = $3 and s.member = $4`, ws, m, id, user))
		return err
	})
	return out, missing(err, "session", id)
}

// SessionStanding returns where a session stands, whosever it is, and nil when
// there is none. It is how a capture learns that an id is taken.
func (s *Store) SessionStanding(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, id hodl.SessionID) (*SessionState, error) {
	var out *SessionState
	err := s.view(ctx, ws, func(q querier) error {
		x, err := scanSessionRow(q.QueryRowContext(ctx, sqliteLoadSession, ws, m, id))
		ok, err := found(err)
		if ok {
			out = x.standing()
		}
		return err
	})
	return out, err
}

// A Page asks for a part of a list, newest first.
type Page struct {
	Limit      int
	Since      time.Time // none before it; zero for all
	BeforeTime time.Time // with BeforeID the last row of the page before; zero for the first page
	BeforeID   string
}

const endOfTime = int64(1) << 62

func (p Page) before() int64 {
	if p.BeforeTime.IsZero() {
		return endOfTime
	}
	return micros(p.BeforeTime)
}

// Sessions lists the sessions of user, last captured first.
func (s *Store) Sessions(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, p Page) ([]*hodl.Session, error) {
	var out []*hodl.Session
	err := s.view(ctx, ws, func(q querier) (err error) {
		out, err = rowsOf(ctx, q, func(row *sql.Rows) (*hodl.Session, error) { return s.scanSession(ctx, ws, m, row) },
			`select `+sessionColumns+` from sessions s where s.workspace = $1 and s.mode = $2 and s.member = $3
			and s.captured_at >= $4 and (s.captured_at, s.id) < ($5, $6) order by s.captured_at desc, s.id desc limit $7`,
			ws, m, user, micros(p.Since), p.before(), p.BeforeID, p.Limit)
		return err
	})
	return out, err
}

// Version returns what a version of a session holds. Whose session it is has been
// settled by the caller.
func (s *Store) Version(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, id hodl.SessionID, fingerprint string) (*VersionBody, error) {
	body := &VersionBody{}
	err := rereading(func() error {
		var sealed []byte
		err := s.glance(ctx, ws, func(q querier) error {
			return q.QueryRowContext(ctx, `select body from session_versions where workspace = $1 and mode = $2 and session = $3 and fingerprint = $4`,
				ws, m, id, fingerprint).Scan(&sealed)
		})
		if err != nil {
			return missing(err, "version", fingerprint)
		}
		plain, err := s.ring.Open(ctx, ws, purposeSession, objectOf(m, string(id), fingerprint), sealed)
		if err != nil {
			return wrap(err, "open session %s", id)
		}
		return wrap(json.Unmarshal(plain, body), "read session %s", id)
	})
	if err != nil {
		return nil, err
	}
	return body, nil
}

const versionColumns = `select v.fingerprint, v.captured_at, v.author, v.fingerprint = s.fingerprint
	from session_versions v join sessions s on s.workspace = v.workspace and s.mode = v.mode and s.id = v.session
	where v.workspace = $1 and v.mode = $2 and v.session = $3 `

// ListedVersion returns a version of a session as [Store.Versions] lists it. Whose
// session it is has been settled by the caller.
func (s *Store) ListedVersion(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, id hodl.SessionID, fingerprint string) (hodl.Version, error) {
	var out hodl.Version
	err := s.view(ctx, ws, func(q querier) (err error) {
		out, err = scanVersion(q.QueryRowContext(ctx, versionColumns+`and v.fingerprint = $4`, ws, m, id, fingerprint))
		return err
	})
	return out, missing(err, "version", fingerprint)
}

// Versions lists the versions of a session, last captured first.
func (s *Store) Versions(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, id hodl.SessionID, p Page) ([]hodl.Version, error) {
	var out []hodl.Version
	err := s.view(ctx, ws, func(q querier) (err error) {
		out, err = rowsOf(ctx, q, func(row *sql.Rows) (hodl.Version, error) { return scanVersion(row) },
			versionColumns+`and v.captured_at >= $4 and (v.captured_at, v.fingerprint) < ($5, $6)
			order by v.captured_at desc, v.fingerprint desc limit $7`, ws, m, id, micros(p.Since), p.before(), p.BeforeID, p.Limit)
		return err
	})
	return out, err
}

func scanVersion(row scanner) (hodl.Version, error) {
	var v hodl.Version
	var captured int64
	err := row.Scan(&v.Fingerprint, &captured, &v.Author, &v.Current)
	v.CapturedAt = timeOf(captured)
	return v, err
}
