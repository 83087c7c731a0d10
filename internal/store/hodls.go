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

const hodlColumns = `h.id, h.url, h.title, h.note, h.tags, h.source, h.location, h.selection, h.session, h.created_at, h.updated_at, h.deleted_at`

func (s *Store) scanHodl(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, row scanner) (*hodl.Hodl, error) {
	h := &hodl.Hodl{}
	var tags, location string
	var sealed []byte
	var created, updated, deleted int64
	if err := row.Scan(&h.ID, &h.URL, &h.Title, &h.Note, &tags, &h.Source, &location, &sealed, &h.SessionID, &created, &updated, &deleted); err != nil {
		return nil, err
	}
	h.CreatedAt, h.UpdatedAt, h.DeletedAt = timeOf(created), timeOf(updated), timeOf(deleted)
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

// hodls runs a query for hodls of a workspace and mode.
func (s *Store) hodls(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, text string, args ...any) (out []*hodl.Hodl, err error) {
	err = s.glance(ctx, ws, func(q querier) (err error) {
		out, err = rowsOf(ctx, q, func(row *sql.Rows) (*hodl.Hodl, error) { return s.scanHodl(ctx, ws, m, row) }, text, args...)
		return err
	})
	return out, err
}

// Hodl returns a hodl of user that is not deleted.
func (s *Store) Hodl(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, id hodl.HodlID) (*hodl.Hodl, error) {
	h, err := s.DeletedHodl(ctx, ws, m, user, id)
	if err == nil && !h.DeletedAt.IsZero() {
		err = missing(sql.ErrNoRows, "hodl", id)
	}
	if err != nil {
		return nil, err
	}
	return h, nil
}

// DeletedHodl returns a hodl of user even when it is deleted, as long as that can be
// undone.
func (s *Store) DeletedHodl(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, id hodl.HodlID) (*hodl.Hodl, error) {
	var out *hodl.Hodl
	err := s.glance(ctx, ws, func(q querier) (err error) {
		out, err = s.scanHodl(ctx, ws, m, q.QueryRowContext(ctx, `select `+hodlColumns+` from hodls h
			where workspace = $1 and mode = $2 and member = $3 and id = $4 and (deleted_at = 0 or deleted_at > $5)`, ws, m, user, id, micros(s.undoable())))
		return err
	})
	return out, missing(err, "hodl", id)
}

// undoable is the time since when a deletion can be undone.
func (s *Store) undoable() time.Time { return s.now().Add(-hodl.Undoable) }

// SessionHodls returns the hodls that name a session, oldest first: what its next
// version embeds.
func (s *Store) SessionHodls(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, id hodl.SessionID) ([]*hodl.Hodl, error) {
	return s.hodls(ctx, ws, m, `select `+hodlColumns+` from hodls h where workspace = $1 and mode = $2 and session = $3 and session <> '' and member = $4 and deleted_at = 0
		order by id limit $5`, ws, m, id, user, hodl.MaxItems)
}

// HodlsByID returns those of ids that are hodls of user, in no order.
func (s *Store) HodlsByID(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, ids []hodl.HodlID) ([]*hodl.Hodl, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	places, args := list(ids, ws, m, user)
	return s.hodls(ctx, ws, m, `select `+hodlColumns+` from hodls h where workspace = $1 and mode = $2 and member = $3 and deleted_at = 0
		and id in (`+places+`)`, args...)
}

// list appends values to the arguments of a query and returns their places in it.
func list[T any](values []T, args ...any) (string, []any) {
	places := make([]string, len(values))
	for i, v := range values {
		args = append(args, v)
		places[i] = "$" + strconv.Itoa(len(args))
	}
	return strings.Join(places, ", "), args
}

// KnownHodls returns the hodls of user whose address leads where url does, newest
// first.
func (s *Store) KnownHodls(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, url string, most int) ([]*hodl.Hodl, error) {
	return s.hodls(ctx, ws, m, `select `+hodlColumns+` from hodls h where workspace = $1 and mode = $2 and member = $3 and known = $4 and deleted_at = 0
		order by id desc limit $5`, ws, m, user, knownURL(url), most)
}

// HodlsThere tells, of each hodl that is to be new, whether user has it already: one
// with an id by that, even a deleted one; any other when there, or further up in the
// list, is one of the same address, title and note, or, without an address, the same
// place.
func (s *Store) HodlsThere(ctx context.Context, ws hodl.WorkspaceID, m hodl.Mode, user hodl.UserID, all []hodl.Hodl) ([]bool, error) {
	out := make([]bool, len(all))
	if len(all) == 0 {
		return out, nil
	}
	ids, digests := make([]hodl.HodlID, len(all)), make([][]byte, len(all))
	for i := range all {
		ids[i], digests[i] = all[i].ID, knownHodl(&all[i])
	}
	there := map[content]bool{}
	taken := map[hodl.HodlID]bool{}
	err := s.glance(ctx, ws, func(q querier) error {
		places, args := list(digests, ws, m, user)
		same, err := rowsOf(ctx, q, scanContent, `select known, title, note from hodls where workspace = $1 and mode = $2 and member = $3 and deleted_at = 0 and known in (`+places+`)`, args...)
		if err != nil {
			return err
		}
		for _, c := range same {
			there[c] = true
		}
		places, args = list(ids, ws, m, user)
		found, err := rowsOf(ctx, q, scanHodlID, `select id from hodls where workspace = $1 and mode = $2 and member = $3 and id in (`+places+`)`, args...)
		for _, id := range found {
			taken[id] = true
		}
		return err
	})
	for i := range all {
		c := content{string(digests[i]), all[i].Title, all[i].Note}
		out[i] = taken[ids[i]] || ids[i] == "" && there[c]
		there[c], taken[ids[i]] = true, ids[i] != ""
	}
	return out, err
}

// content is by what two hodls are told to say the same.
type content struct{ known, title, note string }

func scanContent(row *sql.Rows) (c content, err error) {
	var known []byte
	err = row.Scan(&known, &c.title, &c.note)
	c.known = string(known)
	return c, err
}

func scanHodlID(row *sql.Rows) (id hodl.HodlID, err error) { return id, row.Scan(&id) }
