package storetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"hodl"
	"hodl/internal/seal"
	"hodl/internal/store"
)

func ignore(int64) {}

// sealedUnder counts the sealed values of each version, from the raw rows.
func (w *world) sealedUnder(t testing.TB) map[uint32]int {
	t.Helper()
	out := map[uint32]int{}
	for _, query := range []string{
		`select head from sessions where workspace = $1`, `select body from session_versions where workspace = $1`,
		`select selection from hodls where workspace = $1 and selection is not null`,
	} {
		for _, b := range w.bytesOf(t, query, w.ws) {
			out[seal.VersionOf(b)]++
		}
	}
	return out
}

func (w *world) dataKeys(t testing.TB) int {
	t.Helper()
	return one[int](t, w, `select count(*) from data_keys where workspace = $1`, w.ws)
}

// fillSealed puts something into every sealed column.
func (w *world) fillSealed(t *testing.T, sessions int) []*hodl.Session {
	t.Helper()
	var out []*hodl.Session
	for range sessions {
		out = append(out, w.session(t, "word"))
	}
	h := w.newHodl(out[0].ID)
	h.Location.Selection.Text = "selection"
	w.putHodl(t, h)
	return out
}

func testRotation(t *testing.T, w *world) {
	ctx := t.Context()
	const n = 150 // more than one transaction takes
	list := w.fillSealed(t, n)
	before := w.mustSession(t, list[0].ID)
	got, err := w.RotateDataKey(ctx, w.ws, ignore)
	must(t, err)
	equal(t, "the rotation", got, store.Rotated{Version: 2, Values: 2*n + 1, Removed: 1})
	equal(t, "values by version", w.sealedUnder(t), map[uint32]int{2: 2*n + 1})
	equal(t, "data keys", w.dataKeys(t), 1)
	for _, s := range w.stores {
		after, err := s.Session(ctx, w.ws, hodl.Live, w.user, list[0].ID)
		must(t, err)
		equal(t, "session", after, before)
		body, err := s.Version(ctx, w.ws, hodl.Live, list[n-1].ID, list[n-1].Fingerprint)
		must(t, err)
		equal(t, "title", body.Content.Title, "title word")
	}
	hodls, err := w.SessionHodls(ctx, w.ws, hodl.Live, w.user, list[0].ID)
	must(t, err)
	equal(t, "selection", hodls[0].Location.Selection.Text, "selection")

	// A store that remembers the old key, and has a capture half done, goes on.
	for _, s := range w.stores {
		must(t, s.PutSession(ctx, w.version(t, w.sessionID(), "later", "", hodl.OpCapture)))
	}
	equal(t, "values by version", w.sealedUnder(t), map[uint32]int{2: 2*n + 1 + 2*len(w.stores)})
	_, err = w.RotateDataKey(ctx, "wks_none", ignore)
	refused(t, "rotation of no workspace", err, hodl.NotFound)
}

// errStop is how a test ends a rotation half-way.
var errStop = errors.New("stop")

// testRotationResumes ends a rotation after each transaction until one is let through.
func testRotationResumes(t *testing.T, w *world) {
	const n = 100
	w.fillSealed(t, n)
	stops, version := 0, uint32(0)
	for done := false; !done; stops++ {
		ctx, stop := context.WithCancelCause(t.Context())
		got, err := w.RotateDataKey(ctx, w.ws, func(values int64) {
			if values == 50 {
				stop(errStop)
			}
		})
		if done = err == nil; !done && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		equal(t, "resumed", got.Resumed, stops > 0)
		version = got.Version
		for id, count := range w.sealedUnder(t) {
			if id < 1 || id > 2 || count == 0 {
				t.Errorf("%d values under version %d", count, id)
			}
		}
	}
	if stops < 3 {
		t.Errorf("stopped %d times only", stops-1)
	}
	equal(t, "version", version, 2)
	equal(t, "values by version", w.sealedUnder(t), map[uint32]int{2: 2*n + 1})
	equal(t, "data keys", w.dataKeys(t), 1)
}

// testRotationUnderLoad rotates again and again while every store captures, changes
// and reads. Nothing is lost, and everything opens.
func testRotationUnderLoad(t *testing.T, w *world) {
	ctx, enough := context.WithCancel(t.Context())
	defer enough()
	var wg sync.WaitGroup
	captured := make(chan struct{})
	for i, s := range w.stores {
		for range 3 {
			wg.Go(func() {
				id, print := w.sessionID(), ""
				for n := 0; ctx.Err() == nil; n++ {
					op := hodl.OpUpdate
					if print == "" {
						op = hodl.OpCapture
					}
					next := w.version(t, id, string(rune('a'+n%26))+string(id), print, op)
					if err := s.PutSession(t.Context(), next); err != nil {
						t.Errorf("capture on store %d: %v", i, err)
						enough()
						return
					}
					print = next.Fingerprint
					select {
					case captured <- struct{}{}:
					default:
					}
					if _, err := w.at(i+1).Version(t.Context(), w.ws, hodl.Live, id, print); err != nil {
						t.Errorf("read on store %d: %v", i+1, err)
						enough()
						return
					}
				}
			})
		}
	}
	for i := range 6 {
		select {
		case <-captured: // however fast a rotation is, it falls among captures
		case <-ctx.Done():
		}
		got, err := w.at(i).RotateDataKey(t.Context(), w.ws, ignore)
		must(t, err)
		equal(t, "version", got.Version, uint32(i+2))
	}
	enough()
	wg.Wait()
	_, err := w.RotateDataKey(t.Context(), w.ws, ignore)
	must(t, err)
	equal(t, "versions in use", len(w.sealedUnder(t)), 1)
	equal(t, "data keys", w.dataKeys(t), 1)
	w.everythingOpens(t)
}

// everythingOpens looks past the stores.
func (w *world) everythingOpens(t *testing.T) {
	t.Helper()
	s, err := store.OpenSnapshot(t.Context(), w.db.Options)
	must(t, err)
	defer func() { must(t, s.Close()) }()
	keys, err := s.DataKeys(t.Context(), w.ws)
	must(t, err)
	kept := keyring{}
	for _, k := range keys {
		kept[k.Version] = k.Wrapped
	}
	ring := seal.NewRing(w.db.Options.Master, kept)
	must(t, s.EachSealed(t.Context(), w.ws, func(v store.SealedValue) error {
		_, err := ring.Open(t.Context(), w.ws, v.Purpose, v.Object, v.Value)
		return err
	}))
}

type keyring map[uint32][]byte

func (k keyring) DataKey(_ context.Context, _ hodl.WorkspaceID, version uint32) ([]byte, error) {
	return k[version], nil
}

func (k keyring) CurrentDataKey(context.Context, hodl.WorkspaceID) (uint32, error) { return 0, errStop }

// A value that does not open keeps its key, and the rest is sealed anew.
func testRotationOfSpoilt(t *testing.T, w *world) {
	s := w.session(t, "word")
	w.session(t, "other")
	var head []byte
	must(t, w.raw(t).QueryRowContext(t.Context(), `select head from sessions where workspace = $1 and id = $2`, w.ws, s.ID).Scan(&head))
	head[len(head)-1] ^= 1
	exec(t, w.raw(t), `update sessions set head = $1 where workspace = $2 and id = $3`, head, w.ws, s.ID)
	_, err := w.RotateDataKey(t.Context(), w.ws, ignore)
	if !errors.Is(err, store.ErrUnreadable) {
		t.Errorf("a value that does not open: %v", err)
	}
	equal(t, "values by version", w.sealedUnder(t), map[uint32]int{1: 1, 2: 3})
	equal(t, "data keys", w.dataKeys(t), 2)
}

// testMasterRotation has a master key file of its own: two stores hold it in memory,
// each by itself, as two servers do.
func testMasterRotation(t *testing.T, db Database) {
	path := filepath.Join(t.TempDir(), "master.key")
	_, err := seal.CreateMaster(path)
	must(t, err)
	load := func() *seal.Master {
		m, err := seal.LoadMaster(path)
		must(t, err)
		return m
	}
	db.Options.Master = load()
	w := newWorld(t, db)
	w.db.Options.Master = load()
	running := w.open(t)
	s := w.session(t, "word")
	addKey := func(kid string, s *store.Store) error {
		return s.RotateSigningKeys(t.Context(), func([]store.SigningKey) (store.KeyChange, error) {
			return store.KeyChange{Add: &store.SigningKey{KID: kid, Public: []byte(kid), Seed: []byte("seed of " + kid), CreatedAt: w.Now()}}, nil
		})
	}
	_, _, err = w.Install(t.Context(), store.Installation{Issuer: "i", LogOrigin: "o"})
	must(t, err)
	must(t, addKey("first", w.Store))
	old := w.db.Options.Master.ID()
	before, err := os.ReadFile(path)
	must(t, err)

	_, err = seal.AddMaster(path)
	must(t, err)
	w.db.Options.Master = load()
	command := w.open(t)
	list, err := command.Workspaces(t.Context())
	must(t, err)
	got, err := command.RotateMaster(t.Context(), list, ignore)
	must(t, err)
	equal(t, "the rotation", got, store.Rewrapped{Keys: 1, Values: 1, Unused: []string{old}})

	// A server that still remembers the old one makes things: under the new one.
	made := hodl.Workspace{ID: hodl.WorkspaceID(w.NewID("wks")), Name: "later", Plan: hodl.Scale, CreatedAt: w.Now()}
	must(t, running.CreateWorkspace(t.Context(), made, "usr_1"))
	must(t, addKey("second", w.Store))
	for _, query := range []string{`select wrapped from data_keys`, `select seed from signing_keys`} {
		for _, b := range w.bytesOf(t, query) {
			equal(t, "master key", seal.MasterOf(b), w.db.Options.Master.ID())
		}
	}
	for _, x := range []*store.Store{w.Store, running} {
		keys, err := x.SigningKeys(t.Context())
		must(t, err)
		equal(t, "a seed", string(keys[0].Seed), "seed of first")
		_, err = x.Session(t.Context(), w.ws, hodl.Live, w.user, s.ID)
		must(t, err)
	}
	again, err := command.RotateMaster(t.Context(), list, ignore)
	must(t, err)
	equal(t, "rotated again", again, store.Rewrapped{Unused: []string{old}})

	// Who has only the old file is told so, and retires nothing.
	must(t, os.WriteFile(path, before, 0o600))
	w.db.Options.Master = load()
	late := w.open(t)
	_, err = late.RotateMaster(t.Context(), list, ignore)
	refused(t, "rotation with the old file", err, hodl.Unavailable)
	contains(t, err.Error(), old+" was retired")
}

func (w *world) bytesOf(t testing.TB, query string, args ...any) (out [][]byte) {
	t.Helper()
	rows, err := w.raw(t).QueryContext(t.Context(), query, args...)
	must(t, err)
	defer func() { must(t, rows.Close()) }()
	for rows.Next() {
		var b []byte
		must(t, rows.Scan(&b))
		out = append(out, b)
	}
	must(t, rows.Err())
	return out
}
