package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5"

	"hodl"
	"hodl/internal/pgtest"
	"hodl/internal/seal"
	"hodl/internal/store"
)

// engineNames are the engines measured, side by side.
var engineNames = []string{"SQLite", "PostgreSQL"}

// A place is an empty database and its master key.
type place struct {
	options store.Options
	keyFile string
	drop    func()
}

// newPlace makes an empty database of an engine below dir.
func newPlace(engine, dir string) (*place, error) {
	dir, err := os.MkdirTemp(dir, "data-")
	if err != nil {
		return nil, err
	}
	p := &place{keyFile: filepath.Join(dir, "master.key"), drop: func() {}}
	if p.options.Master, err = seal.CreateMaster(p.keyFile); err != nil {
		return nil, err
	}
	p.options.Dir = dir
	if engine == "SQLite" {
		p.drop = func() { _ = os.RemoveAll(dir) } // what stays goes with the run
		return p, nil
	}
	if !pgtest.Available() {
		return nil, fmt.Errorf("PostgreSQL is missing: run `make bench`")
	}
	d, err := pgtest.Create()
	if err != nil {
		return nil, err
	}
	p.drop = func() { _ = d.Drop() } // the server goes away with the run
	p.options.Database, p.options.Admin = d.AppURL, d.AdminURL
	return p, nil
}

// A workshop is a store with workspaces, and in each a session and a token that
// never runs out.
type workshop struct {
	*store.Store
	tokens []hodl.Token
	body   store.VersionBody
}

func newWorkshop(ctx context.Context, p *place, workspaces int) (*workshop, error) {
	s, err := store.Open(ctx, p.options)
	if err != nil {
		return nil, err
	}
	w := &workshop{Store: s, body: store.VersionBody{Salt: make([]byte, 16), Content: content(2 << 10)}}
	for i := range workspaces {
		if err := w.furnish(ctx, fmt.Sprintf("bench %d", i)); err != nil {
			return nil, err
		}
	}
	return w, p.analyze(ctx)
}

// analyze tells PostgreSQL what is in the tables, as its autovacuum would a minute
// later.
func (p *place) analyze(ctx context.Context) error {
	if p.options.Admin == "" {
		return nil
	}
	conn, err := pgx.Connect(ctx, p.options.Admin)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, "analyze")
	return err
}

func (w *workshop) furnish(ctx context.Context, name string) error {
	now := w.Now()
	ws := hodl.Workspace{ID: hodl.WorkspaceID(w.NewID("wks")), Name: name, Plan: hodl.Enterprise, CreatedAt: now}
	user := hodl.UserID(w.NewID("usr"))
	if err := w.CreateWorkspace(ctx, ws, user); err != nil {
		return err
	}
	t := hodl.Token{
		ID: hodl.TokenID(w.NewID("rt")), Workspace: ws.ID, Mode: hodl.Live, Session: hodl.SessionID(w.NewID("ses")), User: user,
		Audience: "sdk.unihodl.app", Scopes: []hodl.Scope{hodl.ReadContext}, RedactionPolicy: "off", MaxHydrations: 1 << 40, IssuedAt: now, ExpiresAt: now.Add(hodl.MaxTTL),
	}
	if err := w.put(ctx, t.Workspace, user, t.Session); err != nil {
		return err
	}
	w.tokens = append(w.tokens, t)
	return w.Mint(ctx, t, w.record(&t, hodl.KindMint), hodl.RecordDetail{})
}

func (w *workshop) put(ctx context.Context, ws hodl.WorkspaceID, user hodl.UserID, id hodl.SessionID) error {
	return w.PutSession(ctx, store.SessionWrite{
		Workspace: ws, Mode: hodl.Live, User: user, ID: id, Op: hodl.OpCapture, Body: w.body,
		Fingerprint: "f" + string(id), At: w.Now(), Author: string(user),
	})
}

func (w *workshop) record(t *hodl.Token, kind hodl.RecordKind) *hodl.Record {
	r := &hodl.Record{
		ID: hodl.RecordID(w.NewID("acr")), Kind: kind, At: w.Now(), Actor: t.Audience, Bearer: true, JTI: t.ID,
		Workspace: t.Workspace, Mode: t.Mode, User: t.User, Session: t.Session, Scopes: t.Scopes,
	}
	if kind == hodl.KindHydrate {
		r.Fingerprint = "f" + string(t.Session)
		r.Policies = []hodl.PolicyUse{{Name: "off", Version: 1}}
		r.Returned = &hodl.Returned{Bytes: 11_000, Format: "json", SHA256: fmt.Sprintf("%064x", len(r.ID))}
	}
	return r
}

// hydrate is the durable half of a hydration: token, quota, record, event.
func (w *workshop) hydrate(ctx context.Context, t *hodl.Token) error {
	u := store.TokenUse{Workspace: t.Workspace, Mode: t.Mode, Token: t.ID, Session: t.Session, At: w.Now()}
	return w.Hydrate(ctx, u, func(a store.Admission) error {
		if a.Token == nil || a.Session == nil || a.Token.Hydrations >= a.Token.MaxHydrations {
			return hodl.Errorf(hodl.HydrationsExhausted, "used up")
		}
		return nil
	}, w.record(t, hodl.KindHydrate), hodl.RecordDetail{Address: "127.0.0.1", UserAgent: "bench"})
}
