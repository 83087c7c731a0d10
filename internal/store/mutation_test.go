package store_test

import (
	"cmp"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"iter"
	"maps"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hodl/internal/store"
	"hodl/internal/store/storetest"
)

// Row-level security is the second lock. Here the first is broken: every statement
// the store sent while a test of the suite ran is sent again, once without each of
// its predicates on the workspace, to a database where every row has a twin in
// another workspace. What comes back, and what changes, must be what it would be if
// there were no twins.
//
// A function of the database is broken the same way, and the statements that call it,
// or set off its trigger, are sent as they are.
//
// Nothing names the statements: a query is covered once a test of the suite runs it,
// and one that none runs is a failure of its own.

// A watcher keeps what a store sends to one database.
type watcher struct {
	mu     sync.Mutex
	scopes map[*pgx.Conn]string
	sent   map[string][]sending
}

// A sending is one use of a statement.
type sending struct {
	scope string // what row-level security was told
	args  []any
}

// mostSendings bounds the uses of one statement that are kept: the last ones, whose
// rows are likely to be there still.
const mostSendings = 4

func (w *watcher) note(conn *pgx.Conn, text string, args []any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if strings.Contains(text, "'hodl.workspaces'") {
		w.scopes[conn] = args[len(args)-1].(string)
		return
	}
	list := append(w.sent[text], sending{w.scopes[conn], args})
	w.sent[text] = list[max(0, len(list)-mostSendings):]
}

func (w *watcher) TraceQueryStart(ctx context.Context, c *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	w.note(c, d.SQL, d.Args)
	return ctx
}

func (*watcher) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (*watcher) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (w *watcher) TraceBatchQuery(_ context.Context, c *pgx.Conn, d pgx.TraceBatchQueryData) {
	w.note(c, d.SQL, d.Args)
}

func (*watcher) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// mutants is what was found of every predicate, by all tests of the suite together.
type mutants struct {
	mu      sync.Mutex
	seen    map[string]bool // texts that were sent
	missed  map[mutant]int  // how often it was tried and would not have leaked anyway
	telling map[mutant]bool // those that leak when row-level security is off
	inside  map[string]bool // names of functions with a predicate
	took    time.Duration
}

// A mutant is a statement without one of its predicates, counted from 0; or a
// statement beside a function that is without one.
type mutant struct {
	text     string
	function function
	nth      int
}

// broken is the text without the predicate: of the statement, or of the function's
// definition.
func (x mutant) broken() string { return without(cmp.Or(x.function.text, x.text), x.nth) }

// enough is how many databases a mutant is tried on until it has leaked on one that
// has no second lock.
const enough = 6

var predicate = regexp.MustCompile(`\b(?:\w+\.)?workspace = (\$\d+|\w+\.workspace|in_workspace|found_in)\b`)

// without returns a text with its nth predicate always true. What it compares with
// stays in the text, or PostgreSQL would miss a parameter.
func without(text string, nth int) string {
	at := predicate.FindAllStringSubmatchIndex(text, -1)[nth]
	return text[:at[0]] + "(" + text[at[2]:at[3]] + "::text is not null)" + text[at[1]:]
}

// open lists the mutants of what was sent that are not settled.
func (m *mutants) open(sent map[string][]sending, functions []function) (out []mutant) {
	m.mu.Lock()
	defer m.mu.Unlock()
	add := func(text string, f function) {
		for nth := range predicate.FindAllString(cmp.Or(f.text, text), -1) {
			if x := (mutant{text, f, nth}); !m.telling[x] && m.missed[x] < enough {
				out = append(out, x)
			}
		}
	}
	for _, f := range functions {
		m.inside[f.name] = true
	}
	for _, text := range slices.Sorted(maps.Keys(sent)) {
		m.seen[text] = true
		add(text, function{})
		for _, f := range functions {
			if regexp.MustCompile(f.sentBy).MatchString(text) {
				add(text, f)
			}
		}
	}
	return out
}

// A function of the database that has a predicate on the workspace.
type function struct {
	name, text string
	sentBy     string // pattern of the statements that it runs in
}

// acrossByNature are the functions that tell of all workspaces: names and sizes, to
// the chores of the server.
var acrossByNature = []string{"hodl_logs_ahead"}

// functions finds the functions that have a predicate in the definition the migrations
// came to.
func (a *arena) functions() (out []function) {
	a.t.Helper()
	for _, name := range a.strings(`select distinct p.proname::text from pg_proc p where p.pronamespace = 'public'::regnamespace and p.prosrc ~ 'workspace = ' order by 1`) {
		if slices.Contains(acrossByNature, name) {
			continue
		}
		f := function{name: name, sentBy: `\b` + name + `\(`}
		f.text = strings.Join(a.strings(`select pg_get_functiondef(p.oid) from pg_proc p where p.pronamespace = 'public'::regnamespace and p.proname = '`+name+`'`), ";")
		if tables := a.strings(`select tgrelid::regclass::text from pg_trigger where tgfoid = '` + name + `'::regproc`); len(tables) > 0 {
			f.sentBy = `(?i)\b(update|delete from) (` + strings.Join(tables, "|") + `)\b`
		}
		out = append(out, f)
	}
	return out
}

func (m *mutants) settle(x mutant, tells bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if tells {
		m.telling[x] = true
	} else {
		m.missed[x]++
	}
}

// watch makes databases whose stores are watched, and tries the mutants of what they
// sent when the test that used one ends.
func (m *mutants) watch(t testing.TB) storetest.Database {
	db := newPostgres(t)
	w := &watcher{scopes: map[*pgx.Conn]string{}, sent: map[string][]sending{}}
	role := roleOf(t, db.Options.Database)
	address := superuser(t, db.Options.Admin)
	db.Options = db.Options.Watched(w)
	t.Cleanup(func() {
		if !t.Failed() {
			begun := time.Now()
			m.try(t, address, role, w.sent)
			m.mu.Lock()
			defer m.mu.Unlock()
			m.took += time.Since(begun)
		}
	})
	return db
}

func roleOf(t testing.TB, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.User.Username()
}

// An arena is a transaction of a superuser in which mutants are tried; nothing of it
// stays.
type arena struct {
	t      testing.TB
	tx     pgx.Tx
	role   string
	tables []string
}

func (m *mutants) try(t testing.TB, address, role string, sent map[string][]sending) {
	ctx := context.Background() // the test's has ended
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = conn.Close(ctx) }() // it was only looked at
	must(t, store.Packing(ctx, conn))
	tx, err := conn.Begin(ctx)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = tx.Rollback(ctx) }() // nothing of it is to stay
	a := &arena{t, tx, role, nil}
	if a.tables = a.strings(`select c.relname::text from pg_class c join pg_attribute k on k.attrelid = c.oid and k.attname = 'workspace'
		where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace order by 1`); len(a.tables) == 0 {
		return // the test made no tables
	}
	list := m.open(sent, a.functions())
	if len(list) == 0 {
		return
	}
	alone := a.all(sent, list)
	a.mirror()
	beside := a.all(sent, list)
	for _, table := range a.tables {
		a.exec(`alter table ` + table + ` disable row level security`)
	}
	open := a.all(sent, list)
	for i, x := range list {
		if alone[i] != beside[i] {
			t.Errorf("leaks when it is broken:\n%s\nalone %.500s\nbeside others %.500s", x.broken(), alone[i], beside[i])
		}
		m.settle(x, alone[i] != open[i])
	}
}

func (a *arena) exec(text string, args ...any) {
	a.t.Helper()
	if _, err := a.tx.Exec(context.Background(), text, args...); err != nil {
		a.t.Errorf("%s: %v", text, err)
	}
}

func (a *arena) strings(text string) []string {
	a.t.Helper()
	rows, err := a.tx.Query(context.Background(), text)
	if err != nil {
		a.t.Error(err)
		return nil
	}
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		a.t.Error(err)
	}
	return out
}

const twin = "'~twin'"

// mirror gives every row a twin in a workspace of its own, which no statement has
// named.
func (a *arena) mirror() {
	a.t.Helper()
	a.exec(`set local session_replication_role = replica`) // no foreign keys while there are halves
	for _, table := range a.tables {
		others := ""
		switch table {
		case "api_keys":
			others = `, 'digest', sha256(r.digest)`
		case "workspaces":
			others = `, 'name', r.name || ` + twin
		}
		a.exec(`insert into ` + table + ` select (jsonb_populate_record(r, jsonb_build_object('workspace', r.workspace || ` + twin + others + `))).* from ` + table + ` r`)
	}
	a.exec(`set local session_replication_role = origin`)
}

// all returns what comes of each mutant.
func (a *arena) all(sent map[string][]sending, list []mutant) []string {
	out := make([]string, len(list))
	for i, x := range list {
		for _, s := range sent[x.text] {
			out[i] += a.outcome(x, s) + "\n"
		}
	}
	return out
}

// outcome sends a mutant as the role of the server, and returns what came back and how
// many rows it touched.
func (a *arena) outcome(x mutant, s sending) string {
	ctx := context.Background()
	part, err := a.tx.Begin(ctx) // a savepoint
	if err != nil {
		a.t.Error(err)
		return ""
	}
	defer func() { _ = part.Rollback(ctx) }() // nor of this
	text := x.text
	if x.function.text == "" {
		text = x.broken()
	} else {
		_, err = part.Exec(ctx, x.broken()) // create or replace: it keeps its owner
	}
	if err == nil {
		_, err = part.Exec(ctx, `set local role `+a.role)
	}
	if err == nil {
		_, err = part.Exec(ctx, `select set_config('hodl.workspaces', $1, true)`, s.scope)
	}
	if err != nil {
		a.t.Error(err)
		return ""
	}
	rows, err := part.Query(ctx, text, s.args...)
	if err != nil {
		a.t.Errorf("%s: %v", text, err)
		return ""
	}
	var lines []string
	for rows.Next() {
		values, err := rows.Values()
		lines = append(lines, fmt.Sprint(values, err))
	}
	slices.Sort(lines)
	out := fmt.Sprint(lines, rows.CommandTag())
	if rows.Err() != nil {
		return out + rows.Err().Error() // a refusal of the database is an outcome as well
	}
	if _, err := part.Exec(ctx, `reset role`); err != nil {
		a.t.Error(err)
	}
	return out
}

// ofFunction counts the predicates that were broken, of a function or, where it has no
// name, of statements, and those of them that leak without the second lock.
func (m *mutants) ofFunction(name string) (tried, tell int) {
	type place struct {
		text string
		nth  int
	}
	seen := map[place]bool{}
	for _, list := range []iter.Seq[mutant]{maps.Keys(m.missed), maps.Keys(m.telling)} {
		for x := range list {
			if at := (place{cmp.Or(x.function.text, x.text), x.nth}); x.function.name == name {
				seen[at] = seen[at] || m.telling[x]
			}
		}
	}
	for _, leaks := range seen {
		if leaks {
			tell++
		}
	}
	return len(seen), tell
}

// settled fails for what the suite left open.
func (m *mutants) settled(t *testing.T) {
	var silent []string
	for x := range m.missed {
		if !m.telling[x] && x.function.name == "" {
			silent = append(silent, x.broken())
		}
	}
	tried, telling := m.ofFunction("")
	t.Logf("%d statements, %d predicates; without the second lock %d of them leak; %s", len(m.seen), tried, telling, m.took)
	// The rest found no rows when a test had ended, or is one of two on the same rows.
	if telling < len(silent) {
		t.Errorf("too few of the predicates are seen to matter; not these:\n%s", strings.Join(silent, "\n"))
	}
	for text := range m.seen {
		if n := len(regexp.MustCompile(`\bworkspace =`).FindAllString(text, -1)); n != len(predicate.FindAllString(text, -1)) {
			t.Errorf("a predicate is of a form that this test does not know:\n%s", text)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.inside)) {
		tried, tell := m.ofFunction(name)
		if t.Logf("%s: %d predicates; without the second lock %d of them leak", name, tried, tell); tried == 0 {
			t.Errorf("%s: no test of the suite runs it", name)
		}
	}
	for text, at := range statements(t) {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(m.seen)), func(seen string) bool { return strings.Contains(seen, text) }) {
			t.Errorf("%s: no test of the suite runs\n%s", at, text)
		}
	}
}

// statements finds the texts with a predicate on the workspace in the store's source,
// but for those that are for SQLite, and for the operator's, who reads past the
// borders of workspaces.
func statements(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	set := token.NewFileSet()
	files, err := filepath.Glob("*.go")
	must(t, err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "sqlite") || name == "audit.go" {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		must(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				return !strings.HasPrefix(n.Names[0].Name, "sqlite")
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err == nil && predicate.MatchString(text) {
					out[text] = set.Position(n.Pos()).String()
				}
			}
			return true
		})
	}
	if len(out) == 0 {
		t.Fatal("the store's source is not here")
	}
	return out
}
