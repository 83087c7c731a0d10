package store

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"hodl"
)

func (e *postgres) name() string { return "postgres" }

// PostgreSQL promises nothing: it writes a page once for many batches.
func (e *postgres) owes(hodl.WorkspaceID) bool                     { return false }
func (e *postgres) owing() []hodl.WorkspaceID                      { return nil }
func (e *postgres) settle(context.Context, hodl.WorkspaceID) error { return nil }

func (e *postgres) close() error {
	e.writes.Close()
	err := e.db.Close()
	e.reads.Close()
	return err
}

// view reads in a transaction that sees one workspace. The setting ends with the
// transaction, so a pooled connection carries nothing over to the next.
func (e *postgres) view(ctx context.Context, ws hodl.WorkspaceID, read func(querier) error) error {
	return e.reread(ctx, func() error {
		return e.scoped(ctx, &sql.TxOptions{ReadOnly: true}, ws, func(tx *sql.Tx) error { return read(tx) })
	})
}

func (e *postgres) outside(ctx context.Context, read func(querier) error) error {
	return e.reread(ctx, func() error { return read(e.db) })
}

// reread reads again when the connection turns out to be dead: a PostgreSQL that
// has restarted leaves as many of those in the pool as it holds. One that cannot
// be reached is not asked again.
func (e *postgres) reread(ctx context.Context, read func() error) error {
	err := read()
	for range e.reads.Stat().MaxConns() {
		if !dropped(err) || ctx.Err() != nil {
			break
		}
		err = read()
	}
	return lost(err)
}

func (e *postgres) across(ctx context.Context, read func(querier) error) error {
	db, err := sql.Open("pgx", e.owner)
	if err != nil {
		return wrap(err, "read --database-admin")
	}
	defer func() { _ = db.Close() }() // it was only read
	return lost(inTx(ctx, db, func(tx *sql.Tx) error {
		if err := refuseStranger(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, setOperator, "on"); err != nil {
			return err
		}
		return read(tx)
	}))
}

// change needs no turn: PostgreSQL's own locks order it among the writers.
func (e *postgres) change(ctx context.Context, _ *writer, ws hodl.WorkspaceID, run func(*sql.Tx) error) error {
	return lost(e.scoped(ctx, nil, ws, run))
}

func (e *postgres) scoped(ctx context.Context, o *sql.TxOptions, ws hodl.WorkspaceID, run func(*sql.Tx) error) error {
	tx, err := e.db.BeginTx(ctx, o)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after a commit it does nothing
	if _, err := tx.ExecContext(ctx, setScope, string(ws)); err != nil {
		return err
	}
	if err := run(tx); err != nil {
		return err
	}
	return tx.Commit()
}

const setScope = `select set_config('hodl.workspaces', $1, true)`

// commit sends the batch in two round trips. A connection that breaks in the
// first, having been idle while the server restarted, has changed nothing: the
// batch goes once more on a new one. If it breaks in the second, nobody knows
// whether the batch was committed: the callers are told [hodl.Unavailable] and no
// bytes leave.
func (e *postgres) commit(ctx context.Context, batch []*write) error {
	// A server that has vanished without a word must not hold up the writer for
	// as long as TCP keeps hoping.
	ctx, cancel := context.WithTimeout(ctx, commitTimeout)
	defer cancel()
	err := e.commitOnce(ctx, batch)
	if errors.Is(err, errUnsent) {
		err = e.commitOnce(ctx, batch)
	}
	return err
}

var errUnsent = errors.New("the connection broke before anything was saved")

func (e *postgres) commitOnce(ctx context.Context, batch []*write) error {
	conn, err := e.writes.Acquire(ctx)
	if err != nil {
		return unavailable(err, "the database cannot be reached")
	}
	defer func() {
		// A transaction left half-way, by an error or a panic, must not go back to the pool.
		if conn.Conn().PgConn().TxStatus() != 'I' {
			_, _ = conn.Exec(ctx, "rollback") // if this fails too, Release discards the connection
		}
		conn.Release()
	}()
	sent, err := e.commitOn(ctx, conn.Conn(), batch)
	switch {
	case err == nil || !conn.Conn().IsClosed():
		return lost(err)
	case sent:
		return unavailable(err, "the database cannot be reached")
	default:
		return unavailable(errors.Join(errUnsent, err), "the database cannot be reached")
	}
}

// commitOn runs a batch on a connection; sent tells whether it may have been saved.
func (e *postgres) commitOn(ctx context.Context, conn *pgx.Conn, batch []*write) (sent bool, err error) {
	r := needed(batch)
	load := &pgx.Batch{}
	load.Queue("begin")
	load.Queue(setScope, r.scope())
	queueLoads(load, r)
	if err := conn.SendBatch(ctx, load).Close(); err != nil {
		return false, err
	}
	if err := e.notary.check(r); err != nil {
		return false, err
	}
	decideAll(r, batch)
	e.notary.sign(r)()
	save := &pgx.Batch{}
	queueSaves(save, r)
	save.Queue("commit")
	return true, conn.SendBatch(ctx, save).Close()
}

// scope lists the workspaces of the batch for row-level security.
func (r *rows) scope() string {
	seen := map[hodl.WorkspaceID]bool{}
	for k := range r.logs {
		seen[k.ws] = true
	}
	for k := range r.sessions {
		seen[k.ws] = true
	}
	for k := range r.hodls {
		seen[k.ws] = true
	}
	for k := range r.once {
		seen[k.ws] = true
	}
	for k := range r.dataKeys {
		seen[k.ws] = true
	}
	list := make([]string, 0, len(seen))
	for ws := range seen {
		list = append(list, string(ws))
	}
	slices.Sort(list)
	return strings.Join(list, ",")
}

// queueLoads asks for every row the batch needs, each kind in one statement. What
// is locked is asked for in the order of its key, the log's head first: all servers
// lock in the same order. Usage and tokens need no lock of their own, because no
// write changes them without the head of their log.
func queueLoads(b *pgx.Batch, r *rows) {
	logs, usage, tokens, sessions := newColumns(2), newColumns(3), newColumns(3), newColumns(3)
	for _, k := range inOrder(r.logs, partition.compare) {
		logs.add(string(k.ws), string(k.mode))
	}
	for k := range r.usage {
		usage.add(string(k.ws), string(k.mode), k.month)
	}
	for k := range r.tokens {
		tokens.add(string(k.ws), string(k.mode), string(k.id))
	}
	for _, k := range inOrder(r.sessions, sessionKey.compare) {
		sessions.add(string(k.ws), string(k.mode), string(k.id))
	}
	hodls := newColumns(4)
	for _, k := range inOrder(r.hodls, hodlKey.compare) {
		hodls.add(string(k.ws), string(k.mode), string(k.member), string(k.id))
	}
	queueLoad(b, logs, pgLoadLogs, r.takeHead)
	queueLoad(b, usage, pgLoadUsage, r.takeUsage)
	queueLoad(b, tokens, pgLoadTokens, r.takeFound)
	queueFamilies(b, r, tokens)
	queueLoad(b, sessions, pgLoadSessions, r.takeSession)
	queueLoad(b, hodls, pgLoadHodls, r.takeHodl)
	queueLoadOnce(b, r)
	queueLoadDataKeys(b, r)
	queueLoadProofs(b, r)
}

func inOrder[K comparable, V any](m map[K]V, compare func(a, b K) int) []K {
	return slices.SortedFunc(maps.Keys(m), compare)
}

func queueLoad(b *pgx.Batch, keys columns, text string, take func(scanner) error) {
	if keys.empty() {
		return
	}
	b.Queue(text, keys.args()...).Query(func(rows pgx.Rows) error {
		defer rows.Close()
		for rows.Next() {
			if err := take(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// queueSaves writes what was decided, each kind in one statement. What is saved where
// it was found comes before anything else may move it.
func queueSaves(b *pgx.Batch, r *rows) {
	logs, usage := newColumns(6), newColumns(4)
	for k, l := range r.logs {
		if l != nil && l.dirty {
			logs.add(string(k.ws), l.ctid, l.size, l.epoch, l.tree.Pack(), l.signed)
		}
	}
	for k, u := range r.usage {
		if u != nil && u.dirty {
			usage.add(string(k.ws), string(k.mode), k.month, u.hydrations)
		}
	}
	logs.queueTo(b, pgSaveLogs)
	usage.queueTo(b, pgSaveUsage)
	saved, added := tokensOf(r)
	saved.queueTo(b, pgSaveTokens)
	queueEnds(b, r)
	added.queueTo(b, pgAddTokens)
	queueSessions(b, r)
	queueHodls(b, r)
	queueProofs(b, r)
	queueRecords(b, r)
	queueTiles(b, r)
	queueOnce(b, r)
}

// tokensOf parts the tokens that were there from those that are new.
func tokensOf(r *rows) (saved, added columns) {
	saved, added = newColumns(6), newColumns(20)
	for k, x := range r.tokens {
		switch {
		case x == nil || !x.dirty:
		case x.fresh:
			added.add(string(k.ws), string(k.mode), string(k.id), string(x.Session), string(x.User), string(x.Key), x.Audience, joinScopes(x.Scopes), x.RedactionPolicy,
				int64(x.MaxHydrations), int64(x.Hydrations), micros(x.IssuedAt), micros(x.ExpiresAt), micros(x.RevokedAt), x.RevokeReason,
				string(x.Parent), joinIDs(x.Ancestors), int64(x.Drawn), x.seq, x.Link)
		default:
			saved.add(string(k.ws), x.ctid, int64(x.Hydrations), int64(x.Drawn), micros(x.RevokedAt), x.RevokeReason)
		}
	}
	return saved, added
}

func queueSessions(b *pgx.Batch, r *rows) {
	saved, added, versions := newColumns(11), newColumns(11), newColumns(7)
	var fresh []sessionKey
	for k, x := range r.sessions {
		switch {
		case x == nil || !x.dirty:
		case x.fresh:
			fresh = append(fresh, k)
		default:
			saved.add(string(k.ws), string(k.mode), string(k.id), x.head, string(x.state), x.fingerprint, micros(x.capturedAt), micros(x.updatedAt), micros(x.hour), int64(x.hydrations), x.byKey)
		}
	}
	// Clients choose these ids. Two servers adding the same ones must meet in the
	// same order, or each waits for the other.
	slices.SortFunc(fresh, sessionKey.compare)
	for _, k := range fresh {
		x := r.sessions[k]
		added.add(string(k.ws), string(k.mode), string(k.id), string(x.member), x.head, string(x.state), x.fingerprint, micros(x.capturedAt), micros(x.createdAt), micros(x.updatedAt), x.byKey)
	}
	for _, v := range r.versions {
		versions.add(string(v.ws), string(v.mode), string(v.id), v.fingerprint, micros(v.capturedAt), v.author, v.body)
	}
	saved.queueTo(b, pgSaveSessions)
	added.queueTo(b, pgAddSessions)
	versions.queueTo(b, pgAddVersions)
}

// queueEnds comes before what is new: see [rows].
func queueEnds(b *pgx.Batch, r *rows) {
	revoked, ended, erased := newColumns(5), newColumns(7), newColumns(3)
	for _, x := range r.revoked {
		revoked.add(string(x.ws), string(x.mode), string(x.id), micros(x.at), x.reason)
	}
	for _, x := range r.ended {
		ended.add(string(x.ws), string(x.mode), string(x.Kind), x.Subject, x.seq, micros(x.at), x.Reason)
	}
	for _, k := range r.erased {
		erased.add(string(k.ws), string(k.mode), string(k.id))
	}
	revoked.queueTo(b, pgRevoke)
	ended.queueTo(b, pgAddEnds)
	erased.queueTo(b, pgDetachHodls)
	erased.queueTo(b, pgEraseVersions)
	erased.queueTo(b, pgEraseSessions)
}

func queueHodls(b *pgx.Batch, r *rows) {
	saved, added, words, tags := newColumns(14), newColumns(16), newColumns(5), newColumns(5)
	for _, k := range r.changedHodls() {
		x := r.hodls[k]
		if x.fresh {
			added.add(string(k.ws), string(k.mode), string(k.member), string(k.id), x.URL, x.Title, x.Note, x.tags, string(x.Source), x.place, x.selection, string(x.SessionID),
				micros(x.CreatedAt), micros(x.UpdatedAt), micros(x.DeletedAt), x.known)
		} else {
			saved.add(string(k.ws), string(k.mode), string(k.member), string(k.id), x.URL, x.Title, x.Note, x.tags, x.place, x.selection, string(x.SessionID),
				micros(x.UpdatedAt), micros(x.DeletedAt), x.known)
		}
		if x.words != nil {
			words.add(string(k.ws), string(k.mode), string(k.member), string(k.id), x.words[0])
		}
	}
	for _, k := range r.countedTags() {
		tags.add(string(k.ws), string(k.mode), string(k.member), k.tag, r.tags[k])
	}
	saved.queueTo(b, pgSaveHodls)
	added.queueTo(b, pgAddHodls)
	words.queueTo(b, pgSaveWords)
	tags.queueTo(b, pgCountTags)
}

func queueRecords(b *pgx.Batch, r *rows) {
	records, events := newColumns(15), newColumns(7)
	for i := range r.records {
		x := &r.records[i]
		records.add(string(x.ws), string(x.mode), x.seq, string(x.record.ID), string(x.record.Kind), string(x.record.User), string(x.record.Session), string(x.record.JTI), x.record.Actor,
			micros(x.record.At), string(x.body), x.commitment[:], x.salt[:], x.detail.Address, x.detail.UserAgent)
	}
	for _, e := range r.events {
		events.add(string(e.Workspace), string(e.ID), string(e.Mode), string(e.Type), string(e.Session), string(e.Token), micros(e.At))
	}
	records.queueTo(b, pgAddRecords)
	events.queueTo(b, pgAddEvents)
}

func queueLoadOnce(b *pgx.Batch, r *rows) {
	if len(r.once) == 0 {
		return
	}
	keys := newColumns(3)
	for k := range r.once {
		keys.add(string(k.ws), string(k.mode), k.name)
	}
	queueLoad(b, keys, pgLoadOnce, r.takeOnce)
}

func queueLoadDataKeys(b *pgx.Batch, r *rows) {
	if len(r.dataKeys) == 0 {
		return
	}
	keys := newColumns(2)
	for _, k := range inOrder(r.dataKeys, dataKeyRef.compare) {
		keys.add(string(k.ws), int64(k.version))
	}
	queueLoad(b, keys, pgLoadDataKeys, r.takeDataKey)
}

// queueOnce comes in the order of the keys: another server may be adding the same.
func queueOnce(b *pgx.Batch, r *rows) {
	if len(r.once) == 0 {
		return
	}
	added := newColumns(6)
	for _, k := range inOrder(r.once, onceKey.compare) {
		if x := r.once[k]; x != nil && x.fresh {
			added.add(string(k.ws), string(k.mode), k.name, x.request[:], x.answer, micros(x.expires))
		}
	}
	added.queueTo(b, pgAddOnce)
}
