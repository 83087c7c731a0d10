package doctor_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hodl"
	"hodl/client"
	"hodl/internal/doctor"
	"hodl/internal/pgtest"
	"hodl/internal/seal"
	"hodl/internal/serve"
)

// A patient is an installation that was used and whose server has stopped.
type patient struct {
	serve.Config
	raw *sql.DB // past row-level security
}

var engines = map[string]func(t *testing.T) *patient{"sqlite": onSQLite, "postgres": onPostgres}

func onSQLite(t *testing.T) *patient {
	p := &patient{Config: serve.Config{Listen: "127.0.0.1:0", Data: t.TempDir()}}
	must(t, os.Chmod(p.Data, 0o700))
	p.MasterKeyFile = filepath.Join(p.Data, "master.key")
	_, err := seal.CreateMaster(p.MasterKeyFile)
	must(t, err)
	p.connect(t, "sqlite", "file:"+filepath.Join(p.Data, "hodl.db")+"?_pragma=busy_timeout(10000)")
	return p.use(t)
}

func onPostgres(t *testing.T) *patient {
	p := &patient{Config: serve.Config{Listen: "127.0.0.1:0"}}
	p.DatabaseAdmin, p.Database = pgtest.Open(t)
	p.MasterKeyFile = filepath.Join(t.TempDir(), "master.key")
	_, err := seal.CreateMaster(p.MasterKeyFile)
	must(t, err)
	database, err := url.Parse(p.DatabaseAdmin)
	must(t, err)
	superuser, err := url.Parse(os.Getenv("HODL_TEST_POSTGRES"))
	must(t, err)
	superuser.Path = database.Path
	p.connect(t, "pgx", superuser.String())
	return p.use(t)
}

func (p *patient) connect(t *testing.T, driver, address string) {
	var err error
	p.raw, err = sql.Open(driver, address)
	must(t, err)
	t.Cleanup(func() { _ = p.raw.Close() }) // some faults close it before
}

// use hands a session over twice.
func (p *patient) use(t *testing.T) *patient {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	server, err := serve.Open(ctx, p.Config)
	must(t, err)
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	api := client.New(server.URL, server.FirstKeys[0].Key)
	captured, err := api.CaptureSession(ctx, hodl.SessionDraft{Title: "the cache bug"})
	must(t, err)
	most := 5
	minted, err := api.Mint(ctx, hodl.TokenDraft{Session: captured.ID, Audience: "claude.anthropic.com", Scopes: []hodl.Scope{hodl.ReadContext}, MaxHydrations: &most})
	must(t, err)
	for range 2 {
		_, err := client.NewAgent(server.URL, minted.Token).Hydrate(ctx, captured.ID)
		must(t, err)
	}
	stop()
	must(t, <-done)
	return p
}

func (p *patient) examine(t *testing.T) map[string]doctor.Check {
	t.Helper()
	out := map[string]doctor.Check{}
	must(t, serve.Examine(t.Context(), p.Config, func(c doctor.Check) { out[c.Name] = c }, nil))
	return out
}

func (p *patient) exec(t *testing.T, statements ...string) {
	t.Helper()
	for _, s := range statements {
		_, err := p.raw.ExecContext(t.Context(), s)
		must(t, err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestHealthy(t *testing.T) {
	for name, engine := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := engine(t)
			found := p.examine(t)
			for _, c := range found {
				quick := c.Name == "database" && strings.Contains(c.Detail, "fsync is off") // a server for tests
				if c.Status != doctor.OK && !quick {
					t.Errorf("%s: %s %s", c.Name, c.Status, c.Detail)
				}
			}
			for _, want := range []string{"master key", "address", "schema", "database", "guards", "signing keys", "data keys", "sealed values", "rotation", "access logs", "counters"} {
				if _, ok := found[want]; !ok {
					t.Errorf("%s was not checked", want)
				}
			}
			if got := found["access logs"].Detail; !strings.HasPrefix(got, "3 records") {
				t.Errorf("the logs: %s", got)
			}
		})
	}
}

// unguarded lets raw SQL past the triggers.
func (p *patient) unguarded(t *testing.T, statements ...string) {
	t.Helper()
	if p.Database != "" {
		p.exec(t, append([]string{`alter table access_records disable trigger all`}, statements...)...)
		p.exec(t, `alter table access_records enable trigger all`)
		return
	}
	p.exec(t, append([]string{`drop trigger access_records_no_update`, `drop trigger access_records_no_delete`}, statements...)...)
}

// flip changes the last byte of every value in a column.
func (p *patient) flip(t *testing.T, table, column string) {
	t.Helper()
	var value []byte
	must(t, p.raw.QueryRowContext(t.Context(), `select `+column+` from `+table).Scan(&value))
	value[len(value)-1] ^= 1
	_, err := p.raw.ExecContext(t.Context(), `update `+table+` set `+column+` = $1`, value)
	must(t, err)
}

// A fault is planted by raw SQL, past everything that prevents it.
type fault struct {
	name   string
	only   string // the engine, when it is not both
	plant  func(t *testing.T, p *patient)
	check  string
	status doctor.Status
	tells  string
}

var faults = []fault{
	{"a flipped byte in a session", "", func(t *testing.T, p *patient) { p.flip(t, "session_versions", "body") }, "sealed values", doctor.Failed, "session_versions.body"},
	{"a flipped byte in a title", "", func(t *testing.T, p *patient) { p.flip(t, "sessions", "head") }, "sealed values", doctor.Failed, "sessions.head"},
	{"a flipped byte in a data key", "", func(t *testing.T, p *patient) { p.flip(t, "data_keys", "wrapped") }, "data keys", doctor.Failed, "corrupt"},
	{"a flipped byte in a signing key", "", func(t *testing.T, p *patient) { p.flip(t, "signing_keys", "seed") }, "signing keys", doctor.Failed, "corrupt"},
	{"a session in another's place", "", func(t *testing.T, p *patient) {
		p.exec(t, `update session_versions set session = 'ses_other'`, `update sessions set id = 'ses_other'`)
	}, "sealed values", doctor.Failed, "belongs elsewhere"},
	{"a data key that is gone", "", func(t *testing.T, p *patient) { p.exec(t, `delete from data_keys`) }, "data keys", doctor.Failed, "no data key"},
	{"a master key others can read", "", func(t *testing.T, p *patient) { must(t, os.Chmod(p.MasterKeyFile, 0o644)) }, "master key", doctor.Failed, "chmod 600"},
	{"a master key that is gone", "", func(t *testing.T, p *patient) { must(t, os.Remove(p.MasterKeyFile)) }, "master key", doctor.Failed, "not there"},
	{"another master key", "", func(t *testing.T, p *patient) {
		must(t, os.Remove(p.MasterKeyFile))
		_, err := seal.CreateMaster(p.MasterKeyFile)
		must(t, err)
	}, "data keys", doctor.Failed, "master key"},
	{"a record taken out", "", func(t *testing.T, p *patient) {
		p.unguarded(t, `delete from access_records where seq = 1`)
	}, "access logs", doctor.Failed, "record 2 follows record 0"},
	{"a record added", "", func(t *testing.T, p *patient) {
		p.exec(t, `insert into access_records (workspace, mode, seq, id, kind, member, session, jti, actor, at, body, commitment)
			select workspace, mode, 7, 'acr_planted', kind, member, session, jti, actor, at, body, commitment from access_records where seq = 0`)
	}, "access logs", doctor.Failed, "record 7 follows record 2"},
	{"the last record taken off", "", func(t *testing.T, p *patient) {
		p.unguarded(t, `delete from access_records where seq = 2`)
	}, "access logs", doctor.Failed, "its head says 3"},
	{"a record rewritten", "", func(t *testing.T, p *patient) {
		p.unguarded(t, `update access_records set body = replace(body, 'claude', 'clause') where seq = 1`)
	}, "access logs", doctor.Failed, "record 1 is not what its commitment binds"},
	{"a head that nobody signed", "", func(t *testing.T, p *patient) {
		p.exec(t, `update log_heads set signatures = tree where size > 0`)
	}, "access logs", doctor.Failed, "the checkpoint"},
	{"triggers dropped", "", func(t *testing.T, p *patient) {
		on := ""
		if p.Database != "" {
			on = " on access_details"
		}
		name := map[bool]string{true: "access_details_append_only", false: "access_details_no_update"}[p.Database != ""]
		p.exec(t, `drop trigger `+name+on)
	}, "guards", doctor.Failed, "3 of the 4"},
	{"a token's counter", "", func(t *testing.T, p *patient) { p.exec(t, `update tokens set hydrations = 1`) }, "counters", doctor.Failed, "counts 1 hydrations and has 2"},
	{"a month's counter", "", func(t *testing.T, p *patient) { p.exec(t, `update usage set hydrations = 9`) }, "counters", doctor.Failed, "9 hydrations counted"},
	{"a month that is gone", "", func(t *testing.T, p *patient) { p.exec(t, `delete from usage`) }, "counters", doctor.Failed, "2 recorded"},
	{"a version that is gone", "", func(t *testing.T, p *patient) { p.exec(t, `delete from session_versions`) }, "counters", doctor.Failed, "stands at version"},
	{"signing keys of long ago", "", func(t *testing.T, p *patient) {
		p.exec(t, `update signing_keys set signs_until = 2, served_until = 3`)
	}, "signing keys", doctor.Warning, "none has its turn"},
	{"a clock that went back", "", func(_ *testing.T, p *patient) {
		p.Now = func() time.Time { return time.Now().Add(-24 * time.Hour) }
	}, "last record", doctor.Failed, "in the future"},
	{"a newer database", "", func(t *testing.T, p *patient) { p.exec(t, `insert into schema_versions (number) values (9999)`) }, "schema", doctor.Failed, "9999"},
	{"an older database", "", func(t *testing.T, p *patient) { p.exec(t, `delete from schema_versions where number > 1`) }, "schema", doctor.Warning, "version 1 of"},
	{"no database", "sqlite", func(_ *testing.T, p *patient) { p.Data = filepath.Join(p.Data, "none") }, "database", doctor.Warning, "none yet"},
	{"a folder others can look into", "sqlite", func(t *testing.T, p *patient) { must(t, os.Chmod(p.Data, 0o755)) }, "folder", doctor.Warning, "0755"},
	{"a folder others can write", "sqlite", func(t *testing.T, p *patient) { must(t, os.Chmod(p.Data, 0o770)) }, "folder", doctor.Failed, "0770"},
	{"a database others can read", "sqlite", func(t *testing.T, p *patient) { must(t, os.Chmod(filepath.Join(p.Data, "hodl.db"), 0o640)) }, "folder", doctor.Failed, "0640"},
	{"a row without its parent", "sqlite", func(t *testing.T, p *patient) {
		p.exec(t, `pragma foreign_keys = off`, `delete from members`)
	}, "database", doctor.Failed, "names one of members"},
	{"a page overwritten", "sqlite", func(t *testing.T, p *patient) {
		must(t, p.raw.Close())
		f, err := os.OpenFile(filepath.Join(p.Data, "hodl.db"), os.O_RDWR, 0)
		must(t, err)
		info, err := f.Stat()
		must(t, err)
		_, err = f.WriteAt(make([]byte, 4096), info.Size()-4096)
		must(t, err)
		must(t, f.Close())
	}, "database", doctor.Failed, ""},
	{"no way to the database", "postgres", func(_ *testing.T, p *patient) { p.DatabaseAdmin = "postgres://nobody@127.0.0.1:1/none" }, "database", doctor.Failed, "127.0.0.1:1"},
	{"a role that owns nothing", "postgres", func(_ *testing.T, p *patient) { p.DatabaseAdmin = "" }, "database", doctor.Failed, "--database-admin"},
	{"one role for both", "postgres", func(_ *testing.T, p *patient) { p.Database = p.DatabaseAdmin }, "role", doctor.Warning, "owns the tables"},
	{"row-level security lifted", "postgres", func(t *testing.T, p *patient) { p.exec(t, `alter table hodls no force row level security`) }, "row-level security", doctor.Failed, "hodls"},
	{"a table without a policy", "postgres", func(t *testing.T, p *patient) { p.exec(t, `create table strays (workspace text)`) }, "row-level security", doctor.Failed, "strays"},
	{"rights over records", "postgres", func(t *testing.T, p *patient) {
		p.exec(t, fmt.Sprintf(`grant update on access_records to %s`, strings.Split(strings.TrimPrefix(p.Database, "postgres://"), ":")[0]))
	}, "role", doctor.Failed, "may change access records"},
}

func TestPlantedFaults(t *testing.T) {
	for name, engine := range engines {
		for _, f := range faults {
			if f.only != "" && f.only != name {
				continue
			}
			t.Run(name+"/"+f.name, func(t *testing.T) {
				t.Parallel()
				p := engine(t)
				f.plant(t, p)
				got := p.examine(t)[f.check]
				if got.Status != f.status || !strings.Contains(got.Detail, f.tells) || got.Mend == "" {
					t.Errorf("%s: %q, %s; want %s and %q", f.check, got.Status, got.Detail, f.status, f.tells)
				}
			})
		}
	}
}

// The report names keys by their ids and rows by their keys: nothing that was
// captured, no key, no password.
func TestNoSecretIsTold(t *testing.T) {
	for name, engine := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := engine(t)
			text, err := os.ReadFile(p.MasterKeyFile)
			must(t, err)
			lines := strings.Split(strings.TrimSpace(string(text)), "\n")
			hidden := []string{lines[len(lines)-1], "the cache bug"}
			for _, address := range []string{p.Database, p.DatabaseAdmin} {
				if u, err := url.Parse(address); err == nil && u.User != nil {
					password, _ := u.User.Password()
					hidden = append(hidden, password)
				}
			}
			p.flip(t, "session_versions", "body")
			p.flip(t, "signing_keys", "seed")
			told := fmt.Sprint(p.examine(t))
			p.DatabaseAdmin = strings.Replace(p.DatabaseAdmin, "127.0.0.1", "127.0.0.2", 1) // where nobody listens
			told += fmt.Sprint(p.examine(t))
			if i := slices.IndexFunc(hidden, func(s string) bool { return strings.Contains(told, s) }); i >= 0 {
				t.Errorf("the report shows %q:\n%s", hidden[i], told)
			}
		})
	}
}

// A running server is in nobody's way, and is found at its address.
func TestBesideAServer(t *testing.T) {
	p := onSQLite(t)
	ctx, stop := context.WithCancel(t.Context())
	server, err := serve.Open(ctx, p.Config)
	must(t, err)
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	p.Listen = strings.TrimPrefix(server.URL, "http://")
	found := p.examine(t)
	if got := found["address"]; got.Status != doctor.OK || !strings.Contains(got.Detail, "a hodl server runs") {
		t.Errorf("the address: %+v", got)
	}
	for _, c := range found {
		if c.Status != doctor.OK {
			t.Errorf("%+v", c)
		}
	}
	stop()
	must(t, <-done)
}
