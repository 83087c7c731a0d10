package store_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"hodl"
	"hodl/internal/store"
	"hodl/internal/store/storetest"
)

// tenants is a PostgreSQL database with two workspaces that have a row in every
// table, and a connection as the role the server works as.
type tenants struct {
	*bench
	db     storetest.Database
	app    *sql.DB
	a, b   hodl.WorkspaceID
	digest [32]byte // of the one key of a
}

func newTenants(t *testing.T) *tenants {
	t.Helper()
	db := newPostgres(t)
	x := &tenants{bench: open(t, db.Options), db: db, app: connect(t, db.Options.Database)}
	x.b = x.ws
	x.fill(t)
	x.ws = hodl.WorkspaceID(x.NewID("wks"))
	x.a = x.ws
	x.workspace(t, x.a)
	x.digest = x.fill(t)
	return x
}

func connect(t *testing.T, address string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", address)
	must(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

// fill puts a row of the workspace into every table.
func (x *tenants) fill(t *testing.T) [32]byte {
	t.Helper()
	ctx := t.Context()
	must(t, x.PutSession(ctx, x.session("ses_1")))
	k := x.token("ses_1")
	must(t, x.mint(k)(ctx))
	must(t, x.hydrate(ctx, k))
	must(t, x.PutHodl(x.once(t), store.HodlWrite{Workspace: x.ws, Mode: hodl.Live, User: x.user, Hodl: hodl.Hodl{ID: "hdl_1", Note: "n", Tags: []string{"t"}, CreatedAt: x.Now(), UpdatedAt: x.Now()}}))
	rec := &hodl.Record{ID: hodl.RecordID(x.NewID("acr")), Kind: hodl.KindRevoke, At: x.Now(), Workspace: x.ws, Mode: hodl.Sandbox}
	must(t, x.RevokeAll(ctx, hodl.Sandbox, "", hodl.Revocation{Kind: hodl.OfWorkspace, Subject: string(x.ws)}, rec, hodl.RecordDetail{}))
	must(t, x.AddAudience(ctx, x.ws, hodl.Live, &hodl.Audience{ID: "aud_1", Name: "agent.example.com", CreatedAt: x.Now(), UpdatedAt: x.Now()}))
	must(t, x.prove(ctx, k))
	_, err := x.ChangePolicy(ctx, x.ws, hodl.Live, "ours", "key_1", func(*hodl.Policy) (*hodl.PolicyDocument, error) { return &hodl.PolicyDocument{}, nil })
	must(t, err)
	// As if the log had 256 records.
	_, err = x.db.Raw.Exec(`insert into log_tiles (workspace, mode, level, tile, hashes) values ($1, 'live', 1, 0, '')`, x.ws)
	must(t, err)
	_, err = x.db.Raw.Exec(`insert into journal (place, workspace, mode, entry) select coalesce(max(place), 0) + 1, $1, 'live', '{}' from journal`, x.ws)
	must(t, err)
	_, err = x.db.Raw.Exec(`insert into anchor_keys (workspace, mode, key) values ($1, 'live', '')`, x.ws)
	must(t, err)
	_, err = x.db.Raw.Exec(`insert into anchors (workspace, mode, place, size, root) values ($1, 'live', 0, 1, '')`, x.ws)
	must(t, err)
	digest := sha256.Sum256([]byte(x.ws))
	must(t, x.AddKey(ctx, hodl.APIKey{ID: "key_1", Workspace: x.ws, User: x.user, Mode: hodl.Live, Scopes: []string{"*"}, CreatedAt: x.Now()}, digest))
	return digest
}

// once is the context of a request with an idempotency key.
func (x *tenants) once(t *testing.T) context.Context {
	t.Helper()
	ctx := store.WithOnce(t.Context(), &store.Once{
		Key: "k", Route: "POST /v1/hodls", Request: func() [32]byte { return [32]byte{} },
		Encode: func(any) ([]byte, error) { return nil, nil },
	})
	_, err := x.Once(ctx, x.ws, hodl.Live, "key_1")
	must(t, err)
	return ctx
}

// prove hydrates with a proof of possession.
func (x *tenants) prove(ctx context.Context, k hodl.Token) error {
	u := store.TokenUse{Workspace: k.Workspace, Mode: k.Mode, Token: k.ID, Session: k.Session, At: x.Now(), Proof: &store.Proof{ExpiresAt: x.Now().Add(time.Minute)}}
	rec := &hodl.Record{ID: hodl.RecordID(x.NewID("acr")), Kind: hodl.KindHydrate, At: u.At, Workspace: k.Workspace, Mode: k.Mode, User: k.User, Session: k.Session, JTI: k.ID}
	return x.Hydrate(ctx, u, func(store.Admission) error { return nil }, rec, hodl.RecordDetail{})
}

// tenantTables asks the database, so that a table added without a policy fails
// here.
func (x *tenants) tenantTables(t *testing.T) []string {
	t.Helper()
	rows, err := x.db.Raw.Query(`select c.table_name from information_schema.columns c
		join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name and t.table_type = 'BASE TABLE'
		where c.table_schema = 'public' and c.column_name = 'workspace' order by 1`)
	must(t, err)
	defer rows.Close()
	var out []string
	for rows.Next() {
		var name string
		must(t, rows.Scan(&name))
		out = append(out, name)
	}
	must(t, rows.Err())
	if len(out) < 13 {
		t.Fatalf("only %d tables have a workspace: %v", len(out), out)
	}
	return out
}

// as runs f in a transaction of the app role that names the given workspaces.
func (x *tenants) as(t *testing.T, scope string, f func(*sql.Tx)) {
	t.Helper()
	tx, err := x.app.Begin()
	must(t, err)
	defer tx.Rollback()
	if scope != "" {
		_, err := tx.Exec(`select set_config('hodl.workspaces', $1, true)`, scope)
		must(t, err)
	}
	f(tx)
}

func workspacesIn(t *testing.T, tx *sql.Tx, query string, args ...any) []string {
	t.Helper()
	rows, err := tx.Query(query, args...)
	must(t, err)
	defer rows.Close()
	seen := map[string]bool{}
	for rows.Next() {
		var ws string
		must(t, rows.Scan(&ws))
		seen[ws] = true
	}
	must(t, rows.Err())
	var out []string
	for ws := range seen {
		out = append(out, ws)
	}
	slices.Sort(out)
	return out
}

func TestRowLevelSecurity(t *testing.T) {
	x := newTenants(t)
	for _, table := range x.tenantTables(t) {
		for _, c := range []struct {
			scope string
			want  []string
		}{
			{"", nil},
			{string(x.a), []string{string(x.a)}},
			{string(x.b), []string{string(x.b)}},
			{string(x.b) + "," + string(x.a), slices.Sorted(slices.Values([]string{string(x.a), string(x.b)}))},
			{"wks_none", nil},
		} {
			x.as(t, c.scope, func(tx *sql.Tx) {
				if got := workspacesIn(t, tx, `select workspace from `+table); !slices.Equal(got, c.want) {
					t.Errorf("%s under %q shows %v, want %v", table, c.scope, got, c.want)
				}
			})
		}
		x.as(t, string(x.a), func(tx *sql.Tx) {
			// The copy breaks a key as well, but the policy is asked first.
			_, err := tx.Exec(`insert into ` + table + ` select (jsonb_populate_record(r, jsonb_build_object('workspace', 'wks_planted'))).* from ` + table + ` r limit 1`)
			if err == nil || !strings.Contains(err.Error(), "row-level security") {
				t.Errorf("insert into %s for another workspace: %v", table, err)
			}
		})
	}
}

// A read that forgets its workspace sees no more for it: these are the store's own
// statements without that predicate.
func TestForgottenPredicate(t *testing.T) {
	x := newTenants(t)
	for _, query := range []string{
		`select workspace from hodls where mode = 'live' and id = 'hdl_1' and deleted_at = 0`,
		`select workspace from hodl_tags where tag = 't'`,
		`select workspace from hodl_words where words @@ '''n'''`,
		`select workspace from sessions where mode = 'live' and id = 'ses_1'`,
		`select v.workspace from session_versions v join sessions s on s.mode = v.mode and s.id = v.session where v.session = 'ses_1'`,
		`select workspace from tokens where mode = 'live' and session = 'ses_1'`,
		`select workspace from access_records where mode = 'live' and seq < 100 order by seq desc`,
		`select workspace from api_keys order by id desc`,
		`select l.workspace from log_heads l join workspaces w on true`,
		`select workspace from redaction_policies where mode = 'live' and name = 'ours'`,
		`select max(workspace) from data_keys`,
	} {
		x.as(t, string(x.a), func(tx *sql.Tx) {
			if got := workspacesIn(t, tx, query); !slices.Equal(got, []string{string(x.a)}) {
				t.Errorf("%s: shows %v", query, got)
			}
		})
		x.as(t, string(x.a), func(tx *sql.Tx) {
			r, err := tx.Exec(`update tokens set revoke_reason = 'all of them'`)
			must(t, err)
			if n, _ := r.RowsAffected(); n != 1 {
				t.Errorf("an update without a predicate changed %d tokens", n)
			}
		})
	}
}

func TestRoleOfTheServer(t *testing.T) {
	x := newTenants(t)
	for _, text := range []string{
		`update access_records set actor = ''`, `delete from access_records`, `truncate access_records`,
		`update access_details set address = ''`, `delete from access_details`, `truncate access_details`,
		`alter table access_records disable trigger all`, `alter table hodls disable row level security`,
		`drop policy tenant on hodls`, `drop table hodls`, `create table mine (id int)`,
		`insert into schema_versions (number) values (77)`, `set role postgres`,
	} {
		x.as(t, string(x.a), func(tx *sql.Tx) {
			if _, err := tx.Exec(text); err == nil {
				t.Errorf("the role of the server may %s", text)
			}
		})
	}
}

func TestCredential(t *testing.T) {
	x := newTenants(t)
	count := func(digest []byte) (n int) {
		t.Helper()
		must(t, x.app.QueryRow(`select count(*) from hodl_credential($1)`, digest).Scan(&n))
		return n
	}
	if got := count(x.digest[:]); got != 1 {
		t.Errorf("the digest of a key finds %d", got)
	}
	for _, digest := range [][]byte{make([]byte, 32), {}, nil, []byte("%")} {
		if got := count(digest); got != 0 {
			t.Errorf("the digest %x finds %d", digest, got)
		}
	}
	for _, name := range []string{"", "%", "no such name"} {
		var found sql.NullString
		must(t, x.app.QueryRow(`select hodl_workspace_named($1)`, name).Scan(&found))
		if found.Valid {
			t.Errorf("the name %q finds %s", name, found.String)
		}
		if got := workspacesOf(t, x, name); len(got) != 0 {
			t.Errorf("the person %q is a member of %v", name, got)
		}
	}
	got := workspacesOf(t, x, string(x.user))
	slices.Sort(got)
	if want := []string{string(x.b), string(x.a)}; !slices.Equal(got, want) { // in the order they were made
		t.Errorf("a person of %v is a member of %v", want, got)
	}
	// Within a transaction the look-ups leave its view as it was.
	for _, scope := range []string{"", string(x.b)} {
		x.as(t, scope, func(tx *sql.Tx) {
			before := workspacesIn(t, tx, `select workspace from api_keys union all select workspace from workspaces union all select workspace from members`)
			_, err := tx.Exec(`select hodl_credential($1), hodl_workspace_named($2), hodl_workspaces_of($3)`, x.digest[:], string(x.a), string(x.user))
			must(t, err)
			after := workspacesIn(t, tx, `select workspace from api_keys union all select workspace from workspaces union all select workspace from members`)
			if !slices.Equal(before, after) {
				t.Errorf("under %q a look-up turned the view from %v to %v", scope, before, after)
			}
		})
	}
}

// The search runs as the owner of the words, whom their policy does not bind. It looks
// at the scope itself, and what it would find without looking it cannot: the policy of
// hodls binds the owner too.
func TestSearchKeepsToItsScope(t *testing.T) {
	x := newTenants(t)
	found := func(scope string) (n int) {
		t.Helper()
		x.as(t, scope, func(tx *sql.Tx) {
			must(t, tx.QueryRow(`select count(*) from hodl_search($1, 'live', $2, $3::tsquery, '', '~', 0, 1::bigint << 62, '', 0, 100)`, x.a, x.user, `'n'`).Scan(&n))
		})
		return n
	}
	for _, guarded := range []bool{true, false} {
		if !guarded {
			x.forget(t, "hodl_search", `if in_workspace <> all (public.hodl_scope()) then return; end if;`)
		}
		for scope, want := range map[string]int{string(x.a): 1, "": 0, string(x.b): 0, "wks_none": 0} {
			if n := found(scope); n != want {
				t.Errorf("guarded %t, under %q the search finds %d, want %d", guarded, scope, n, want)
			}
		}
	}
}

// forget takes a part out of a function.
func (x *tenants) forget(t *testing.T, name, part string) {
	t.Helper()
	var text string
	must(t, x.db.Raw.QueryRow(`select pg_get_functiondef(oid) from pg_proc where proname = $1`, name).Scan(&text))
	if !strings.Contains(text, part) {
		t.Fatalf("%s has no %q", name, part)
	}
	_, err := x.db.Raw.Exec(strings.ReplaceAll(text, part, ""))
	must(t, err)
}

func workspacesOf(t *testing.T, x *tenants, user string) (out []string) {
	t.Helper()
	rows, err := x.app.Query(`select hodl_workspaces_of($1)`, user)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var ws string
		must(t, rows.Scan(&ws))
		out = append(out, ws)
	}
	must(t, rows.Err())
	return out
}

// What one use of a connection was allowed to see, the next is not.
func TestPooledConnection(t *testing.T) {
	x := newTenants(t)
	x.app.SetMaxOpenConns(1)
	x.as(t, string(x.a), func(tx *sql.Tx) {
		_, err := tx.Exec(`select hodl_credential($1)`, x.digest[:])
		must(t, err)
		must(t, tx.Commit())
	})
	var n int
	must(t, x.app.QueryRow(`select count(*) from hodls`).Scan(&n))
	if n != 0 {
		t.Errorf("the next use of the connection sees %d hodls", n)
	}
	// The same through the store, whose reads, writes and refusals share a pool.
	for range 20 {
		_, err := x.Session(t.Context(), x.a, hodl.Live, x.user, "ses_1")
		must(t, err)
		if _, err := x.Session(t.Context(), x.b, hodl.Live, "usr_none", "ses_1"); hodl.CodeOf(err) != hodl.NotFound {
			t.Error(err)
		}
		if _, err := x.Principal(t.Context(), [32]byte{}); hodl.CodeOf(err) != hodl.NotFound {
			t.Error(err)
		}
	}
}

func TestBypassingRoleIsRefused(t *testing.T) {
	db := newPostgres(t)
	for name, make := range map[string]func() string{
		"superuser": func() string { return superuser(t, db.Options.Database) },
		"bypassrls": func() string { return bypassing(t, db) },
	} {
		o := db.Options
		o.Database = make()
		s, err := store.Open(context.Background(), o)
		if err == nil {
			s.Close()
			t.Errorf("a %s was let in", name)
			continue
		}
		for _, part := range []string{"row-level security", "--database", "--database-admin"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %q does not say %q", name, err, part)
			}
		}
	}
	var tables int
	must(t, db.Raw.QueryRow(`select count(*) from information_schema.tables where table_schema = 'public'`).Scan(&tables))
	if tables != 0 {
		t.Errorf("the refusal left %d tables", tables)
	}
}

// bypassing makes a role with BYPASSRLS for the time of the test.
func bypassing(t *testing.T, db storetest.Database) string {
	t.Helper()
	u, err := url.Parse(db.Options.Database)
	must(t, err)
	role := u.User.Username() + "_bypass"
	_, err = db.Raw.Exec(fmt.Sprintf(`create role %s login bypassrls password 'x'`, role))
	must(t, err)
	t.Cleanup(func() {
		_, err := db.Raw.Exec(`drop role ` + role)
		must(t, err)
	})
	u.User = url.UserPassword(role, "x")
	return u.String()
}

// Without --database-admin the role of the server only looks: at a database that is
// up to date it starts, at any other it says what to do.
func TestWithoutAdmin(t *testing.T) {
	db := newPostgres(t)
	bare := db.Options
	bare.Admin = ""
	if s, err := store.Open(t.Context(), bare); err == nil {
		s.Close()
		t.Error("an empty database was opened by a role that cannot make tables")
	} else if !strings.Contains(err.Error(), "--database-admin") {
		t.Errorf("%q does not say what to do", err)
	}
	first, err := store.Open(t.Context(), db.Options)
	must(t, err)
	must(t, first.Close())
	again, err := store.Open(t.Context(), bare)
	must(t, err)
	must(t, again.Close())
	_, err = db.Raw.Exec(`insert into schema_versions (number) values (9999)`)
	must(t, err)
	if s, err := store.Open(t.Context(), bare); err == nil {
		s.Close()
		t.Error("a newer database was opened")
	} else if !strings.Contains(err.Error(), "9999") {
		t.Errorf("%q does not name the version", err)
	}
}

// A connection the server cut while it was idle costs nobody a write.
func TestCutConnections(t *testing.T) {
	db := newPostgres(t)
	b := open(t, db.Options)
	for range 3 {
		must(t, b.append(t.Context()))
		_, err := db.Raw.Exec(`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'hodl'`)
		must(t, err)
		must(t, b.append(t.Context()))
	}
	var n int
	must(t, db.Raw.QueryRow(`select count(*) from access_records`).Scan(&n))
	if n != 6 {
		t.Errorf("%d records, want 6", n)
	}
}

// A server that cannot be reached is said so, once and on one line, without the
// password.
func TestUnreachable(t *testing.T) {
	secret := "s3" + "cret"
	for _, address := range []string{
		"postgres://someone:" + secret + "@127.0.0.1:1/x?sslmode=disable",
		"postgres://someone:" + secret + "@127.0.0.1:1/x", // tried with and without TLS
		"host=127.0.0.1 port=1 user=someone dbname=x sslmode=disable password=" + secret,
	} {
		s, err := store.Open(t.Context(), store.Options{Database: address, Master: newMaster(t)})
		if err == nil {
			s.Close()
			t.Fatal("opened")
		}
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error shows the password: %v", err)
		}
		if strings.Contains(err.Error(), "\n") || strings.Count(err.Error(), "connection refused") != 1 {
			t.Errorf("the error is not one line of one reason: %q", err)
		}
	}
}
