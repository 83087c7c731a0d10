package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"hodl"
	"hodl/internal/address"
	"hodl/internal/query"
)

// A HodlWrite creates, changes, deletes or restores a hodl, and gives the session
// that holds it its next version, in one transaction.
type HodlWrite struct {
	Workspace hodl.WorkspaceID
	Mode      hodl.Mode
	User      hodl.UserID
	Hodl      hodl.Hodl       // as it becomes; with DeletedAt it is deleted, and restorable for [hodl.Undoable]
	Expect    time.Time       // UpdatedAt of the hodl it was made from; zero for a new one
	Restore   bool            // it was deleted
	With      []hodl.Hodl     // further new ones that join the same sessions
	Sessions  []*SessionWrite // sessions it joins, changes in or leaves
	Place     int             // among the hodls of one request; see [Item]
}

// PutHodl saves a hodl. It refuses with [hodl.NotFound] when it is gone, with
// [hodl.Conflict] when a new one is there already, and with [hodl.Stale] when it, or
// a session it touches, has changed meanwhile.
func (s *Store) PutHodl(ctx context.Context, w HodlWrite) error {
	return s.submit(ctx, func() (*write, error) { return s.hodlWrite(ctx, w) })
}

// PutHodls saves many hodls, each write for itself: the errors are those that
// PutHodl would return. They share as few commits as they can. Under an idempotency
// key each is an [Item] whose answer is a list with the hodl, in JSON.
func (s *Store) PutHodls(ctx context.Context, list []HodlWrite) []error {
	errs := make([]error, len(list))
	writes := make([]*write, 0, len(list))
	verdicts := make([]func(error) error, len(list))
	places := make([]int, 0, len(list))
	for i, w := range list {
		x, err := s.hodlWrite(ctx, w)
		if err == nil {
			x, verdicts[i], err = s.keeping(item(ctx, &w), x)
		}
		if errs[i] = err; err == nil {
			writes, places = append(writes, x), append(places, i)
		}
	}
	for i, err := range s.writer.doAll(ctx, writes) {
		place := places[i]
		if err = verdicts[place](err); errors.Is(err, errRetired) {
			err = s.PutHodl(item(ctx, &list[place]), list[place])
		}
		errs[place] = err
	}
	return errs
}

// item makes one of many an [Item] of the request.
func item(ctx context.Context, w *HodlWrite) context.Context {
	return Item(ctx, w.Place, func(any) ([]byte, error) { return json.Marshal([]hodl.Hodl{w.Hodl}) })
}

// A preparedHodl is what the writer puts in place of a row.
type preparedHodl struct {
	key     hodlKey
	next    hodlRow
	expect  time.Time
	restore bool
}

func (s *Store) hodlWrite(ctx context.Context, w HodlWrite) (*write, error) {
	all := make([]*preparedHodl, 0, 1+len(w.With))
	first, err := s.prepareHodl(ctx, &w, w.Hodl)
	if err != nil {
		return nil, err
	}
	first.expect, first.restore = w.Expect, w.Restore
	all = append(all, first)
	for _, h := range w.With {
		x, err := s.prepareHodl(ctx, &w, h)
		if err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	sessions := make([]*sealedWrite, len(w.Sessions))
	for i, x := range w.Sessions {
		if sessions[i], err = s.seal(ctx, *x); err != nil {
			return nil, err
		}
	}
	seals := []dataKeyRef{}
	for _, x := range all {
		seals = append(seals, sealedWith(w.Workspace, x.next.selection)...)
	}
	for _, x := range sessions {
		seals = append(seals, x.seals()...)
	}
	return &write{
		seals: seals,
		need: func(r *rows) {
			for _, x := range all {
				r.wantHodl(x.key.partition, x.key.member, x.key.id)
			}
			for _, x := range sessions {
				x.need(r)
			}
		},
		decide: func(r *rows) error { return decideHodls(r, all, sessions) },
	}, nil
}

func decideHodls(r *rows, all []*preparedHodl, sessions []*sealedWrite) error {
	for _, x := range all {
		if err := x.check(r.hodls[x.key]); err != nil {
			return err
		}
	}
	for _, x := range sessions {
		if err := x.check(r); err != nil {
			return err
		}
	}
	for _, x := range all {
		next := x.next
		next.fresh = r.hodls[x.key] == nil || r.hodls[x.key].fresh
		r.putHodl(x.key, &next)
	}
	for _, x := range sessions {
		x.apply(r)
	}
	return nil
}

func (x *preparedHodl) check(row *hodlRow) error {
	switch {
	case row == nil && x.expect.IsZero():
		return nil
	case row != nil && x.expect.IsZero():
		return hodl.Errorf(hodl.Conflict, "hodl %s is there already", x.key.id).WithHint("leave out the id, or change the hodl: PATCH /v1/hodls/{id}")
	case row == nil || row.DeletedAt.IsZero() == x.restore:
		return missing(sql.ErrNoRows, "hodl", x.key.id)
	case !row.UpdatedAt.Equal(x.expect):
		return hodl.Errorf(hodl.Stale, "hodl %s has changed meanwhile", x.key.id).WithHint("read it again and repeat the change")
	}
	return nil
}

// prepareHodl does outside the writer what can be done there: sealing, encoding,
// cutting into words.
func (s *Store) prepareHodl(ctx context.Context, w *HodlWrite, h hodl.Hodl) (*preparedHodl, error) {
	d := query.Index(&h)
	d.Own(query.OwnerKey(w.Workspace, w.Mode, w.User))
	next := hodlRow{known: knownHodl(&h), words: s.engine.words(&d), mark: mark{dirty: true}}
	var err error
	if next.selection, err = s.sealSelection(ctx, w, &h); err != nil {
		return nil, err
	}
	next.Hodl = h
	next.tags, next.place, err = encodeHodl(&h)
	return &preparedHodl{key: hodlKey{partition{w.Workspace, w.Mode}, w.User, h.ID}, next: next}, wrap(err, "encode hodl")
}

// sealSelection takes the selected text out of the clear location.
func (s *Store) sealSelection(ctx context.Context, w *HodlWrite, h *hodl.Hodl) ([]byte, error) {
	l := h.Location
	if l == nil || l.Selection == nil || l.Selection.Text == "" {
		return nil, nil
	}
	sealed, err := s.ring.Seal(ctx, w.Workspace, purposeSelection, objectOf(w.Mode, string(h.ID)), []byte(l.Selection.Text))
	place, selection := *l, *l.Selection
	selection.Text = ""
	place.Selection = &selection
	h.Location = &place
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

// knownHodl is the digest by which a hodl is found again: of its address in normal
// form where it has one, else of its title, its note and where it stood.
func knownHodl(h *hodl.Hodl) []byte {
	if h.URL != "" {
		return knownURL(h.URL)
	}
	parts := []string{"hodl", h.Title, h.Note}
	if l := h.Location; l != nil {
		parts = append(parts, l.Repository, l.File, l.Branch, l.Commit, strconv.Itoa(l.Line), strconv.Itoa(l.Column))
	}
	return digestOf(parts...)
}

func knownURL(url string) []byte { return digestOf("url", address.Normal(url)) }

func digestOf(parts ...string) []byte {
	var all bytes.Buffer
	for _, p := range parts {
		all.WriteString(p)
		all.WriteByte(0) // no part holds one
	}
	sum := sha256.Sum256(all.Bytes())
	return sum[:16]
}
