package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"hodl/internal/store"
)

func (e *Examination) sqlite(ctx context.Context, s *store.Snapshot) {
	e.Progress("reading the database file", 0, 0)
	state, err := s.SQLiteState(ctx)
	if err != nil {
		e.broken("database", err)
		return
	}
	f := &faults{}
	for _, fault := range state.Faults {
		f.add("%s", fault)
	}
	if state.Journal != "wal" {
		f.add("its journal is %s, not wal", state.Journal)
	}
	e.verdict("database", f, "SQLite: every page and every reference is whole", "restore the last backup with hodl restore, and look at the disk")
	guards, err := s.SQLiteGuards(ctx)
	e.guards(guards, err)
}

func (e *Examination) guards(n int, err error) {
	switch {
	case err != nil:
		e.broken("guards", err)
	case n < store.RecordGuards:
		e.fail("guards", fmt.Sprintf("%d of the %d triggers that keep access records as they are, are there", n, store.RecordGuards), "somebody removed them: find out who and why, and restore the last backup from before")
	default:
		e.ok("guards", "access records can be neither changed nor deleted")
	}
}

// skewMost is how far two clocks may be apart: what the checks of tokens allow.
const skewMost = 30 * time.Second

func (e *Examination) postgres(ctx context.Context, s *store.Snapshot) {
	const oldest = 150000
	before := e.Now()
	p, err := s.PostgresState(ctx, e.Options)
	if err != nil {
		e.broken("database", err)
		return
	}
	f := &faults{}
	if p.Version < oldest {
		f.add("version %d is older than 15", p.Version/10000)
	}
	if p.Fsync != "on" {
		f.add("fsync is %s", p.Fsync)
	}
	if p.FullPages != "on" {
		f.add("full_page_writes is %s", p.FullPages)
	}
	e.verdict("database", f, fmt.Sprintf("PostgreSQL %d, fsync on; hodl sets synchronous_commit itself", p.Version/10000), "what was acknowledged may be lost with the power: set it in postgresql.conf")
	e.clock(before, p.Now)
	e.role(p)
	f = &faults{}
	for _, table := range p.Open {
		f.add("%s", table)
	}
	e.verdict("row-level security", f, "forced on every table of workspaces", "these tables are open across workspaces: alter table … force row level security, and see who changed it")
	e.guards(p.Guards, nil)
}

func (e *Examination) role(p *store.PostgresState) {
	switch {
	case p.Bypasses:
		e.fail("role", p.Role+" bypasses row-level security", "name an ordinary role in --database: alter role "+p.Role+" nosuperuser nobypassrls")
	case p.Owns:
		e.warn("role", p.Role+" owns the tables, so the server could change them", "make a role of its own for the server, and name the owner in --database-admin only")
	case p.MayRewrite:
		e.fail("role", p.Role+" may change access records", "revoke update, delete, truncate on access_records, access_details from "+p.Role)
	default:
		e.ok("role", p.Role+" owns nothing and may not change access records")
	}
}

// clock compares this machine's clock with another's, read since before.
func (e *Examination) clock(before, theirs time.Time) {
	skew := theirs.Sub(before.Add(e.Now().Sub(before) / 2)).Round(time.Millisecond)
	if skew.Abs() > skewMost {
		e.fail("clock", "this machine and the database's are "+skew.Abs().String()+" apart", "set both by NTP: tokens would be refused as too old or too new")
		return
	}
	e.ok("clock", "within "+strings.TrimPrefix(max(skew.Abs(), time.Millisecond).String(), "-")+" of the database's")
}
