package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the drivers the store uses
	_ "modernc.org/sqlite"

	"hodl"
)

func naiveName(engine string) string {
	return fmt.Sprintf("naive: hydrate, %s, 32 callers, a transaction each", engine)
}

func naiveHotName(engine string) string {
	return fmt.Sprintf("naive: hydrate, %s, 32 callers, one workspace", engine)
}

func naiveCaptureName(engine string) string {
	return fmt.Sprintf("naive: capture 2 KB, %s, 32 callers, a transaction each", engine)
}

// naive is how one would write it first: a transaction for each hydration, prepared
// statements one after the other, on the same tables and as durable. SQLite has one
// writing connection, PostgreSQL one for each caller. It is the limit the writer is
// measured against.
type naive struct {
	db       *sql.DB
	scope    bool                 // PostgreSQL wants to know the workspace
	prepared map[string]*sql.Stmt // by text
}

// The statements of a hydration. They write to the other mode's log, for it has no
// tree; the head of one that grows is another.
const (
	takePlace  = `update log_heads set size = size + 1, tree = $3 where workspace = $1 and mode = $2 returning size - 1`
	readState  = `select state, fingerprint from sessions where workspace = $1 and mode = $2 and id = $3`
	useToken   = `update tokens set hydrations = hydrations + 1 where workspace = $1 and mode = $2 and id = $3 and revoked_at = 0 and hydrations < max_hydrations`
	countUse   = `insert into usage (workspace, mode, month, hydrations) values ($1, $2, $3, 1) on conflict (workspace, mode, month) do update set hydrations = usage.hydrations + 1`
	writeEntry = `insert into access_records (workspace, mode, seq, id, kind, member, session, jti, actor, at, body, commitment) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`
	writeWhere = `insert into access_details (workspace, mode, seq, salt, address, user_agent) values ($1, $2, $3, $4, $5, $6)`
)

func newNaive(ctx context.Context, engine string, p *place) (*naive, error) {
	db, err := openNaive(engine, p)
	if err != nil {
		return nil, err
	}
	n := &naive{db, engine == "PostgreSQL", map[string]*sql.Stmt{}}
	return n, n.prepare(ctx, takePlace, readState, useToken, countUse, writeEntry, writeWhere)
}

func openNaive(engine string, p *place) (*sql.DB, error) {
	if engine == "PostgreSQL" {
		db, err := sql.Open("pgx", p.options.Database)
		if err != nil {
			return nil, err
		}
		db.SetMaxOpenConns(32)
		db.SetMaxIdleConns(32)
		return db, nil
	}
	q := url.Values{"_txlock": {"immediate"}, "_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "cache_size(-8192)"}}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(p.options.Dir, "hodl.db")+"?"+q.Encode())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// prepare prepares statements, before a transaction holds the one connection.
func (n *naive) prepare(ctx context.Context, texts ...string) error {
	for _, text := range texts {
		s, err := n.db.PrepareContext(ctx, text) //nolint:sqlclosecheck // it is closed with the database
		if err != nil {
			return err
		}
		n.prepared[text] = s
	}
	return nil
}

func (n *naive) close() { n.db.Close() }

func (n *naive) tx(ctx context.Context, ws hodl.WorkspaceID, run func(*sql.Tx) error) error {
	tx, err := n.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after a commit it does nothing
	if n.scope {
		if _, err := tx.ExecContext(ctx, `select set_config('hodl.workspaces', $1, true)`, string(ws)); err != nil {
			return err
		}
	}
	if err := run(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// hydrate takes a use of r's token and writes r down, as body.
//
//nolint:sqlclosecheck // the end of a transaction closes its statements
func (n *naive) hydrate(ctx context.Context, r *hodl.Record, body string) error {
	return n.tx(ctx, r.Workspace, func(tx *sql.Tx) error {
		var seq int64
		if err := tx.StmtContext(ctx, n.prepared[takePlace]).QueryRowContext(ctx, r.Workspace, hodl.Sandbox, []byte(r.ID)).Scan(&seq); err != nil {
			return err
		}
		var state, fingerprint string
		if err := tx.StmtContext(ctx, n.prepared[readState]).QueryRowContext(ctx, r.Workspace, r.Mode, r.Session).Scan(&state, &fingerprint); err != nil {
			return err
		}
		for _, x := range []struct {
			text string
			args []any
		}{
			{useToken, []any{r.Workspace, r.Mode, r.JTI}},
			{countUse, []any{r.Workspace, r.Mode, hodl.Month(r.At)}},
			{writeEntry, []any{r.Workspace, hodl.Sandbox, seq, r.ID, r.Kind, r.User, r.Session, r.JTI, r.Actor, r.At.UnixMicro(), body, recordSum}},
			{writeWhere, []any{r.Workspace, hodl.Sandbox, seq, recordSum, "127.0.0.1", "bench"}},
		} {
			done, err := tx.StmtContext(ctx, n.prepared[x.text]).ExecContext(ctx, x.args...)
			if err != nil {
				return err
			}
			if n, err := done.RowsAffected(); err != nil || n != 1 {
				return errors.Join(err, fmt.Errorf("%s: %d rows", x.text, n))
			}
		}
		return nil
	})
}

// What a record's body and commitment weigh; what they say does not matter here.
var (
	recordText = fmt.Sprintf("{%0600d}", 0)
	recordSum  = make([]byte, 32)
)

func (n *naive) capture(ctx context.Context, w *workshop, t *hodl.Token) error {
	id, now := w.NewID("ses"), time.Now().UnixMicro()
	return n.tx(ctx, t.Workspace, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `insert into sessions (workspace, mode, id, member, head, state, fingerprint, captured_at, created_at, updated_at) values ($1, $2, $3, $4, $5, 'held', $6, $7, $7, $7)`,
			t.Workspace, t.Mode, id, t.User, bodyBytes[:180], "f"+id, now); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `insert into session_versions (workspace, mode, session, fingerprint, captured_at, author, body) values ($1, $2, $3, $4, $5, $6, $7)`,
			t.Workspace, t.Mode, id, "f"+id, now, t.User, bodyBytes); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `insert into outbox (workspace, id, mode, type, session, jti, at) values ($1, $2, $3, 'session.held', $4, '', $5)`, t.Workspace, w.NewID("evt"), t.Mode, id, now)
		return err
	})
}

var bodyBytes = make([]byte, 2600) // a 2 KB session, encoded and sealed
