package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the driver; pure Go, so the binary stays static

	"hodl"
)

// sqliteReaders is how many connections read at once; the writer has its own.
const sqliteReaders = 4

// sqlite is the embedded engine. One connection writes, owned by the writer's
// goroutine; the others are read-only. WAL with synchronous=FULL: a commit is on
// the disk before anyone is told of it.
type sqlite struct {
	db    *sql.DB // holds the one writing connection
	conn  *sql.Conn
	reads *sql.DB
	stmts sqliteStatements
}

func openSQLite(ctx context.Context, dir string) (engine, *sql.DB, error) {
	file, err := privateFile(dir)
	if err != nil {
		return nil, nil, err
	}
	db, err := sql.Open("sqlite", sqliteURL(file, "synchronous(FULL)"))
	if err != nil {
		return nil, nil, fmt.Errorf("open %s: %w", file, err)
	}
	db.SetMaxOpenConns(1)
	if err := migrate(ctx, db, "sqlite", nil); err != nil {
		db.Close()
		return nil, nil, fmt.Errorf("open %s: %w", file, err)
	}
	reads, err := sql.Open("sqlite", sqliteURL(file, "query_only(1)"))
	if err != nil {
		db.Close()
		return nil, nil, err
	}
	reads.SetMaxOpenConns(sqliteReaders)
	reads.SetMaxIdleConns(sqliteReaders)
	e := &sqlite{db: db, reads: reads}
	if e.conn, err = db.Conn(ctx); err == nil {
		e.stmts, err = prepareSQLite(ctx, e.conn)
	}
	if err != nil {
		return nil, nil, errors.Join(err, db.Close(), reads.Close())
	}
	return e, reads, nil
}

// privateFile makes the database file before SQLite does: the log and the index
// that SQLite puts beside it take its mode.
func privateFile(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the data folder: %w", err)
	}
	file := filepath.Join(dir, "hodl.db")
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		err = errors.Join(f.Chmod(0o600), f.Close())
	}
	if err != nil {
		return "", fmt.Errorf("make %s private: %w", file, err)
	}
	return file, nil
}

func sqliteURL(file, pragma string) string {
	q := url.Values{"_txlock": {"immediate"}, "_pragma": {
		"busy_timeout(10000)", "journal_mode(WAL)", "foreign_keys(1)", "cache_size(-8192)", "wal_autocheckpoint(4000)", pragma,
	}}
	return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: file}).EscapedPath(), RawQuery: q.Encode()}).String()
}

func (e *sqlite) name() string { return "sqlite" }

func (e *sqlite) close() error {
	e.stmts.close()
	return errors.Join(e.reads.Close(), e.conn.Close(), e.db.Close())
}

func (e *sqlite) view(_ context.Context, _ hodl.WorkspaceID, read func(querier) error) error {
	return read(e.reads)
}

func (e *sqlite) outside(_ context.Context, read func(querier) error) error {
	return lost(read(e.reads))
}

// change waits for its turn with the writer: nobody else may write. The
// transaction is the writer's, not the caller's: were it to end with the caller's
// context, database/sql might close the one connection that writes.
func (e *sqlite) change(ctx context.Context, w *writer, _ hodl.WorkspaceID, run func(*sql.Tx) error) error {
	return w.do(ctx, &write{alone: func(ctx context.Context) error {
		return lost(inTx(ctx, e.conn, run))
	}})
}

// beginner is a *sql.DB or *sql.Conn.
type beginner interface {
	BeginTx(context.Context, *sql.TxOptions) (*sql.Tx, error)
}

// inTx runs a write and commits it if it returns nil.
func inTx(ctx context.Context, db beginner, run func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after a commit it does nothing
	if err := run(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// commit begins and ends its transaction by statements: those of database/sql
// would prepare every other statement anew each time.
func (e *sqlite) commit(ctx context.Context, batch []*write) error {
	r := newRows()
	for _, w := range batch {
		w.need(r)
	}
	t := &sqliteTx{ctx, e.stmts}
	if err := t.exec(sqliteBegin); err != nil {
		return lost(err)
	}
	committed := false
	defer func() {
		if !committed {
			_ = t.exec(sqliteRollback) // it fails when SQLite has done so itself
		}
	}()
	if err := t.load(r); err != nil {
		return lost(err)
	}
	decideAll(r, batch)
	if err := t.save(r); err != nil {
		return lost(err)
	}
	err := t.exec(sqliteCommit)
	committed = err == nil
	return lost(err)
}

// sqliteStatements are the hot statements by their text, prepared once on the
// connection that writes.
type sqliteStatements map[string]*sql.Stmt

func prepareSQLite(ctx context.Context, conn *sql.Conn) (sqliteStatements, error) {
	all := sqliteStatements{}
	texts := sqliteTexts
	for _, l := range []sqliteLoad{sqliteLogs, sqliteUsage, sqliteTokens, sqliteSessions, sqliteHodls} {
		texts = append(texts, l.texts[:]...)
	}
	for _, text := range texts {
		st, err := conn.PrepareContext(ctx, text)
		if err != nil {
			all.close()
			return nil, fmt.Errorf("prepare %q: %w", text, err)
		}
		all[text] = st
	}
	return all, nil
}

func (s sqliteStatements) close() {
	for _, st := range s {
		st.Close()
	}
}

// sqliteTx is one batch's transaction.
type sqliteTx struct {
	ctx   context.Context
	stmts sqliteStatements
}

func (t *sqliteTx) exec(text string, args ...any) error {
	_, err := t.stmts[text].ExecContext(t.ctx, args...)
	return err
}

const (
	sqliteBegin    = `begin immediate`
	sqliteCommit   = `commit`
	sqliteRollback = `rollback`

	sqliteLoadUsage = `select hydrations from usage where workspace = $1 and mode = $2 and month = $3`
	sqliteLoadToken = `select session, member, max_hydrations, hydrations, issued_at, expires_at, revoked_at, revoke_reason from tokens
		where workspace = $1 and mode = $2 and id = $3`
	sqliteLoadSession = `select member, state, fingerprint, captured_at, created_at, updated_at from sessions
		where workspace = $1 and mode = $2 and id = $3`

	sqliteSaveLog     = `update log_heads set size = $3 where workspace = $1 and mode = $2`
	sqliteSaveUsage   = `update usage set hydrations = $4 where workspace = $1 and mode = $2 and month = $3`
	sqliteSaveToken   = `update tokens set hydrations = $4, revoked_at = $5, revoke_reason = $6 where workspace = $1 and mode = $2 and id = $3`
	sqliteSaveSession = `update sessions set head = coalesce($4, head), state = $5, fingerprint = $6, captured_at = $7, updated_at = $8
		where workspace = $1 and mode = $2 and id = $3`

	sqliteSaveHodl = `update hodls set url = $5, title = $6, note = $7, tags = $8, location = $9, selection = $10, session = $11, updated_at = $12, deleted_at = $13
		where workspace = $1 and mode = $2 and member = $3 and id = $4`
	sqliteRevoke        = `update tokens set revoked_at = $4, revoke_reason = $5 where workspace = $1 and mode = $2 and session = $3 and revoked_at = 0`
	sqliteDetachHodls   = `update hodls set session = '' where workspace = $1 and mode = $2 and session = $3 and session <> ''`
	sqliteEraseVersions = `delete from session_versions where workspace = $1 and mode = $2 and session = $3`
	sqliteEraseSession  = `delete from sessions where workspace = $1 and mode = $2 and id = $3`

	sqliteAddUsage = `insert into usage (workspace, mode, month, hydrations) values ($1, $2, $3, $4)`
	sqliteAddToken = `insert into tokens (workspace, mode, id, session, member, api_key, audience, scopes, redaction_policy, max_hydrations, hydrations, issued_at, expires_at, revoked_at, revoke_reason)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`
	sqliteAddSession = `insert into sessions (workspace, mode, id, member, head, state, fingerprint, captured_at, created_at, updated_at)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`
	sqliteAddVersion = `insert into session_versions (workspace, mode, session, fingerprint, captured_at, author, body)
		values ($1, $2, $3, $4, $5, $6, $7) on conflict (workspace, mode, session, fingerprint) do nothing`
	sqliteAddHodl = `insert into hodls (workspace, mode, member, id, url, title, note, tags, source, location, selection, session, created_at, updated_at)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`
	sqliteAddRecord = `insert into access_records (workspace, mode, seq, id, kind, member, session, jti, actor, at, body, commitment)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`
	sqliteAddDetail = `insert into access_details (workspace, mode, seq, salt, address, user_agent) values ($1, $2, $3, $4, $5, $6)`
	sqliteAddEvent  = `insert into outbox (workspace, id, mode, type, session, jti, at) values ($1, $2, $3, $4, $5, $6, $7)`
)

// The rows a batch locks, by key. What a row is made of is what takeLog and the
// like scan.
var (
	sqliteLogs = newSQLiteLoad(2, `select l.workspace, l.mode, l.size, w.plan from log_heads l join workspaces w on w.workspace = l.workspace
		where l.workspace = ? and l.mode = ?`)
	sqliteUsage  = newSQLiteLoad(3, `select workspace, mode, month, hydrations from usage where workspace = ? and mode = ? and month = ?`)
	sqliteTokens = newSQLiteLoad(3, `select workspace, mode, id, session, member, max_hydrations, hydrations, issued_at, expires_at, revoked_at, revoke_reason
		from tokens where workspace = ? and mode = ? and id = ?`)
	sqliteSessions = newSQLiteLoad(3, `select workspace, mode, id, member, state, fingerprint, captured_at, created_at, updated_at
		from sessions where workspace = ? and mode = ? and id = ?`)
	sqliteHodls = newSQLiteLoad(4, `select workspace, mode, member, id, updated_at, deleted_at
		from hodls where workspace = ? and mode = ? and member = ? and id = ?`)
)

var sqliteTexts = []string{
	sqliteBegin, sqliteCommit, sqliteRollback, sqliteSaveHodl, sqliteRevoke, sqliteDetachHodls, sqliteEraseVersions, sqliteEraseSession,
	sqliteSaveLog, sqliteSaveUsage, sqliteSaveToken, sqliteSaveSession,
	sqliteAddUsage, sqliteAddToken, sqliteAddSession, sqliteAddVersion, sqliteAddHodl, sqliteAddRecord, sqliteAddDetail, sqliteAddEvent,
}

// load fills r. The transaction is immediate, so every row read is locked.
func (t *sqliteTx) load(r *rows) error {
	var logs, usage, tokens, sessions, hodls []any
	for k := range r.logs {
		logs = append(logs, string(k.ws), string(k.mode))
	}
	for k := range r.usage {
		usage = append(usage, string(k.ws), string(k.mode), k.month)
	}
	for k := range r.tokens {
		tokens = append(tokens, string(k.ws), string(k.mode), string(k.id))
	}
	for k := range r.sessions {
		sessions = append(sessions, string(k.ws), string(k.mode), string(k.id))
	}
	for k := range r.hodls {
		hodls = append(hodls, string(k.ws), string(k.mode), string(k.member), string(k.id))
	}
	for _, x := range []struct {
		query sqliteLoad
		keys  []any
		take  func(scanner) error
	}{
		{sqliteLogs, logs, r.takeLog}, {sqliteUsage, usage, r.takeUsage}, {sqliteTokens, tokens, r.takeToken},
		{sqliteSessions, sessions, r.takeSession}, {sqliteHodls, hodls, r.takeHodl},
	} {
		if err := t.loadAll(x.query, x.keys, x.take); err != nil {
			return wrap(err, "load")
		}
	}
	return nil
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
	return l
}

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
	rows, err := t.stmts[text].QueryContext(t.ctx, args...)
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
	for _, step := range []func(*rows) error{t.saveEnds, t.saveLogs, t.saveUsage, t.saveTokens, t.saveSessions, t.saveHodls, t.saveRecords} {
		if err := step(r); err != nil {
			return err
		}
	}
	return nil
}

func (t *sqliteTx) saveLogs(r *rows) error {
	for k, l := range r.logs {
		if l != nil && l.dirty {
			if err := t.exec(sqliteSaveLog, k.ws, k.mode, l.size); err != nil {
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
			err = t.exec(sqliteAddUsage, k.ws, k.mode, k.month, u.hydrations)
		default:
			err = t.exec(sqliteSaveUsage, k.ws, k.mode, k.month, u.hydrations)
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
			err = t.exec(sqliteAddToken, k.ws, k.mode, k.id, x.Session, x.User, x.Key, x.Audience, joinScopes(x.Scopes), x.RedactionPolicy,
				x.MaxHydrations, x.Hydrations, micros(x.IssuedAt), micros(x.ExpiresAt), micros(x.RevokedAt), x.RevokeReason)
		default:
			err = t.exec(sqliteSaveToken, k.ws, k.mode, k.id, x.Hydrations, micros(x.RevokedAt), x.RevokeReason)
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
			err = t.exec(sqliteAddSession, k.ws, k.mode, k.id, x.member, x.head, x.state, x.fingerprint, micros(x.capturedAt), micros(x.createdAt), micros(x.updatedAt))
		default:
			err = t.exec(sqliteSaveSession, k.ws, k.mode, k.id, x.head, x.state, x.fingerprint, micros(x.capturedAt), micros(x.updatedAt))
		}
		if err != nil {
			return wrap(err, "save session")
		}
	}
	for _, v := range r.versions {
		if err := t.exec(sqliteAddVersion, v.ws, v.mode, v.id, v.fingerprint, micros(v.capturedAt), v.author, v.body); err != nil {
			return wrap(err, "save session version")
		}
	}
	return nil
}

// saveEnds comes first: see [rows].
func (t *sqliteTx) saveEnds(r *rows) error {
	for _, x := range r.revoked {
		if err := t.exec(sqliteRevoke, x.ws, x.mode, x.id, micros(x.at), x.reason); err != nil {
			return wrap(err, "revoke tokens")
		}
	}
	for _, k := range r.erased {
		for _, text := range []string{sqliteDetachHodls, sqliteEraseVersions, sqliteEraseSession} {
			if err := t.exec(text, k.ws, k.mode, k.id); err != nil {
				return wrap(err, "erase session")
			}
		}
	}
	return nil
}

func (t *sqliteTx) saveHodls(r *rows) error {
	for k, x := range r.hodls {
		if x == nil || !x.dirty {
			continue
		}
		tags, location, err := encodeHodl(&x.Hodl)
		switch {
		case err != nil:
		case x.fresh:
			err = t.exec(sqliteAddHodl, k.ws, k.mode, k.member, k.id, x.URL, x.Title, x.Note, tags, x.Source, location, x.selection, x.SessionID,
				micros(x.CreatedAt), micros(x.UpdatedAt))
		default:
			err = t.exec(sqliteSaveHodl, k.ws, k.mode, k.member, k.id, x.URL, x.Title, x.Note, tags, location, x.selection, x.SessionID,
				micros(x.UpdatedAt), micros(x.deletedAt))
		}
		if err != nil {
			return wrap(err, "save hodl")
		}
	}
	return nil
}

func (t *sqliteTx) saveRecords(r *rows) error {
	for i := range r.records {
		x := &r.records[i]
		if err := t.exec(sqliteAddRecord, x.ws, x.mode, x.seq, x.record.ID, x.record.Kind, x.record.User, x.record.Session, x.record.JTI, x.record.Actor,
			micros(x.record.At), string(x.body), x.commitment[:]); err != nil {
			return wrap(err, "save access record")
		}
		if err := t.exec(sqliteAddDetail, x.ws, x.mode, x.seq, x.salt[:], x.detail.Address, x.detail.UserAgent); err != nil {
			return wrap(err, "save access detail")
		}
	}
	for _, e := range r.events {
		if err := t.exec(sqliteAddEvent, e.Workspace, e.ID, e.Mode, e.Type, e.Session, e.Token, micros(e.At)); err != nil {
			return wrap(err, "save event")
		}
	}
	return nil
}
