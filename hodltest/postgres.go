package hodltest

import (
	"path/filepath"
	"testing"

	"hodl/internal/pgtest"
	"hodl/internal/serve"
)

// Postgres makes the server work on a PostgreSQL database of its own, at the server
// that HODL_TEST_POSTGRES names. Two servers given the same Option work on the same
// database, as two nodes do.
func Postgres(t testing.TB) Option {
	t.Helper()
	admin, app := pgtest.Open(t)
	master := filepath.Join(t.TempDir(), "master.key")
	if err := serve.CreateMasterKey(master); err != nil {
		t.Fatal(err)
	}
	return func(s *setting) {
		s.serve.Database, s.serve.DatabaseAdmin, s.serve.MasterKeyFile = app, admin, master
	}
}
