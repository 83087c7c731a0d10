package audit_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"hodl"
	"hodl/client"
	"hodl/internal/audit"
	"hodl/internal/ledger"
	"hodl/internal/pgtest"
	"hodl/internal/seal"
	"hodl/internal/serve"
)

// A stage is a running server, and the way to its database that its guards do not
// know.
type stage struct {
	*client.Client
	t         *testing.T
	raw       *sql.DB
	log       *client.Log
	verifiers []ledger.Verifier
	session   hodl.SessionID
}

var engines = map[string]func(t *testing.T) (serve.Config, *sql.DB){"sqlite": onSQLite, "postgres": onPostgres}

func onSQLite(t *testing.T) (serve.Config, *sql.DB) {
	c := serve.Config{Listen: "127.0.0.1:0", Data: t.TempDir()}
	return c, connect(t, "sqlite", "file:"+filepath.Join(c.Data, "hodl.db")+"?_pragma=busy_timeout(10000)")
}

func onPostgres(t *testing.T) (serve.Config, *sql.DB) {
	c := serve.Config{Listen: "127.0.0.1:0", MasterKeyFile: filepath.Join(t.TempDir(), "master.key")}
	c.DatabaseAdmin, c.Database = pgtest.Open(t)
	_, err := seal.CreateMaster(c.MasterKeyFile)
	must(t, err)
	database, err := url.Parse(c.DatabaseAdmin)
	must(t, err)
	superuser, err := url.Parse(os.Getenv("HODL_TEST_POSTGRES"))
	must(t, err)
	superuser.Path = database.Path
	return c, connect(t, "pgx", superuser.String())
}

func connect(t *testing.T, driver, address string) *sql.DB {
	db, err := sql.Open(driver, address)
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// records is a full tile and the beginning of the next.
const records = 300

func newStage(t *testing.T, engine func(t *testing.T) (serve.Config, *sql.DB)) *stage {
	t.Helper()
	config, raw := engine(t)
	ctx, stop := context.WithCancel(context.Background())
	server, err := serve.Open(ctx, config)
	must(t, err)
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	t.Cleanup(func() { stop(); must(t, <-done) })
	s := &stage{Client: client.New(server.URL, server.FirstKeys[0].Key), t: t, raw: raw}
	s.log = s.WorkspaceLog(server.FirstKeys[0].Workspace.ID, hodl.Live)
	keys, err := s.log.Keys(ctx)
	must(t, err)
	v, err := ledger.ParseVerifier(keys.Keys[0].Verifier)
	must(t, err)
	s.verifiers = []ledger.Verifier{v}
	captured, err := s.CaptureSession(ctx, hodl.SessionDraft{Title: "the cache bug"})
	must(t, err)
	s.session = captured.ID
	for range records {
		s.mint()
	}
	return s
}

// mint makes a record.
func (s *stage) mint() {
	s.t.Helper()
	_, err := s.Mint(s.t.Context(), hodl.TokenDraft{Session: s.session, Audience: "sdk.unihodl.app", Scopes: []hodl.Scope{hodl.ReadContext}})
	must(s.t, err)
}

func (s *stage) tiles(list []ledger.Tile) ([][]byte, error) {
	var out [][]byte
	for _, t := range list {
		b, err := s.log.Tile(s.t.Context(), t.Path())
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

func (s *stage) export() []byte {
	s.t.Helper()
	var b bytes.Buffer
	must(s.t, s.ExportRecords(s.t.Context(), "all", &b))
	return b.Bytes()
}

func (s *stage) verify(export []byte, l audit.Log) (*audit.Report, error) {
	return audit.Export(bytes.NewReader(export), l, s.verifiers...)
}

func (s *stage) exec(text string) {
	s.t.Helper()
	_, err := s.raw.ExecContext(s.t.Context(), text)
	must(s.t, err)
}

// What somebody with the database's own shell changes, past every guard, is found
// and named.
func TestTamperedRows(t *testing.T) {
	for name, engine := range engines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, engine)
			report, err := s.verify(s.export(), audit.Log{Tiles: s.tiles})
			if err != nil || report.Records != records || report.Size != records || report.Tiles != 3 {
				t.Fatalf("untouched: %+v, %v", report, err)
			}
			before := s.export()
			for _, table := range []string{"access_records", "access_details"} {
				s.unguard(name, table)
			}
			for _, c := range []struct{ what, change, seq, tells string }{
				{"a record", `update access_records set body = replace(body, 'read:context', 'read:nothing') where seq = 7`, "record 7", "is not what its commitment binds"},
				{"the last record", `update access_records set body = replace(body, 'read:context', 'read:nothing') where seq = 299`, "record 299", "is not what its commitment binds"},
				{"a salt", `update access_details set salt = (select commitment from access_records where seq = 1) where seq = 8`, "record 8", "is not what its commitment binds"},
				{"a record deleted", `delete from access_records where seq = 9`, "record 9", "is missing"},
				{"the last record deleted", `delete from access_records where seq = 299`, "record 299", "is missing"},
				{"a column", `update access_records set session = 'ses_another' where seq = 4`, "record 4", "column \"session\" was changed"},
				{"a time", `update access_records set at = at + 1 where seq = 4`, "record 4", "column \"at\" was changed"},
				{"a record made no JSON", `update access_records set body = 'x' where seq = 5`, "record 5", "is no access record"},
				{"a record added", `insert into access_records select workspace, mode, 300, 'acr_added', kind, member, session, jti, actor, at, body, commitment from access_records where mode = 'live' and seq = 1`, "record 300", "is one too many: 300 are signed"},
				{"details deleted", `delete from access_details where seq = 10`, "record 10", "nobody was erased"},
				{"a record and all that binds it", `update access_records set (body, commitment) = (select body, commitment from access_records x where x.seq = 12) where seq = 11`, "record 11", "is not"},
			} {
				s.exec(`create table kept_records as select * from access_records`)
				s.exec(`create table kept_details as select * from access_details`)
				s.exec(c.change)
				_, err := s.verify(s.export(), audit.Log{Tiles: s.tiles})
				f, ok := errors.AsType[*audit.Fault](err)
				if !ok || !strings.HasPrefix(f.Error(), c.seq+" ") && !strings.HasPrefix(f.Error(), c.seq+",") || !strings.Contains(f.Error(), c.tells) {
					t.Errorf("%s: %v; want %s %s", c.what, err, c.seq, c.tells)
				}
				for table, kept := range map[string]string{"access_records": "kept_records", "access_details": "kept_details"} {
					s.exec(`delete from ` + table)
					s.exec(`insert into ` + table + ` select * from ` + kept)
					s.exec(`drop table ` + kept)
				}
			}
			s.forge(20)
			_, err = s.verify(s.export(), audit.Log{Tiles: s.tiles})
			if f, ok := errors.AsType[*audit.Fault](err); !ok || f.Seq != 20 || f.Record == "" {
				t.Errorf("a record forged with its commitment: %v", err)
			}
			if _, err := s.verify(s.export(), audit.Log{}); err == nil {
				t.Error("a record forged with its commitment was taken, by the export alone")
			}
			if _, err := s.verify(before, audit.Log{}); err != nil {
				t.Errorf("the export from before, by itself: %v", err)
			}
		})
	}
}

func (s *stage) unguard(engine, table string) {
	s.t.Helper()
	if engine == "postgres" {
		s.exec(`alter table ` + table + ` disable trigger all`)
		return
	}
	s.exec(`drop trigger ` + table + `_no_update`)
	s.exec(`drop trigger ` + table + `_no_delete`)
}

// forge changes a record together with its commitment, as well as can be done without
// the log's key.
func (s *stage) forge(seq int64) {
	s.t.Helper()
	var body string
	var salt []byte
	must(s.t, s.raw.QueryRowContext(s.t.Context(), `select r.body, d.salt from access_records r join access_details d on d.seq = r.seq and d.workspace = r.workspace and d.mode = r.mode where r.mode = 'live' and r.seq = $1`, seq).Scan(&body, &salt))
	body = strings.ReplaceAll(body, "read:context", "read:nothing")
	sum := ledger.Commit([32]byte(salt), []byte(body))
	_, err := s.raw.ExecContext(s.t.Context(), `update access_records set body = $1, commitment = $2 where mode = 'live' and seq = $3`, body, sum[:], seq)
	must(s.t, err)
}

func TestWatch(t *testing.T) {
	s := newStage(t, onSQLite)
	w := &audit.Watch{File: filepath.Join(t.TempDir(), "state"), Verifiers: s.verifiers, Tiles: s.tiles}
	old, err := s.log.Checkpoint(t.Context())
	must(t, err)
	if _, _, first, err := w.Look(old); !first || err != nil {
		t.Fatalf("first look: %t, %v", first, err)
	}
	captured, err := s.CaptureSession(t.Context(), hodl.SessionDraft{Title: "another"})
	must(t, err)
	for range 5 {
		_, err := s.Mint(t.Context(), hodl.TokenDraft{Session: captured.ID, Audience: "sdk.unihodl.app", Scopes: []hodl.Scope{hodl.ReadContext}})
		must(t, err)
	}
	grown, err := s.log.Checkpoint(t.Context())
	must(t, err)
	last, now, first, err := w.Look(grown)
	if first || err != nil || last.Size != records || now.Size != records+5 {
		t.Fatalf("second look: %d, %d, %t, %v", last.Size, now.Size, first, err)
	}
	for name, text := range map[string]string{"the same": grown} {
		if _, _, _, err := w.Look(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, _, err := w.Look(old); !errors.Is(err, ledger.ErrFork) {
		t.Errorf("a rollback: %v", err)
	}
	kept, err := os.ReadFile(w.File)
	must(t, err)
	if string(kept) != grown {
		t.Error("after a rollback the watch forgot what it had seen")
	}
}
