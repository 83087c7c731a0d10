package store

import (
	"context"
	"database/sql"
	"time"

	"hodl"
)

// Exchange makes a token from the one that u names, before it is shown. admit
// decides on the locked rows, as for a hydration. It refuses with [hodl.Conflict]
// when as many live tokens as there may be came from that one, and as
// [Store.Mint] does.
func (s *Store) Exchange(ctx context.Context, u TokenUse, admit func(Admission) error, t hodl.Token, rec *hodl.Record, d hodl.RecordDetail) error {
	prepared, err := prepare(rec, d)
	if err != nil {
		return err
	}
	p := u.partition()
	event := hodl.EventID(s.ids.New("evt", u.At))
	var parent tokenKey
	return s.write(ctx, &write{
		need: func(r *rows) {
			r.wantLog(p)
			r.wantSession(p, u.Session)
			parent = r.wantToken(p, u.Token)
			r.wantToken(p, t.ID)
			r.wantProof(p, u.Proof)
			r.wantFamily(parent, u.At)
		},
		decide: func(r *rows) error {
			if err := r.unspent(p, u.Proof); err != nil {
				return err
			}
			if err := admit(r.admission(u)); err != nil {
				return err
			}
			from := r.tokens[parent]
			if from == nil {
				return missing(sql.ErrNoRows, "resume token", u.Token)
			}
			if r.children(parent, u.At) >= hodl.MaxChildren {
				return hodl.Errorf(hodl.Conflict, "%d live tokens were exchanged for this one already", hodl.MaxChildren).WithHint("revoke one, or wait until one ends")
			}
			child := t
			child.Key, child.Parent = from.Key, from.ID
			child.Ancestors = append(from.Ancestors[:len(from.Ancestors):len(from.Ancestors)], from.ID)
			if err := r.mint(child, prepared, event); err != nil {
				return err
			}
			r.spend(p, u.Proof, u.At)
			return nil
		},
	})
}

// An endRow is a revocation of many as it is kept.
type endRow struct {
	partition
	hodl.Revocation
	seq int64
	at  time.Time
}

// RevokeAll ends every token of a subject that was minted before, at once and on
// every server: one row does it, however many there are. member is whose session it
// must be when a session is the subject, "" for anybody's; without that session it
// refuses with [hodl.NotFound].
func (s *Store) RevokeAll(ctx context.Context, m hodl.Mode, member hodl.UserID, v hodl.Revocation, rec *hodl.Record, d hodl.RecordDetail) error {
	prepared, err := prepare(rec, d)
	if err != nil {
		return err
	}
	p := partition{rec.Workspace, m}
	session := sessionKey{p, hodl.SessionID(v.Subject)}
	return s.write(ctx, &write{
		need: func(r *rows) {
			r.wantLog(p)
			if v.Kind == hodl.OfSession {
				r.wantSession(p, session.id)
			}
		},
		decide: func(r *rows) error {
			log, err := r.log(p)
			if err != nil {
				return err
			}
			if row := r.sessions[session]; v.Kind == hodl.OfSession && (row == nil || member != "" && row.member != member) {
				return missing(sql.ErrNoRows, "session", v.Subject)
			}
			r.end(endRow{p, v, log.size, rec.At})
			r.append(p, prepared)
			return nil
		},
	})
}

// end ends the tokens of a subject: by a row for those in the database, and in
// place for those the batch has locked or made.
func (r *rows) end(e endRow) {
	r.ended = append(r.ended, e)
	log := r.logs[e.partition]
	log.epoch, log.dirty = e.seq, true
	for k, x := range r.tokens {
		if x != nil && k.partition == e.partition && x.RevokedAt.IsZero() && x.seq < e.seq && e.Covers(&x.Token) {
			x.RevokedAt, x.RevokeReason = e.at, e.Reason
			x.dirty = x.dirty || x.fresh
		}
	}
}
