package store_test

import (
	"context"
	"os"
	"path/filepath"
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
