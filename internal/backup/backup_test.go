package backup_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hodl"
	"hodl/client"
	"hodl/internal/backup"
	"hodl/internal/pgtest"
	"hodl/internal/seal"
	"hodl/internal/serve"
	"hodl/internal/store"
)

// A site is where a database is, or is to be.
type site func(t *testing.T, masterKeyFile string) serve.Config

var sites = map[string]site{
	"sqlite": func(t *testing.T, key string) serve.Config {
		return serve.Config{Listen: "127.0.0.1:0", Data: filepath.Join(t.TempDir(), "data"), MasterKeyFile: key}
	},
	"postgres": func(t *testing.T, key string) serve.Config {
		c := serve.Config{Listen: "127.0.0.1:0", MasterKeyFile: key}
		c.DatabaseAdmin, c.Database = pgtest.Open(t)
		return c
	},
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newKey(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "master.key")
	_, err := seal.CreateMaster(file)
	must(t, err)
	return file
}

func quiet(string, int64, int64) {}

// run serves until the test, or stop, ends it.
func run(t *testing.T, c serve.Config) (s *serve.Server, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s, err := serve.Open(ctx, c)
	must(t, err)
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	var stopped bool
	stop = func() {
		if !stopped {
			stopped = true
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(stop)
	return s, stop
}

// A holder has a session and a token for it.
type holder struct {
	key     string
	session hodl.SessionID
	token   string
}

// use puts something into most tables, with text that encoders like to differ on.
func use(t *testing.T, s *serve.Server) holder {
	t.Helper()
	h := holder{key: s.FirstKeys[0].Key}
	api := client.New(s.URL, h.key)
	captured, err := api.CaptureSession(t.Context(), hodl.SessionDraft{Title: "a \"quoted\" \\ <b>&amp; \u2028 é 𝄞", Notes: []hodl.NoteDraft{{Body: "ask"}}})
	must(t, err)
	h.session = captured.ID
	_, err = api.CaptureHodl(t.Context(), hodl.HodlDraft{URL: "https://example.com/?a=1&b=é", Title: "tab\t'quote'", Tags: []string{"cache"}, SessionID: captured.ID})
	must(t, err)
	most := 50
	minted, err := api.Mint(t.Context(), hodl.TokenDraft{Session: captured.ID, Audience: "claude.anthropic.com", Scopes: []hodl.Scope{hodl.ReadContext}, MaxHydrations: &most})
	must(t, err)
	h.token = minted.Token
	h.hydrate(t, s.URL)
	return h
}

func (h holder) hydrate(t *testing.T, url string) {
	t.Helper()
	_, err := client.NewAgent(url, h.token).Hydrate(t.Context(), h.session)
	must(t, err)
}

// rows returns every row of every table, in an order of its own.
func rows(t *testing.T, c serve.Config) map[string][]string {
	t.Helper()
	s, err := store.OpenSnapshot(t.Context(), store.Options{Dir: c.Data, Database: c.Database, Admin: c.DatabaseAdmin})
	must(t, err)
	defer func() { must(t, s.Close()) }()
	tables, err := s.Tables(t.Context())
	must(t, err)
	out := map[string][]string{}
	for _, table := range tables {
		must(t, s.EachRow(t.Context(), table, func(row []any) error {
			cells := make([]string, len(row))
			for i, v := range row {
				cells[i] = table.Columns[i].Name + fmt.Sprintf("=%v", v)
			}
			slices.Sort(cells)
			out[table.Name] = append(out[table.Name], strings.Join(cells, " "))
			return nil
		}))
		slices.Sort(out[table.Name])
	}
	return out
}

// A backup taken while the server runs is restored on either engine, row for row, and
// the token in its holder's hands still opens the session.
func TestRestored(t *testing.T) {
	for from, source := range sites {
		for to, target := range sites {
			t.Run(from+" to "+to, func(t *testing.T) {
				t.Parallel()
				key := newKey(t)
				was := source(t, key)
				s, stop := run(t, was)
				h := use(t, s)
				file, there, wrote := still(t, was)
				stop()

				is := target(t, key)
				read, err := serve.Restore(t.Context(), is, file, false, quiet)
				must(t, err)
				if read.Rows["sessions"] != 1 || !cmp.Equal(read.Rows, wrote.Rows) {
					t.Errorf("wrote %v, restored %v", wrote.Rows, read.Rows)
				}
				if diff := cmp.Diff(there, rows(t, is)); diff != "" {
					t.Errorf("the rows differ (-was +is):\n%s", diff)
				}
				s, _ = run(t, is)
				h.hydrate(t, s.URL)
				h.hydrate(t, s.URL)
				if _, err := client.New(s.URL, h.key).CaptureSession(t.Context(), hodl.SessionDraft{Title: "new"}); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// still backs up a running server at a moment when it does not anchor its logs or keep
// what it has promised, and returns the rows that were there.
func still(t *testing.T, c serve.Config) (file string, there map[string][]string, sum *backup.Summary) {
	t.Helper()
	for {
		file = filepath.Join(t.TempDir(), "backup")
		there = rows(t, c)
		sum, err := serve.Backup(t.Context(), c, file, quiet)
		must(t, err)
		if len(there["journal"]) == 0 && cmp.Equal(there, rows(t, c)) {
			return file, there, sum
		}
	}
}

// What is written while a backup is taken is in it whole or not at all: every restored
// database is proven.
func TestUnderLoad(t *testing.T) {
	for name, engine := range sites {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := engine(t, newKey(t))
			s, _ := run(t, c)
			h := use(t, s)
			ctx, enough := context.WithCancel(t.Context())
			worked := make(chan int)
			go func() {
				n := 0
				for ; ctx.Err() == nil; n++ {
					draft := hodl.SessionDraft{ID: string(h.session), Title: fmt.Sprint("title ", n)}
					if _, err := client.New(s.URL, h.key).CaptureSession(ctx, draft); err != nil && ctx.Err() == nil {
						t.Error(err)
						break
					}
				}
				worked <- n
			}()
			for i := range 5 {
				file := filepath.Join(t.TempDir(), fmt.Sprint(i))
				_, err := serve.Backup(t.Context(), c, file, quiet)
				must(t, err)
				_, err = serve.Restore(t.Context(), c, file, true, quiet)
				must(t, err)
			}
			enough()
			if n := <-worked; n < 5 {
				t.Errorf("only %d captures meanwhile", n)
			}
		})
	}
}

// taken is a small backup, and the server's configuration.
func taken(t *testing.T) (c serve.Config, file string) {
	t.Helper()
	c = sites["sqlite"](t, newKey(t))
	s, stop := run(t, c)
	use(t, s)
	stop()
	file = filepath.Join(t.TempDir(), "backup")
	_, err := serve.Backup(t.Context(), c, file, quiet)
	must(t, err)
	return c, file
}

func TestFileIsPrivateAndNeverWrittenOver(t *testing.T) {
	c, file := taken(t)
	info, err := os.Stat(file)
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	before, err := os.ReadFile(file)
	must(t, err)
	if _, err := serve.Backup(t.Context(), c, file, quiet); err == nil || !strings.Contains(err.Error(), "already there") {
		t.Errorf("a second backup to the same file: %v", err)
	}
	after, err := os.ReadFile(file)
	must(t, err)
	if !bytes.Equal(before, after) {
		t.Error("the file was changed")
	}
	left, err := filepath.Glob(file + "*")
	must(t, err)
	if len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// restore tries a file on a new folder, which must not be there when it fails.
func restore(t *testing.T, file, key string) error {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "restored")
	_, err := serve.Restore(t.Context(), serve.Config{Data: dir, MasterKeyFile: key}, file, false, quiet)
	left, globErr := filepath.Glob(dir + "*")
	must(t, globErr)
	if err != nil && len(left) > 0 {
		t.Errorf("a restore that failed left %v", left)
	}
	return err
}

func TestDamagedFiles(t *testing.T) {
	c, file := taken(t)
	whole, err := os.ReadFile(file)
	must(t, err)
	broken := filepath.Join(t.TempDir(), "broken")
	try := func(what string, content []byte) {
		must(t, os.WriteFile(broken, content, 0o600))
		if err := restore(t, broken, c.MasterKeyFile); err == nil {
			t.Errorf("%s was restored", what)
		}
	}
	for i := range 24 {
		try(fmt.Sprintf("a file cut after %d of 24 parts", i), whole[:len(whole)*i/24])
	}
	for i := range 24 {
		at := len(whole) * i / 24
		if i == 0 {
			at = 20 // gzip's own head holds a time and a system nobody looks at
		}
		for unzipped(flipped(whole, at)) == unzipped(whole) {
			at++ // it fills up a byte that ends a block, and nobody looks at it
		}
		try(fmt.Sprintf("a file with byte %d changed", at), flipped(whole, at))
	}
	try("no file of ours", []byte("PK\x03\x04"))
}

func flipped(file []byte, at int) []byte {
	out := bytes.Clone(file)
	out[at] ^= 4
	return out
}

// unzipped is what can be read of a file.
func unzipped(file []byte) string {
	r, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		return err.Error()
	}
	content, err := io.ReadAll(r)
	return fmt.Sprint(string(content), err)
}

// rewrite packs a backup anew with its members changed, as somebody would who knows
// the format and has no key.
func rewrite(t *testing.T, file string, change func(name string, content []byte) []byte) string {
	t.Helper()
	in, err := os.Open(file)
	must(t, err)
	defer func() { must(t, in.Close()) }()
	unzip, err := gzip.NewReader(in)
	must(t, err)
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	from, to := tar.NewReader(unzip), tar.NewWriter(zip)
	for {
		h, err := from.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
		content, err := io.ReadAll(from)
		must(t, err)
		if content = change(h.Name, content); content == nil {
			continue
		}
		must(t, to.WriteHeader(&tar.Header{Name: h.Name, Size: int64(len(content)), Mode: 0o600}))
		_, err = to.Write(content)
		must(t, err)
	}
	must(t, errors.Join(to.Close(), zip.Close()))
	out := filepath.Join(t.TempDir(), "rewritten")
	must(t, os.WriteFile(out, b.Bytes(), 0o600))
	return out
}

func TestForgedFiles(t *testing.T) {
	c, file := taken(t)
	same := rewrite(t, file, func(_ string, content []byte) []byte { return content })
	must(t, restore(t, same, c.MasterKeyFile))
	for name, change := range map[string]func(string, []byte) []byte{
		"a row changed": func(name string, content []byte) []byte {
			return bytes.Replace(content, []byte(`"enterprise"`), []byte(`"developer"`), 1)
		},
		"a part left out": func(name string, content []byte) []byte {
			if strings.HasPrefix(name, "access_records/") {
				return nil
			}
			return content
		},
		"no end": func(name string, content []byte) []byte {
			if name == "end.json" {
				return nil
			}
			return content
		},
		"a table of no database": func(name string, content []byte) []byte {
			return bytes.Replace(content, []byte(`"members"`), []byte(`"nembers"`), 1)
		},
		"a column of no table": func(name string, content []byte) []byte {
			if name == "manifest.json" {
				return bytes.Replace(content, []byte(`"plan"`), []byte(`"plan\" text, \""`), 1)
			}
			return content
		},
		"a newer format": func(name string, content []byte) []byte {
			return bytes.Replace(content, []byte(`"format":1`), []byte(`"format":2`), 1)
		},
	} {
		if err := restore(t, rewrite(t, file, change), c.MasterKeyFile); err == nil {
			t.Errorf("%s: it was restored", name)
		}
	}
}

func TestRefusedRestores(t *testing.T) {
	c, file := taken(t)
	other := newKey(t)
	if err := restore(t, file, other); err == nil || !strings.Contains(err.Error(), "master key") {
		t.Errorf("with another master key: %v", err)
	}
	if err := restore(t, file, ""); err == nil || !strings.Contains(err.Error(), "--master-key-file") {
		t.Errorf("without a master key: %v", err)
	}
	_, err := serve.Restore(t.Context(), c, file, false, quiet)
	if err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("over the database itself: %v", err)
	}
	pg := sites["postgres"](t, c.MasterKeyFile)
	_, err = serve.Restore(t.Context(), pg, file, false, quiet)
	must(t, err)
	if _, err = serve.Restore(t.Context(), pg, file, false, quiet); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("over a PostgreSQL database: %v", err)
	}
	if _, err := backup.Look(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// A restored database that does not prove itself is not kept.
func TestUnprovenIsNotKept(t *testing.T) {
	c := sites["sqlite"](t, newKey(t))
	s, stop := run(t, c)
	use(t, s)
	stop()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(c.Data, "hodl.db"))
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	_, err = db.ExecContext(t.Context(), `update tokens set hydrations = 9`)
	must(t, err)
	file := filepath.Join(t.TempDir(), "backup")
	_, err = serve.Backup(t.Context(), c, file, quiet)
	must(t, err)
	if err := restore(t, file, c.MasterKeyFile); err == nil || !strings.Contains(err.Error(), "counts 9 hydrations") {
		t.Errorf("a database that contradicts itself: %v", err)
	}
}
