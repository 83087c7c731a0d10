package store_test

import (
	"context"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"hodl"
	"hodl/internal/store"
)

func TestSQLiteFilesArePrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	b := open(t, store.Options{Dir: dir, Master: newMaster(t)})
	must(t, b.append(t.Context()))
	files, err := filepath.Glob(filepath.Join(dir, "hodl.db*"))
	must(t, err)
	if len(files) != 3 {
		t.Errorf("files %v, want the database, its log and its index", files)
	}
	for _, file := range files {
		info, err := os.Stat(file)
		must(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", file, info.Mode())
		}
	}
	info, err := os.Stat(dir)
	must(t, err)
	if info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has mode %v", info.Mode())
	}
}

// The command line opens the folder of a running server: both write, nothing is
// lost.
func TestTwoHandlesOnOneFolder(t *testing.T) {
	db := newSQLite(t)
	server := open(t, db.Options)
	s, err := store.Open(t.Context(), db.Options)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	command := &bench{s, server.ws, server.user}
	const callers, each = 6, 25
	var wg sync.WaitGroup
	for range callers {
		for _, b := range []*bench{server, command} {
			wg.Go(func() {
				for range each {
					if err := b.append(context.Background()); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Go(func() {
		for range each {
			name := command.NewID("w")
			ws := hodl.Workspace{ID: hodl.WorkspaceID(command.NewID("wks")), Name: name, Plan: hodl.Scale, CreatedAt: command.Now()}
			if err := command.CreateWorkspace(context.Background(), ws, "usr_1"); err != nil {
				t.Error(err)
			}
			if _, err := server.WorkspaceNamed(context.Background(), name); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	must(t, server.Settle(context.Background()))
	for _, b := range []*bench{server, command} {
		if got, want := b.records(t), 2*callers*each; got != want {
			t.Errorf("%d records, want %d", got, want)
		}
	}
}

// The writer's one connection survives a rare write that fails half-way, at the
// database's or at its caller's word.
func TestRareWriteFails(t *testing.T) {
	b := open(t, newSQLite(t).Options)
	ctx, cancel := context.WithCancel(t.Context())
	_, _, err := b.Install(ctx, store.Installation{Issuer: "i", LogOrigin: "o"})
	must(t, err)
	err = b.RotateSigningKeys(ctx, func([]store.SigningKey) (store.KeyChange, error) {
		cancel()
		return store.KeyChange{Add: &store.SigningKey{KID: "k", Public: []byte("p"), Seed: []byte("s")}}, nil
	})
	if err == nil {
		t.Error("a rare write went through for a caller who had left")
	}
	must(t, b.append(t.Context()))
	must(t, b.SetPlan(t.Context(), b.ws, hodl.Scale))
}

// The log begins anew while the writer goes on, and never holds much more than a
// checkpoint's worth of pages.
func TestLogIsCopiedBesideTheWriter(t *testing.T) {
	db := newSQLite(t)
	b := open(t, db.Options)
	log := filepath.Join(db.Options.Dir, "hodl.db-wal")
	first := logRound(t, log)
	for i := range 400 { // about 33 pages each
		w := b.session(hodl.SessionID("ses_" + strconv.Itoa(i)))
		w.Body.Content.Tabs = []hodl.Tab{{URL: "https://example.com/", SelectedText: strings.Repeat("context ", 16<<10)}}
		must(t, b.PutSession(t.Context(), w))
		if logRound(t, log) != first {
			return
		}
	}
	t.Error("13,000 pages later the log has not begun anew")
}

// logRound is the checkpoint sequence number in the head of a log: byte 12 of SQLite's
// write-ahead log format.
func logRound(t *testing.T, file string) uint32 {
	t.Helper()
	f, err := os.Open(file)
	must(t, err)
	defer f.Close()
	var head [16]byte
	_, err = io.ReadFull(f, head[:])
	must(t, err)
	return binary.BigEndian.Uint32(head[12:])
}
