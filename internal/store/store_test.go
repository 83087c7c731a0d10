package store_test

import (
	"database/sql"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hodl/internal/pgtest"
	"hodl/internal/seal"
	"hodl/internal/store"
	"hodl/internal/store/storetest"
)

// engines is every engine there is. PostgreSQL without a server fails its tests;
// see [pgtest.Open].
var engines = []struct {
	name   string
	create func(t testing.TB) storetest.Database
}{
	{"sqlite", newSQLite},
	{"postgres", newPostgres},
}

func TestSQLite(t *testing.T) { storetest.Run(t, newSQLite) }

func TestPostgres(t *testing.T) {
	m := &mutants{seen: map[string]bool{}, missed: map[mutant]int{}, telling: map[mutant]bool{}, inside: map[string]bool{}}
	t.Run("suite", func(t *testing.T) { storetest.Run(t, m.watch) })
	if !t.Failed() && !strings.Contains(flag.Lookup("test.run").Value.String(), "/") {
		m.settled(t)
	}
}

func newSQLite(t testing.TB) storetest.Database {
	dir := t.TempDir()
	raw, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "hodl.db")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { raw.Close() })
	return storetest.Database{
		Options: store.Options{Dir: dir, Master: newMaster(t)},
		Raw:     raw,
		Files: func() []string {
			files, err := filepath.Glob(filepath.Join(dir, "hodl.db*"))
			if err != nil || len(files) == 0 {
				t.Fatalf("no database files in %s: %v", dir, err)
			}
			return files
		},
	}
}

func newPostgres(t testing.TB) storetest.Database {
	admin, app := pgtest.Open(t)
	raw, err := sql.Open("pgx", superuser(t, admin))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { raw.Close() })
	return storetest.Database{Options: store.Options{Database: app, Admin: admin, Master: newMaster(t)}, Raw: raw}
}

// superuser is the address of the same database for the server's superuser, whom
// row-level security does not bind.
func superuser(t testing.TB, address string) string {
	t.Helper()
	u, err := pgtest.Superuser(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

var master struct {
	sync.Once
	*seal.Master
	err error
}

// newMaster returns the one master key of all tests: what matters is that two
// stores over one database have the same.
func newMaster(t testing.TB) *seal.Master {
	t.Helper()
	master.Do(func() {
		dir, err := os.MkdirTemp("", "hodl-master")
		if err != nil {
			master.err = err
			return
		}
		defer os.RemoveAll(dir)
		master.Master, master.err = seal.CreateMaster(filepath.Join(dir, "master.key"))
	})
	if master.err != nil {
		t.Fatal(master.err)
	}
	return master.Master
}
