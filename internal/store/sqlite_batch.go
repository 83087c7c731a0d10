package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// sqliteStatements are the hot statements by their text, each prepared at its first
// use: a start waits for none. They belong to the goroutine that writes.
type sqliteStatements struct {
	conn *sql.Conn
	all  map[string]*sql.Stmt
}

func (s *sqliteStatements) of(ctx context.Context, text string) (*sql.Stmt, error) {
	if st := s.all[text]; st != nil {
		return st, nil
	}
	st, err := s.conn.PrepareContext(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", text, err)
	}
	s.all[text] = st
	return st, nil
}

func (s *sqliteStatements) close() {
	for _, st := range s.all {
		st.Close()
	}
}

// sqliteTx is one batch's transaction.
type sqliteTx struct {
	ctx   context.Context
	stmts *sqliteStatements
}

func (t *sqliteTx) exec(text string, args ...any) error {
	st, err := t.stmts.of(t.ctx, text)
	if err == nil {
		_, err = st.ExecContext(t.ctx, args...)
	}
	return err
}

// QueryContext and QueryRowContext make the transaction a querier.
func (t *sqliteTx) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	st, err := t.stmts.of(ctx, text)
	if err != nil {
		return nil, err
	}
	return st.QueryContext(ctx, args...)
}

func (t *sqliteTx) QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row {
	st, err := t.stmts.of(ctx, text)
	if err != nil {
		return t.stmts.conn.QueryRowContext(ctx, text, args...) // only a row can tell what is wrong
	}
	return st.QueryRowContext(ctx, args...)
}

// load fills r, but for the rows it has of a lane. The transaction is immediate, so
// every row read is locked.
func (t *sqliteTx) load(r *rows) error {
	var logs, usage, tokens, sessions, hodls, once, proofs, keys []any
	for k := range r.dataKeys {
		keys = append(keys, string(k.ws), int64(k.version))
	}
	for k, x := range r.logs {
		if x == nil {
			logs = append(logs, string(k.ws), string(k.mode))
		}
	}
	for k, x := range r.usage {
		if x == nil {
			usage = append(usage, string(k.ws), string(k.mode), k.month)
		}
	}
	for k, x := range r.tokens {
		if x == nil {
			tokens = append(tokens, string(k.ws), string(k.mode), string(k.id))
		}
	}
	for k, x := range r.sessions {
		if x == nil {
			sessions = append(sessions, string(k.ws), string(k.mode), string(k.id))
		}
	}
	for k, x := range r.hodls {
		if x == nil {
			hodls = append(hodls, string(k.ws), string(k.mode), string(k.member), string(k.id))
		}
	}
	for k := range r.once {
		once = append(once, string(k.ws), string(k.mode), k.name)
	}
	for k := range r.proofs {
		proofs = append(proofs, string(k.ws), string(k.mode), k.digest[:])
	}
	for _, x := range []struct {
		query sqliteLoad
		keys  []any
		take  func(scanner) error
	}{
		{sqliteLogs, logs, r.takeLog},
		{sqliteUsage, usage, r.takeUsage},
		{sqliteTokens, tokens, r.takeToken},
		{sqliteSessions, sessions, r.takeSession},
		{sqliteHodls, hodls, r.takeHodl},
		{sqliteOnce, once, r.takeOnce},
		{sqliteProofs, proofs, r.takeProof},
		{sqliteDataKeys, keys, r.takeDataKey},
	} {
		if err := t.loadAll(x.query, x.keys, x.take); err != nil {
			return wrap(err, "load")
		}
	}
	return wrap(t.loadFamilies(r), "load")
}

// A sqliteLoad is a query for one key, in three sizes: a statement costs more to
// start than a look-up, so one asks for up to sixteen.
type sqliteLoad struct {
	width int // values in a key
	texts [len(sqliteLoadSizes)]string
}

var sqliteLoadSizes = [...]int{16, 4, 1}

func newSQLiteLoad(width int, text string) sqliteLoad {
	l := sqliteLoad{width: width}
	for i, n := range sqliteLoadSizes {
		l.texts[i] = strings.TrimSuffix(strings.Repeat(text+" union all ", n), " union all ")
	}
	for i := range width { // the query for one is for both engines
		last := &l.texts[len(l.texts)-1]
		*last = strings.Replace(*last, "?", "$"+strconv.Itoa(i+1), 1)
	}
	return l
}

// one is the query for a single key, in the words both engines know.
func (l sqliteLoad) one() string { return l.texts[len(l.texts)-1] }

// loadAll looks up every key and hands each row found to take.
func (t *sqliteTx) loadAll(l sqliteLoad, keys []any, take func(scanner) error) error {
	for i, n := range sqliteLoadSizes {
		for most := n * l.width; len(keys) >= most; keys = keys[most:] {
			if err := t.each(l.texts[i], keys[:most], take); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *sqliteTx) each(text string, args []any, take func(scanner) error) error {
	rows, err := t.QueryContext(t.ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := take(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

func found(err error) (bool, error) {
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// save writes what was decided.
func (t *sqliteTx) save(r *rows) error {
	if err := t.saveRows(r); err != nil {
		return err
	}
	return t.saveLogs(r)
}

// saveRows writes all but the heads, which may still be waiting for their signatures.
func (t *sqliteTx) saveRows(r *rows) error {
	for _, step := range []func(*rows) error{t.saveEnds, t.saveUsage, t.saveTokens, t.saveSessions, t.saveHodls, t.saveProofs, t.saveRecords, t.saveTiles, t.saveOnce} {
		if err := step(r); err != nil {
			return err
		}
	}
	return nil
}

func (t *sqliteTx) saveLogs(r *rows) error {
	for k, l := range r.logs {
		if l != nil && l.dirty {
			if err := t.exec(sqliteSaveLog, string(k.ws), string(k.mode), l.size, l.epoch, l.tree.Pack(), l.signed); err != nil {
				return wrap(err, "save log head")
			}
		}
	}
	return nil
}

func (t *sqliteTx) saveUsage(r *rows) error {
	for k, u := range r.usage {
		var err error
		switch {
		case u == nil || !u.dirty:
		case u.fresh:
			err = t.exec(sqliteAddUsage, string(k.ws), string(k.mode), k.month, u.hydrations)
		default:
			err = t.exec(sqliteSaveUsage, string(k.ws), string(k.mode), k.month, u.hydrations)
		}
		if err != nil {
			return wrap(err, "save usage")
		}
	}
	return nil
}

func (t *sqliteTx) saveTokens(r *rows) error {
	for k, x := range r.tokens {
		var err error
		switch {
		case x == nil || !x.dirty:
		case x.fresh:
			err = t.exec(sqliteAddToken, string(k.ws), string(k.mode), string(k.id), string(x.Session), string(x.User), string(x.Key), x.Audience, joinScopes(x.Scopes), x.RedactionPolicy,
				int64(x.MaxHydrations), int64(x.Hydrations), micros(x.IssuedAt), micros(x.ExpiresAt), micros(x.RevokedAt), x.RevokeReason,
				string(x.Parent), joinIDs(x.Ancestors), int64(x.Drawn), x.seq, x.Link)
		default:
			err = t.exec(sqliteSaveToken, string(k.ws), string(k.mode), string(k.id), int64(x.Hydrations), int64(x.Drawn), micros(x.RevokedAt), x.RevokeReason)
		}
		if err != nil {
			return wrap(err, "save token")
		}
	}
	return nil
}

func (t *sqliteTx) saveSessions(r *rows) error {
	for k, x := range r.sessions {
		var err error
		switch {
		case x == nil || !x.dirty:
		case x.fresh:
			err = t.exec(sqliteAddSession, string(k.ws), string(k.mode), string(k.id), string(x.member), x.head, string(x.state), x.fingerprint, micros(x.capturedAt), micros(x.createdAt), micros(x.updatedAt), x.byKey)
		default:
			err = t.exec(sqliteSaveSession, string(k.ws), string(k.mode), string(k.id), x.head, string(x.state), x.fingerprint, micros(x.capturedAt), micros(x.updatedAt), micros(x.hour), int64(x.hydrations), x.byKey)
		}
		if err != nil {
			return wrap(err, "save session")
		}
	}
	for _, v := range r.versions {
		if err := t.exec(sqliteAddVersion, string(v.ws), string(v.mode), string(v.id), v.fingerprint, micros(v.capturedAt), v.author, v.body); err != nil {
			return wrap(err, "save session version")
		}
	}
	return nil
}

// saveEnds comes first: see [rows].
func (t *sqliteTx) saveEnds(r *rows) error {
	for _, x := range r.revoked {
		if err := t.exec(sqliteRevoke, string(x.ws), string(x.mode), string(x.id), micros(x.at), x.reason); err != nil {
			return wrap(err, "revoke tokens")
		}
	}
	for _, x := range r.ended {
		if err := t.exec(sqliteAddEnd, string(x.ws), string(x.mode), string(x.Kind), x.Subject, x.seq, micros(x.at), x.Reason); err != nil {
			return wrap(err, "revoke tokens")
		}
	}
	for _, k := range r.erased {
		for _, text := range []string{sqliteDetachHodls, sqliteEraseVersions, sqliteEraseSession} {
			if err := t.exec(text, string(k.ws), string(k.mode), string(k.id)); err != nil {
				return wrap(err, "erase session")
			}
		}
	}
	return nil
}

func (t *sqliteTx) saveHodls(r *rows) error {
	var words []placedWords
	places := sqlitePlaces{}
	for _, k := range r.changedHodls() {
		x := r.hodls[k]
		place, err := t.saveHodl(k, x, places)
		if err != nil {
			return wrap(err, "save hodl")
		}
		if x.words != nil {
			words = append(words, placedWords{place, x.fresh, x.words})
		}
	}
	for _, k := range r.countedTags() {
		if err := t.exec(sqliteCountTag, string(k.ws), string(k.mode), string(k.member), k.tag, r.tags[k]); err != nil {
			return wrap(err, "count tag")
		}
	}
	return t.saveWords(words)
}

// saveHodl returns the place of the hodl.
func (t *sqliteTx) saveHodl(k hodlKey, x *hodlRow, places sqlitePlaces) (place int64, err error) {
	if !x.fresh {
		err = t.QueryRowContext(t.ctx, sqliteSaveHodl, string(k.ws), string(k.mode), string(k.member), string(k.id), x.URL, x.Title, x.Note, x.tags, x.place, x.selection, string(x.SessionID),
			micros(x.UpdatedAt), micros(x.DeletedAt), x.known, placeAt(x.CreatedAt)).Scan(&place)
		delete(places, placeAt(x.CreatedAt)) // it may have taken the next one
		return place, err
	}
	if place, err = places.next(t, x.CreatedAt); err != nil {
		return 0, err
	}
	return place, t.exec(sqliteAddHodl, place, string(k.ws), string(k.mode), string(k.member), string(k.id), x.URL, x.Title, x.Note, x.tags, string(x.Source), x.place, x.selection, string(x.SessionID),
		micros(x.CreatedAt), micros(x.UpdatedAt), micros(x.DeletedAt), x.known)
}

// sqlitePlaces are the places a batch has given last, by the millisecond.
type sqlitePlaces map[int64]int64

// next gives the next place in the millisecond of a capture.
func (p sqlitePlaces) next(t *sqliteTx, at time.Time) (int64, error) {
	first := placeAt(at)
	last, asked := p[first]
	if !asked {
		if err := t.QueryRowContext(t.ctx, sqliteLastPlace, first).Scan(&last); err != nil {
			return 0, err
		}
	}
	p[first] = last + 1
	return last + 1, nil
}

// placedWords is what the index takes of a hodl.
type placedWords struct {
	place int64
	fresh bool
	words []string
}

// saveWords comes last and in the order of places: FTS5 keeps in memory what it is
// given, and writes that to its tables when a place goes back, or when a statement
// that can fail halfway begins.
func (t *sqliteTx) saveWords(all []placedWords) error {
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b placedWords) int { return cmp.Compare(a.place, b.place) })
	size := 0
	for _, x := range all {
		text := sqliteAddWords
		if !x.fresh {
			text = sqliteSaveWords
		}
		if err := t.exec(text, x.place, x.words[0], x.words[1], x.words[2], x.words[3]); err != nil {
			return wrap(err, "index hodls")
		}
		for _, text := range x.words {
			size += len(text)
		}
	}
	return wrap(t.exec(sqliteMergeWords, 4+size/1000), "index hodls") // about four times what they take
}

func (t *sqliteTx) saveRecords(r *rows) error {
	for i := range r.records {
		x := &r.records[i]
		if err := t.exec(sqliteAddRecord, string(x.ws), string(x.mode), x.seq, string(x.record.ID), string(x.record.Kind), string(x.record.User), string(x.record.Session), string(x.record.JTI), x.record.Actor,
			micros(x.record.At), string(x.body), x.commitment[:]); err != nil {
			return wrap(err, "save access record")
		}
		if err := t.exec(sqliteAddDetail, string(x.ws), string(x.mode), x.seq, x.salt[:], x.detail.Address, x.detail.UserAgent); err != nil {
			return wrap(err, "save access detail")
		}
	}
	for _, e := range r.events {
		if err := t.exec(sqliteAddEvent, string(e.Workspace), string(e.ID), string(e.Mode), string(e.Type), string(e.Session), string(e.Token), micros(e.At)); err != nil {
			return wrap(err, "save event")
		}
	}
	return nil
}

func (t *sqliteTx) saveOnce(r *rows) error {
	for k, x := range r.once {
		if x == nil || !x.fresh {
			continue
		}
		if err := t.exec(sqliteAddOnce, string(k.ws), string(k.mode), k.name, x.request[:], x.answer, micros(x.expires)); err != nil {
			return wrap(err, "save answer")
		}
	}
	return nil
}
