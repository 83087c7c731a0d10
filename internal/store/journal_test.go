package store_test

import (
	"context"
	"database/sql"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hodl"
	"hodl/internal/store"
)

// promised hydrates until a copy of the database, made while its server runs, holds
// what is only promised: what a crash at that moment leaves. It returns the copy and
// how often it was hydrated.
func promised(t *testing.T) (copied store.Options, x *bench, token hodl.Token, hydrated int) {
	t.Helper()
	db := newSQLite(t)
	x = open(t, db.Options)
	token = x.manyTokens(t, 1, 1)[0]
	copied = db.Options
	hydrated = x.promising(t, token, func() bool {
		copied.Dir = copyOf(t, db.Options.Dir)
		return count(t, copied.Dir, "journal") > 0
	})
	return copied, x, token, hydrated
}

// promising hydrates until look, which is called while the writer is held, has seen
// what is only promised. It returns how often it was hydrated.
func (x *bench) promising(t *testing.T, token hodl.Token, look func() bool) (hydrated int) {
	t.Helper()
	for seen := false; !seen; hydrated++ {
		must(t, x.hydrateFull(token))
		release := x.Hold()
		func() {
			defer release()
			seen = look()
		}()
	}
	return hydrated
}

func copyOf(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	for _, name := range []string{"hodl.db", "hodl.db-wal"} {
		from, err := os.Open(filepath.Join(dir, name))
		must(t, err)
		into, err := os.Create(filepath.Join(to, name))
		must(t, err)
		_, err = io.Copy(into, from)
		must(t, err)
		must(t, from.Close())
		must(t, into.Close())
	}
	return to
}

func raw(t *testing.T, dir string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "hodl.db")+"?_pragma=busy_timeout(10000)")
	must(t, err)
	return db
}

func count(t *testing.T, dir, table string) (n int) {
	t.Helper()
	db := raw(t, dir)
	defer db.Close()
	must(t, db.QueryRow(`select count(*) from `+table).Scan(&n))
	return n
}

// What was promised when a server died is kept by the next.
func TestPromisesOutliveAServer(t *testing.T) {
	o, x, token, hydrated := promised(t)
	next, err := store.Open(t.Context(), o)
	must(t, err)
	defer next.Close()
	if n := count(t, o.Dir, "journal"); n != 0 {
		t.Errorf("%d promises are left", n)
	}
	for name, s := range map[string]*store.Store{"the server": x.Store, "the next": next} {
		a, err := s.Admission(t.Context(), store.TokenUse{Workspace: token.Workspace, Mode: hodl.Live, Token: token.ID, Session: token.Session, At: x.Now()})
		must(t, err)
		if a.Token.Hydrations != hydrated || a.Used != int64(hydrated) || a.Session.State != hodl.HandedOff {
			t.Errorf("%s: %d hydrations, %d of the month, %s; want %d of each", name, a.Token.Hydrations, a.Used, a.Session.State, hydrated)
		}
		b := &bench{s, token.Workspace, token.User}
		if n := b.records(t); n != hydrated+1 { // and the mint
			t.Errorf("%s: %d records", name, n)
		}
	}
}

// A journal that was damaged, or changed past hodl, is not what a server goes on from.
func TestDamagedJournals(t *testing.T) {
	for name, damage := range map[string]string{
		"not JSON":         `replace(entry, '{', '[')`,
		"no record":        `'{}'`,
		"another place":    `replace(entry, '"from":', '"from":1')`,
		"another sequence": `replace(entry, '\"seq\":', '\"seq\":1')`,
		"a short salt":     `replace(entry, '"salt":"', '"salt":"","was":"')`,
		"no record inside": `replace(entry, '"body":"', '"body":"x')`,
	} {
		t.Run(name, func(t *testing.T) {
			o, _, token, _ := promised(t)
			db := raw(t, o.Dir)
			if _, err := db.Exec(`update journal set entry = ` + damage); err == nil {
				t.Error("a promise may be changed")
			}
			_, err := db.Exec(`drop trigger journal_no_update`)
			must(t, err)
			_, err = db.Exec(`update journal set entry = ` + damage)
			must(t, err)
			must(t, db.Close())
			refusesToOpen(t, o, "journal", string(token.Workspace), "restore the last backup")
		})
	}
}

func refusesToOpen(t *testing.T, o store.Options, words ...string) {
	t.Helper()
	s, err := store.Open(t.Context(), o)
	if err == nil {
		s.Close()
		t.Fatal("it was taken")
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%v does not tell of %q", err, word)
		}
	}
}

// Nor does a server go on from a head that was damaged before its promises were kept.
func TestPromisesToADamagedLog(t *testing.T) {
	o, _, token, _ := promised(t)
	db := raw(t, o.Dir)
	_, err := db.Exec(`update log_heads set tree = x'00' where size > 0`)
	must(t, err)
	must(t, db.Close())
	refusesToOpen(t, o, string(token.Workspace), "damaged", "hodl doctor", "restore the last backup")
}

// When nobody writes, promises are kept without being asked for.
func TestPromisesAreKeptInTime(t *testing.T) {
	db := newSQLite(t)
	x := open(t, db.Options)
	token := x.manyTokens(t, 1, 1)[0]
	must(t, x.hydrateFull(token))
	for end := time.Now().Add(10 * time.Second); count(t, db.Options.Dir, "journal") > 0; {
		if time.Now().After(end) {
			t.Fatal("still only promised")
		}
	}
	if n := count(t, db.Options.Dir, "access_records"); n != 2 {
		t.Errorf("%d records in the table", n)
	}
}

// A server that cannot commit forgets what it remembers, and goes on from the disk.
func TestAFailedBatchForgetsNothing(t *testing.T) {
	db := newSQLite(t)
	x := open(t, db.Options)
	token := x.manyTokens(t, 1, 1)[0]
	const rounds = 20
	for range rounds {
		must(t, x.hydrateFull(token))
		rec := x.record()
		rec.Workspace = token.Workspace
		if err := x.AppendTwice(context.Background(), rec); err == nil {
			t.Fatal("a record is in two places")
		}
	}
	b := &bench{x.Store, token.Workspace, token.User}
	if n := b.records(t); n != rounds+1 {
		t.Errorf("%d records, want %d", n, rounds+1)
	}
}

// erase has somebody else lead the workspace of a token, and erases whose it is.
func (b *bench) erase(t *testing.T, k hodl.Token) {
	t.Helper()
	if _, err := b.Member(t.Context(), k.Workspace, "usr_next"); hodl.CodeOf(err) == hodl.NotFound {
		must(t, b.AddMember(t.Context(), k.Workspace, "usr_next", "Next", hodl.Admin))
	}
	_, err := b.ChangeMember(t.Context(), k.Workspace, k.User, func(m *hodl.Membership) error { m.RemovedAt = b.Now(); return nil })
	must(t, err)
	_, err = b.EraseUser(t.Context(), store.Erasure{Workspace: k.Workspace, User: k.User, Record: func(m hodl.Mode) *hodl.Record {
		rec := b.record()
		rec.Workspace, rec.Mode, rec.Kind = k.Workspace, m, hodl.KindErased
		return rec
	}})
	must(t, err)
}

// A rare write of one process goes on from what another has only promised.
func TestAChangeKeepsThePromisesOfOthers(t *testing.T) {
	db := newSQLite(t)
	x := open(t, db.Options)
	token := x.manyTokens(t, 1, 1)[0]
	other, err := store.Open(t.Context(), db.Options)
	must(t, err)
	defer other.Close()
	hydrated := x.promising(t, token, func() bool {
		if count(t, db.Options.Dir, "journal") == 0 {
			return false
		}
		(&bench{other, x.ws, x.user}).erase(t, token)
		return true
	})
	must(t, x.Settle(t.Context()))
	if n := x.records(t); n != hydrated+2 { // and the mint, and the erasure
		t.Errorf("%d records, want %d", n, hydrated+2)
	}
}

// What is personal in a promise goes with the rest, though it has been kept and others
// in the journal have not.
func TestAnErasureTakesPromises(t *testing.T) {
	db := newSQLite(t)
	x := open(t, db.Options)
	tokens := x.manyTokens(t, 2, 2)
	must(t, x.hydrateFull(tokens[0]))
	must(t, x.hydrateFull(tokens[1]))
	x.erase(t, tokens[1])
	if n := count(t, db.Options.Dir, "journal where workspace = '"+string(tokens[1].Workspace)+"'"); n != 0 {
		t.Errorf("%d promises are left", n)
	}
}

// A disk that is full at any point of a batch costs those who are told so, and nobody
// else: what was acknowledged is there, and nothing else is counted.
func TestAFullDisk(t *testing.T) {
	db := newSQLite(t)
	x := open(t, db.Options)
	const callers, each = 12, 10
	tokens := x.manyTokens(t, callers, 4)
	var hydrated [callers]int // each its own token
	refused := 0
	for round := range 8 {
		must(t, x.Bound(t.Context(), 5*round))
		var wg sync.WaitGroup
		for c := range callers {
			wg.Go(func() {
				for range each {
					if err := x.hydrateFull(tokens[c]); err == nil {
						hydrated[c]++
					} else if hodl.CodeOf(err) != hodl.Unavailable {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		must(t, x.Bound(t.Context(), 1<<20))
	}
	records := map[hodl.WorkspaceID]int{}
	for c, k := range tokens {
		a, err := x.Admission(t.Context(), store.TokenUse{Workspace: k.Workspace, Mode: hodl.Live, Token: k.ID, Session: k.Session, At: x.Now()})
		must(t, err)
		if a.Token.Hydrations != hydrated[c] {
			t.Errorf("%d hydrations, %d were acknowledged", a.Token.Hydrations, hydrated[c])
		}
		records[k.Workspace] += 1 + hydrated[c] // and the mint
		refused += 8*each - hydrated[c]
	}
	for ws, want := range records {
		if got := (&bench{x.Store, ws, x.user}).records(t); got != want {
			t.Errorf("%d records, want %d", got, want)
		}
	}
	if refused == 0 || refused == 8*callers*each {
		t.Errorf("%d were refused", refused)
	}
}
