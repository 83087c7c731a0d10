package crashtest

import (
	"context"
	"database/sql"
	"encoding/json"
	"net/url"
	"path/filepath"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"hodl"
	"hodl/internal/store"
)

// A snapshot is a workspace as it lies in the database, read past the server.
type snapshot struct {
	logs     map[hodl.Mode]*logState
	tokens   map[hodl.TokenID]*tokenState
	sessions map[hodl.SessionID]*sessionState
	hodls    map[hodl.HodlID]*hodlState
	events   []hodl.Event
}

type logState struct {
	size    int64
	tree    []byte
	records []recordState
	usage   map[string]int64 // by month
}

// A recordState is a row of the log: its columns, and what its body says.
type recordState struct {
	seq              int64
	id               hodl.RecordID
	kind             hodl.RecordKind
	session          hodl.SessionID
	jti              hodl.TokenID
	body             string
	salt, commitment []byte
	said             hodl.Record
}

type tokenState struct {
	mode       hodl.Mode
	session    hodl.SessionID
	hydrations int
	revoked    bool
}

type sessionState struct {
	mode        hodl.Mode
	fingerprint string
	versions    map[string]string // fingerprint → author
}

type hodlState struct {
	mode  hodl.Mode
	title string
}

// openRaw opens the database beside the server. On PostgreSQL it is the owner's
// view, which row-level security binds as well.
func openRaw(t testing.TB, c setup) *sql.DB {
	t.Helper()
	driver, source := "pgx", c.DatabaseAdmin
	if c.Database == "" {
		driver = "sqlite"
		source = (&url.URL{Scheme: "file", Opaque: filepath.Join(c.Data, "hodl.db"), RawQuery: "_pragma=query_only(1)&_pragma=busy_timeout(10000)"}).String()
	}
	db, err := sql.Open(driver, source)
	must(t, err)
	return db
}

// scoped begins a transaction that sees ws.
func scoped(ctx context.Context, t testing.TB, db *sql.DB, c setup, ws hodl.WorkspaceID) *sql.Tx {
	t.Helper()
	options := &sql.TxOptions{}
	if c.Database != "" {
		options.Isolation = sql.LevelRepeatableRead // on SQLite every transaction is
	}
	tx, err := db.BeginTx(ctx, options)
	must(t, err)
	if c.Database != "" {
		_, err := tx.ExecContext(ctx, `select set_config('hodl.workspaces', $1, true)`, string(ws))
		must(t, err)
	}
	return tx
}

// settle puts into the tables what SQLite has only promised, as the next start would.
func settle(ctx context.Context, t testing.TB, c setup) {
	t.Helper()
	if c.Database != "" {
		return
	}
	s, err := store.Open(ctx, store.Options{Dir: c.Data})
	must(t, err)
	must(t, s.Settle(ctx))
	must(t, s.Close())
}

// look reads everything in one transaction. It opens the database anew: a
// connection held across a kill of the server would spare SQLite its recovery.
func look(ctx context.Context, t testing.TB, c setup, ws hodl.WorkspaceID) *snapshot {
	t.Helper()
	settle(ctx, t, c)
	db := openRaw(t, c)
	defer func() { must(t, db.Close()) }()
	tx := scoped(ctx, t, db, c, ws)
	defer tx.Rollback()
	l := &loader{ctx, t, tx, ws, &snapshot{
		map[hodl.Mode]*logState{}, map[hodl.TokenID]*tokenState{}, map[hodl.SessionID]*sessionState{}, map[hodl.HodlID]*hodlState{}, nil,
	}}
	l.logs()
	l.records()
	l.tokens()
	l.sessions()
	l.rest()
	if c.Database == "" {
		l.integrity()
	}
	return l.s
}

type loader struct {
	ctx context.Context
	t   testing.TB
	tx  *sql.Tx
	ws  hodl.WorkspaceID
	s   *snapshot
}

// each runs a query and scans its rows into dest, calling take after each.
func (l *loader) each(query string, take func(), dest ...any) {
	l.t.Helper()
	rows, err := l.tx.QueryContext(l.ctx, query, l.ws)
	must(l.t, err)
	defer rows.Close()
	for rows.Next() {
		must(l.t, rows.Scan(dest...))
		take()
	}
	must(l.t, rows.Err())
}

func (l *loader) logs() {
	var mode hodl.Mode
	var size int64
	var tree []byte
	l.each(`select mode, size, tree from log_heads where workspace = $1`, func() {
		l.s.logs[mode] = &logState{size: size, tree: tree, usage: map[string]int64{}}
		tree = nil
	}, &mode, &size, &tree)
	var month string
	l.each(`select mode, month, hydrations from usage where workspace = $1`, func() {
		l.s.logs[mode].usage[month] = size
	}, &mode, &month, &size)
}

func (l *loader) records() {
	var mode hodl.Mode
	var r recordState
	l.each(`select r.mode, r.seq, r.id, r.kind, r.session, r.jti, r.body, r.commitment, d.salt from access_records r
		left join access_details d on d.workspace = r.workspace and d.mode = r.mode and d.seq = r.seq
		where r.workspace = $1 order by r.mode, r.seq`, func() {
		x := r
		must(l.t, json.Unmarshal([]byte(r.body), &x.said))
		log := l.s.logs[mode]
		log.records = append(log.records, x)
		r.salt, r.commitment = nil, nil
	}, &mode, &r.seq, &r.id, &r.kind, &r.session, &r.jti, &r.body, &r.commitment, &r.salt)
}

func (l *loader) tokens() {
	var id hodl.TokenID
	var x tokenState
	l.each(`select id, mode, session, hydrations, revoked_at > 0 from tokens where workspace = $1`, func() {
		found := x
		l.s.tokens[id] = &found
	}, &id, &x.mode, &x.session, &x.hydrations, &x.revoked)
}

func (l *loader) sessions() {
	var id hodl.SessionID
	var x sessionState
	l.each(`select id, mode, fingerprint from sessions where workspace = $1`, func() {
		found := x
		found.versions = map[string]string{}
		l.s.sessions[id] = &found
	}, &id, &x.mode, &x.fingerprint)
	var author string
	l.each(`select session, fingerprint, author from session_versions where workspace = $1`, func() {
		s := l.s.sessions[id]
		if s == nil {
			l.t.Errorf("a version of %s, which is not there", id)
			return
		}
		s.versions[x.fingerprint] = author
	}, &id, &x.fingerprint, &author)
}

func (l *loader) rest() {
	var id hodl.HodlID
	var h hodlState
	l.each(`select id, mode, title from hodls where workspace = $1`, func() {
		found := h
		l.s.hodls[id] = &found
	}, &id, &h.mode, &h.title)
	var e hodl.Event
	l.each(`select id, type, mode, session, jti from outbox where workspace = $1`, func() {
		l.s.events = append(l.s.events, e)
	}, &e.ID, &e.Type, &e.Mode, &e.Session, &e.Token)
}

func (l *loader) integrity() {
	l.pragma("integrity_check", func(rows *sql.Rows) string {
		var verdict string
		must(l.t, rows.Scan(&verdict))
		return verdict
	})
	l.pragma("foreign_key_check", func(*sql.Rows) string { return "a row without what it names" })
}

// pragma runs a check of SQLite's own; each row of its answer but "ok" is a fault.
func (l *loader) pragma(name string, verdict func(*sql.Rows) string) {
	l.t.Helper()
	rows, err := l.tx.QueryContext(l.ctx, "pragma "+name)
	must(l.t, err)
	defer rows.Close()
	for rows.Next() {
		if v := verdict(rows); v != "ok" {
			l.t.Errorf("pragma %s: %s", name, v)
		}
	}
	must(l.t, rows.Err())
}
