package store

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"hodl"
)

// A HodlWrite creates, changes or deletes a hodl, and gives the session that holds
// it its next version, in one transaction.
type HodlWrite struct {
	Workspace hodl.WorkspaceID
	Mode      hodl.Mode
	User      hodl.UserID
	Hodl      hodl.Hodl
	Expect    time.Time       // UpdatedAt of the hodl it was made from; zero for a new one
	Delete    bool            // keeps the row for 30 days, undoable
	Sessions  []*SessionWrite // sessions it joins, changes in or leaves
}

// PutHodl saves a hodl. It refuses with [hodl.NotFound] when it is gone and with
// [hodl.Stale] when it, or a session it touches, has changed meanwhile.
func (s *Store) PutHodl(ctx context.Context, w HodlWrite) error {
	selection, err := s.sealSelection(ctx, &w)
	if err != nil {
		return err
	}
	next := hodlRow{Hodl: w.Hodl, selection: selection, dirty: true}
	if next.tags, next.place, err = encodeHodl(&w.Hodl); err != nil {
		return wrap(err, "encode hodl")
	}
	if w.Delete {
		next.deletedAt = w.Hodl.UpdatedAt
	}
	sessions := make([]*sealedWrite, len(w.Sessions))
	for i, x := range w.Sessions {
		if sessions[i], err = s.seal(ctx, *x); err != nil {
			return err
		}
	}
	p := partition{w.Workspace, w.Mode}
	k := hodlKey{p, w.User, w.Hodl.ID}
	return s.writer.do(ctx, &write{
		need: func(r *rows) {
			r.wantHodl(p, w.User, w.Hodl.ID)
			for _, x := range sessions {
				x.need(r)
			}
		},
		decide: func(r *rows) error {
			row := next
			row.fresh = r.hodls[k] == nil || r.hodls[k].fresh
			if err := w.check(r.hodls[k]); err != nil {
				return err
			}
			for _, x := range sessions {
				if err := x.check(r); err != nil {
					return err
				}
			}
			r.hodls[k] = &row
			for _, x := range sessions {
				x.apply(r)
			}
			return nil
		},
	})
}

func (w *HodlWrite) check(row *hodlRow) error {
	switch {
	case row == nil && w.Expect.IsZero():
		return nil
	case row == nil || !row.deletedAt.IsZero():
		return missing(sql.ErrNoRows, "hodl", w.Hodl.ID)
	case !row.UpdatedAt.Equal(w.Expect):
		return hodl.Errorf(hodl.Stale, "hodl %s has changed meanwhile", w.Hodl.ID).WithHint("read it again and repeat the change")
	}
	return nil
}

// sealSelection takes the selected text out of the clear location.
func (s *Store) sealSelection(ctx context.Context, w *HodlWrite) ([]byte, error) {
	l := w.Hodl.Location
	if l == nil || l.Selection == nil || l.Selection.Text == "" {
		return nil, nil
	}
	sealed, err := s.ring.Seal(ctx, w.Workspace, purposeSelection, objectOf(w.Mode, string(w.Hodl.ID)), []byte(l.Selection.Text))
	place, selection := *l, *l.Selection
	selection.Text = ""
	place.Selection = &selection
	w.Hodl.Location = &place
	return sealed, wrap(err, "seal selection")
}

// encodeHodl returns the two JSON columns of a hodl.
func encodeHodl(h *hodl.Hodl) (tags, location string, err error) {
	t, err := json.Marshal(h.Tags)
	if err != nil || h.Location == nil {
		return string(t), "", err
	}
	l, err := json.Marshal(h.Location)
	return string(t), string(l), err
}

const hodlColumns = `id, url, title, note, tags, source, location, selection, session, created_at, updated_at`

func (s *Store) scanHodl(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, row scanner) (*hodl.Hodl, error) {
	h := &hodl.Hodl{}
	var tags, location string
	var sealed []byte
	var created, updated int64
	if err := row.Scan(&h.ID, &h.URL, &h.Title, &h.Note, &tags, &h.Source, &location, &sealed, &h.SessionID, &created, &updated); err != nil {
		return nil, err
	}
	h.CreatedAt, h.UpdatedAt = timeOf(created), timeOf(updated)
	if err := json.Unmarshal([]byte(tags), &h.Tags); err != nil {
		return nil, wrap(err, "read hodl %s", h.ID)
	}
	if location == "" {
		return h, nil
	}
	if err := json.Unmarshal([]byte(location), &h.Location); err != nil {
		return nil, wrap(err, "read hodl %s", h.ID)
	}
	if sealed == nil {
		return h, nil
	}
	text, err := s.ring.Open(ctx, ws, purposeSelection, objectOf(m, string(h.ID)), sealed)
	h.Location.Selection.Text = string(text)
	return h, wrap(err, "open selection of hodl %s", h.ID)
}

// Hodl returns a hodl of user that is not deleted.
func (s *Store) Hodl(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, id hodl.HodlID) (*hodl.Hodl, error) {
	var out *hodl.Hodl
	err := s.view(ctx, ws, func(q querier) (err error) {
		out, err = s.scanHodl(ctx, ws, m, q.QueryRowContext(ctx, `select `+hodlColumns+` from hodls
			where workspace = $1 and mode = $2 and member = $3 and id = $4 and deleted_at = 0`, ws, m, user, id))
		return err
	})
	return out, missing(err, "hodl", id)
}

// Hodls lists the hodls of user, newest first. Ids sort by time, so the cursor is
// an id.
func (s *Store) Hodls(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, p Page) ([]*hodl.Hodl, error) {
	before := p.BeforeID
	if before == "" {
		before = "hdl_z" // sorts after every id the server makes, in any collation
	}
	var out []*hodl.Hodl
	err := s.view(ctx, ws, func(q querier) (err error) {
		out, err = rowsOf(ctx, q, func(row *sql.Rows) (*hodl.Hodl, error) { return s.scanHodl(ctx, ws, m, row) },
			`select `+hodlColumns+` from hodls where workspace = $1 and mode = $2 and member = $3 and id < $4 and created_at >= $5 and deleted_at = 0
			order by id desc limit $6`, ws, m, user, before, micros(p.Since), p.Limit)
		return err
	})
	return out, err
}

// SessionHodls returns the hodls that name a session, oldest first: what its next
// version embeds.
func (s *Store) SessionHodls(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, id hodl.SessionID) ([]*hodl.Hodl, error) {
	var out []*hodl.Hodl
	err := s.view(ctx, ws, func(q querier) (err error) {
		out, err = rowsOf(ctx, q, func(row *sql.Rows) (*hodl.Hodl, error) { return s.scanHodl(ctx, ws, m, row) },
			`select `+hodlColumns+` from hodls where workspace = $1 and mode = $2 and session = $3 and session <> '' and member = $4 and deleted_at = 0
			order by id limit $5`, ws, m, id, user, hodl.MaxItems)
		return err
	})
	return out, err
}

// HodlsByID returns those of ids that are hodls of user, in no order.
func (s *Store) HodlsByID(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, ids []hodl.HodlID) ([]*hodl.Hodl, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	args := []any{ws, m, user}
	places := make([]string, len(ids))
	for i, id := range ids {
		args = append(args, id)
		places[i] = "$" + strconv.Itoa(len(args))
	}
	var out []*hodl.Hodl
	err := s.view(ctx, ws, func(q querier) (err error) {
		out, err = rowsOf(ctx, q, func(row *sql.Rows) (*hodl.Hodl, error) { return s.scanHodl(ctx, ws, m, row) },
			`select `+hodlColumns+` from hodls where workspace = $1 and mode = $2 and member = $3 and deleted_at = 0
			and id in (`+strings.Join(places, ", ")+`)`, args...)
		return err
	})
	return out, err
}
