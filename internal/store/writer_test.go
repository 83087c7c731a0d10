package store_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"

	"hodl"
	"hodl/internal/store"
	"hodl/internal/store/storetest"
)

// The writer's manners, on every engine: they hold whatever lies below.
func TestWriter(t *testing.T) {
	for _, engine := range engines {
		for name, test := range map[string]func(*testing.T, storetest.Database){
			"a bad write fails alone":         testBadWrite,
			"full queue":                      testFullQueue,
			"close drains":                    testCloseDrains,
			"closed":                          testClosed,
			"a caller who left is left out":   testLeft,
			"archive and mint in one batch":   testArchiveInBatch,
			"delete and capture in one batch": testDeleteInBatch,
			"no delay for one":                testNoDelay,
		} {
			t.Run(engine.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				test(t, engine.create(t))
			})
		}
	}
}

// A bench is a store with a workspace and what the tests of the writer write.
type bench struct {
	*store.Store
	ws   hodl.WorkspaceID
	user hodl.UserID
}

func open(t testing.TB, o store.Options) *bench {
	t.Helper()
	s, err := store.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	b := &bench{s, hodl.WorkspaceID(s.NewID("wks")), hodl.UserID(s.NewID("usr"))}
	b.workspace(t, b.ws)
	return b
}

func (b *bench) workspace(t testing.TB, ws hodl.WorkspaceID) {
	t.Helper()
	must(t, b.CreateWorkspace(context.Background(), hodl.Workspace{ID: ws, Name: string(ws), Plan: hodl.Enterprise, CreatedAt: b.Now()}, b.user))
}

func (b *bench) record() *hodl.Record {
	return &hodl.Record{
		ID: hodl.RecordID(b.NewID("acr")), Kind: hodl.KindDenied, Actor: "claude.anthropic.com", At: b.Now(),
		Workspace: b.ws, Mode: hodl.Live, User: b.user, Session: "ses_1",
	}
}

func (b *bench) append(ctx context.Context) error {
	return b.Append(ctx, b.record(), hodl.RecordDetail{})
}

func (b *bench) records(t testing.TB) int {
	t.Helper()
	list, err := b.Records(context.Background(), b.ws, hodl.Live, store.RecordFilter{User: b.user, Page: store.Page{Limit: 1000}})
	must(t, err)
	seen := map[int64]bool{}
	for _, r := range list {
		seen[r.Seq] = true
	}
	for seq := range int64(len(list)) {
		if !seen[seq] {
			t.Fatalf("%d records and none has seq %d", len(list), seq)
		}
	}
	return len(list)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// inOneBatch lets the writes wait behind a held writer, in their order, and
// returns what each got.
func (b *bench) inOneBatch(writes ...func(context.Context) error) []error {
	release := b.Hold()
	errs := make([]error, len(writes))
	var wg sync.WaitGroup
	for i, write := range writes {
		wg.Go(func() { errs[i] = write(context.Background()) })
		b.queued(i + 1)
	}
	release()
	wg.Wait()
	return errs
}

// queued returns when n writes wait.
func (b *bench) queued(n int) {
	for {
		if waiting, _ := b.Backlog(); waiting >= n {
			return
		}
		runtime.Gosched()
	}
}

func testBadWrite(t *testing.T, db storetest.Database) {
	b := open(t, db.Options)
	good := b.append
	twice := func(ctx context.Context) error { return b.AppendTwice(ctx, b.record()) }
	errs := b.inOneBatch(good, b.Panic, good, good, twice, good, b.PanicAlone, good, twice, good)
	for i, err := range errs {
		bad := slices.Contains([]int{1, 4, 6, 8}, i)
		if bad && hodl.CodeOf(err) != hodl.Internal || !bad && err != nil {
			t.Errorf("write %d: %v", i, err)
		}
	}
	if got := b.records(t); got != 6 {
		t.Errorf("%d records, want 6", got)
	}
}

func testFullQueue(t *testing.T, db storetest.Database) {
	db.Options.Queue = 3
	b := open(t, db.Options)
	release := b.Hold()
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if err := b.append(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	b.queued(3)
	err := b.append(t.Context())
	refusal, ok := errors.AsType[*hodl.Error](err)
	if !ok || refusal.Code != hodl.Unavailable || refusal.RetryAfter <= 0 {
		t.Errorf("with a full queue: %v, want unavailable with a time to come back", err)
	}
	release()
	wg.Wait()
	if got := b.records(t); got != 3 {
		t.Errorf("%d records, want those that found a place", got)
	}
}

func testCloseDrains(t *testing.T, db storetest.Database) {
	db.Options.MaxBatch = 2
	b := open(t, db.Options)
	release := b.Hold()
	const n = 9
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = b.append(context.Background()) })
	}
	b.queued(n)
	wg.Go(func() { must(t, b.Close()) })
	release()
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Errorf("writes accepted before the end: %v", err)
	}
	again, err := store.Open(t.Context(), db.Options)
	must(t, err)
	defer again.Close()
	if got := (&bench{again, b.ws, b.user}).records(t); got != n {
		t.Errorf("%d records, want %d", got, n)
	}
}

func testClosed(t *testing.T, db storetest.Database) {
	b := open(t, db.Options)
	const n = 50
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = b.append(context.Background()) })
	}
	wg.Go(func() { must(t, b.Close()) })
	wg.Wait()
	saved := 0
	for _, err := range errs {
		switch hodl.CodeOf(err) {
		case "":
			saved++
		case hodl.Unavailable:
		default:
			t.Errorf("write at the end: %v", err)
		}
	}
	if err := b.append(t.Context()); hodl.CodeOf(err) != hodl.Unavailable {
		t.Errorf("write after the end: %v", err)
	}
	again, err := store.Open(t.Context(), db.Options)
	must(t, err)
	defer again.Close()
	if got := (&bench{again, b.ws, b.user}).records(t); got != saved {
		t.Errorf("%d records, but %d were acknowledged", got, saved)
	}
}

func testLeft(t *testing.T, db storetest.Database) {
	b := open(t, db.Options)
	release := b.Hold()
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() { gone <- b.append(ctx) }()
	b.queued(1)
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	release()
	must(t, b.append(t.Context()))
	if got := b.records(t); got != 1 {
		t.Errorf("%d records, want that of the caller who stayed", got)
	}
}

func (b *bench) session(id hodl.SessionID) store.SessionWrite {
	return store.SessionWrite{
		Workspace: b.ws, Mode: hodl.Live, User: b.user, ID: id, Op: hodl.OpCapture, Fingerprint: b.NewID("f"), At: b.Now(), Author: string(b.user),
		Body: store.VersionBody{Content: hodl.Content{Title: "t"}},
	}
}

func (b *bench) token(id hodl.SessionID) hodl.Token {
	return hodl.Token{
		ID: hodl.TokenID(b.NewID("rt")), Workspace: b.ws, Mode: hodl.Live, Session: id, User: b.user, Audience: "a",
		Scopes: []hodl.Scope{hodl.ReadContext}, MaxHydrations: 1 << 40, IssuedAt: b.Now(), ExpiresAt: b.Now(),
	}
}

func (b *bench) mint(k hodl.Token) func(context.Context) error {
	rec := b.record()
	return func(ctx context.Context) error { return b.Mint(ctx, k, rec, hodl.RecordDetail{}) }
}

func (b *bench) move(id hodl.SessionID, op hodl.Operation) store.Transition {
	return store.Transition{Workspace: b.ws, Mode: hodl.Live, User: b.user, ID: id, Op: op, At: b.Now()}
}

// A session archived, restored and shared within one batch: the token from before
// is dead, that from after lives.
func testArchiveInBatch(t *testing.T, db storetest.Database) {
	b := open(t, db.Options)
	must(t, b.PutSession(t.Context(), b.session("ses_1")))
	stored, before, after := b.token("ses_1"), b.token("ses_1"), b.token("ses_1")
	must(t, b.mint(stored)(t.Context()))
	errs := b.inOneBatch(
		b.mint(before),
		func(ctx context.Context) error { return b.MoveSession(ctx, b.move("ses_1", hodl.OpArchive)) },
		func(ctx context.Context) error { return b.MoveSession(ctx, b.move("ses_1", hodl.OpRestore)) },
		b.mint(after),
		func(ctx context.Context) error { return b.hydrate(ctx, stored) },
	)
	if got := hodl.CodeOf(errs[4]); got != hodl.TokenRevoked {
		t.Errorf("hydrate with the stored token: %v", errs[4])
	}
	must(t, errors.Join(errs[:4]...))
	for name, c := range map[string]struct {
		token hodl.Token
		dead  bool
	}{"stored": {stored, true}, "before": {before, true}, "after": {after, false}} {
		got, err := b.Token(t.Context(), b.ws, hodl.Live, b.user, c.token.ID)
		must(t, err)
		if dead := !got.RevokedAt.IsZero(); dead != c.dead {
			t.Errorf("the token %s: revoked is %v", name, dead)
		}
	}
}

func (b *bench) hydrate(ctx context.Context, k hodl.Token) error {
	rec := b.record()
	rec.Kind = hodl.KindHydrate
	u := store.TokenUse{Workspace: k.Workspace, Mode: hodl.Live, Token: k.ID, Session: k.Session, At: rec.At}
	return b.Hydrate(ctx, u, admitAll, rec, hodl.RecordDetail{})
}

func admitAll(a store.Admission) error {
	switch {
	case a.Token == nil || a.Session == nil:
		return hodl.Errorf(hodl.NotFound, "nothing there")
	case !a.Token.RevokedAt.IsZero():
		return hodl.Errorf(hodl.TokenRevoked, "revoked")
	case a.Token.Hydrations >= a.Token.MaxHydrations:
		return hodl.Errorf(hodl.HydrationsExhausted, "exhausted")
	}
	return nil
}

// A session deleted and captured anew within one batch is there afterwards, and
// one made and deleted within a batch leaves nothing.
func testDeleteInBatch(t *testing.T, db storetest.Database) {
	b := open(t, db.Options)
	must(t, b.PutSession(t.Context(), b.session("ses_1")))
	anew, brief := b.session("ses_1"), b.session("ses_2")
	k := b.token("ses_1")
	errs := b.inOneBatch(
		b.mint(k),
		func(ctx context.Context) error { return b.DeleteSession(ctx, b.move("ses_1", "")) },
		func(ctx context.Context) error { return b.PutSession(ctx, anew) },
		func(ctx context.Context) error { return b.hydrate(ctx, k) },
		func(ctx context.Context) error { return b.PutSession(ctx, brief) },
		func(ctx context.Context) error { return b.DeleteSession(ctx, b.move("ses_2", "")) },
	)
	if got := hodl.CodeOf(errs[3]); got != hodl.TokenRevoked {
		t.Errorf("hydrate of the new session with the old token: %v", errs[3])
	}
	errs[3] = nil
	must(t, errors.Join(errs...))
	x, err := b.Session(t.Context(), b.ws, hodl.Live, b.user, "ses_1")
	must(t, err)
	if x.Fingerprint != anew.Fingerprint {
		t.Errorf("the session stands at %s, want %s", x.Fingerprint, anew.Fingerprint)
	}
	var left int
	must(t, db.Raw.QueryRow(`select count(*) from session_versions`).Scan(&left))
	if left != 1 {
		t.Errorf("%d versions are left, want that of the new session", left)
	}
}

// One caller at a time never shares a batch and so never waits for company; many
// do share.
func testNoDelay(t *testing.T, db storetest.Database) {
	b := open(t, db.Options)
	sizes := b.Batches()
	for range 5 {
		must(t, b.append(t.Context()))
	}
	const many = 20
	writes := make([]func(context.Context) error, many)
	for i := range writes {
		writes[i] = b.append
	}
	must(t, errors.Join(b.inOneBatch(writes...)...))
	must(t, b.Close())
	if got, want := sizes(), []int{1, 1, 1, 1, 1, many}; !slices.Equal(got, want) {
		t.Errorf("batches of %v, want %v", got, want)
	}
}
