package main

import (
	"context"
	"database/sql"
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

// naive is how one would write it first: a transaction for each hydration, the
// statements one after the other, on the same tables and as durable. SQLite has one
// writing connection, PostgreSQL one for each caller. It is the limit the writer is
// measured against.
type naive struct {
	db    *sql.DB
	scope bool // PostgreSQL wants to know the workspace
}

func newNaive(_ context.Context, engine string, p *place) (*naive, error) {
	if engine == "PostgreSQL" {
		db, err := sql.Open("pgx", p.options.Database)
		if err != nil {
			return nil, err
		}
		db.SetMaxOpenConns(32)
		db.SetMaxIdleConns(32)
		return &naive{db, true}, nil
	}
	q := url.Values{"_txlock": {"immediate"}, "_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "cache_size(-8192)"}}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(p.options.Dir, "hodl.db")+"?"+q.Encode())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return &naive{db, false}, nil
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

func (n *naive) hydrate(ctx context.Context, w *workshop, t *hodl.Token) error {
	r := w.record(t, hodl.KindHydrate)
	return n.tx(ctx, t.Workspace, func(tx *sql.Tx) error {
		var seq int64
		// In the other mode's log, for it has no tree; the head of one that grows is another.
		if err := tx.QueryRowContext(ctx, `update log_heads set size = size + 1, tree = $3 where workspace = $1 and mode = $2 returning size - 1`, t.Workspace, hodl.Sandbox, []byte(r.ID)).Scan(&seq); err != nil {
			return err
		}
		var state, fingerprint string
		if err := tx.QueryRowContext(ctx, `select state, fingerprint from sessions where workspace = $1 and mode = $2 and id = $3`, t.Workspace, t.Mode, t.Session).Scan(&state, &fingerprint); err != nil {
			return err
		}
		for _, x := range []struct {
			text string
			args []any
		}{
			{`update tokens set hydrations = hydrations + 1 where workspace = $1 and mode = $2 and id = $3 and revoked_at = 0 and hydrations < max_hydrations`, []any{t.Workspace, t.Mode, t.ID}},
			{`insert into usage (workspace, mode, month, hydrations) values ($1, $2, $3, 1) on conflict (workspace, mode, month) do update set hydrations = usage.hydrations + 1`, []any{t.Workspace, t.Mode, hodl.Month(r.At)}},
			{
				`insert into access_records (workspace, mode, seq, id, kind, member, session, jti, actor, at, body, commitment) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
				[]any{t.Workspace, hodl.Sandbox, seq, r.ID, r.Kind, t.User, t.Session, t.ID, r.Actor, r.At.UnixMicro(), recordText, recordSum},
			},
			{`insert into access_details (workspace, mode, seq, salt, address, user_agent) values ($1, $2, $3, $4, $5, $6)`, []any{t.Workspace, hodl.Sandbox, seq, recordSum, "127.0.0.1", "bench"}},
		} {
			if _, err := tx.ExecContext(ctx, x.text, x.args...); err != nil {
				return err
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
