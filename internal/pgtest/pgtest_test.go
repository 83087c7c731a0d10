package pgtest_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"hodl/internal/pgtest"
)

func TestOpenRoles(t *testing.T) {
	adminURL, appURL := pgtest.Open(t)
	type facts struct {
		Login, Super, BypassRLS, CreatesDatabases, OwnsDatabase, CreatesTables bool
	}
	const query = `
		select rolcanlogin, rolsuper, rolbypassrls, rolcreatedb,
			datdba = pg_roles.oid, has_schema_privilege('public', 'create')
		from pg_roles, pg_database
		where rolname = current_user and datname = current_database()`
	for _, c := range []struct {
		name, url string
		want      facts
	}{
		{"owner", adminURL, facts{Login: true, OwnsDatabase: true, CreatesTables: true}},
		{"app", appURL, facts{Login: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows, err := connect(t, c.url).Query(t.Context(), query)
			if err != nil {
				t.Fatal(err)
			}
			got, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[facts])
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("role (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOpenCleansUpUnderOpenConnections(t *testing.T) {
	var name string
	t.Run("a test that leaves a connection open", func(t *testing.T) {
		adminURL, _ := pgtest.Open(t)
		conn, err := pgx.Connect(context.Background(), adminURL)
		if err != nil {
			t.Fatal(err)
		}
		name = conn.Config().Database
	})
	const query = `
		select (select count(*) from pg_database where datname = $1)
			+ (select count(*) from pg_roles where starts_with(rolname, $1))`
	var left int
	err := connect(t, os.Getenv("HODL_TEST_POSTGRES")).QueryRow(t.Context(), query, name).Scan(&left)
	if err != nil {
		t.Fatal(err)
	}
	if left != 0 {
		t.Errorf("%d databases and roles are left of %s", left, name)
	}
}

// TestOpenWithoutServer runs one test of this binary again, without the
// variable: it must fail and say what to run.
func TestOpenWithoutServer(t *testing.T) {
	again := exec.Command(os.Args[0], "-test.run=^TestOpenRoles$")
	again.Env = []string{}
	out, err := again.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "make test") {
		t.Errorf("err %v, output:\n%s", err, out)
	}
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return conn
}
