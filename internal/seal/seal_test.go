package seal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"hodl"
	"hodl/internal/seal"
)

var ctx = context.Background()

// keyTable is the table of wrapped data keys, as a store would keep it.
type keyTable struct {
	mu      sync.Mutex
	current map[hodl.WorkspaceID]uint32
	wrapped map[string][]byte
	reads   int
}

func (k *keyTable) DataKey(_ context.Context, ws hodl.WorkspaceID, version uint32) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.reads++
	if w, ok := k.wrapped[fmt.Sprint(ws, version)]; ok {
		return w, nil
	}
	return nil, hodl.Errorf(hodl.NotFound, "no data key")
}

func (k *keyTable) CurrentDataKey(_ context.Context, ws hodl.WorkspaceID) (uint32, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.current[ws], nil
}

func (k *keyTable) add(t testing.TB, m *seal.Master, ws hodl.WorkspaceID, version uint32) {
	t.Helper()
	wrapped, err := m.Wrap(ws, version, seal.NewDataKey())
	if err != nil {
		t.Fatal(err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.wrapped[fmt.Sprint(ws, version)] = wrapped
	k.current[ws] = version
}

func newMaster(t testing.TB) (*seal.Master, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "master.key")
	m, err := seal.CreateMaster(path)
	if err != nil {
		t.Fatal(err)
	}
	return m, path
}

func newRing(t testing.TB) (*seal.Ring, *keyTable, *seal.Master) {
	t.Helper()
	m, _ := newMaster(t)
	table := &keyTable{current: map[hodl.WorkspaceID]uint32{}, wrapped: map[string][]byte{}}
	table.add(t, m, "wks_a", 1)
	table.add(t, m, "wks_b", 1)
	return seal.NewRing(m, table), table, m
}

func mustSeal(t testing.TB, r *seal.Ring, object string, plaintext []byte) []byte {
	t.Helper()
	sealed, err := r.Seal(ctx, "wks_a", "session", object, plaintext)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func TestOpenReturnsWhatWasSealed(t *testing.T) {
	r, _, _ := newRing(t)
	for _, plaintext := range [][]byte{nil, []byte("x"), bytes.Repeat([]byte("context "), 4096)} {
		sealed := mustSeal(t, r, "live/ses_1/f", plaintext)
		got, err := r.Open(ctx, "wks_a", "session", "live/ses_1/f", sealed)
		if err != nil || !bytes.Equal(got, plaintext) {
			t.Errorf("Open(%d bytes) = %d bytes, %v", len(plaintext), len(got), err)
		}
		if len(plaintext) > 8 && bytes.Contains(sealed, plaintext[:8]) {
			t.Error("the sealed value shows the plaintext")
		}
		if bytes.Equal(sealed, mustSeal(t, r, "live/ses_1/f", plaintext)) {
			t.Error("sealing twice gave the same bytes")
		}
	}
}

func TestOpenRefusesWhatBelongsElsewhere(t *testing.T) {
	r, _, _ := newRing(t)
	sealed := mustSeal(t, r, "live/ses_1/f", []byte("secret"))
	for _, tt := range []struct {
		name      string
		workspace hodl.WorkspaceID
		purpose   seal.Purpose
		object    string
	}{
		{"another object", "wks_a", "session", "live/ses_2/f"},
		{"another workspace", "wks_b", "session", "live/ses_1/f"},
		{"another purpose", "wks_a", "answer", "live/ses_1/f"},
		{"a border moved between purpose and object", "wks_a", "sessionl", "ive/ses_1/f"},
	} {
		if _, err := r.Open(ctx, tt.workspace, tt.purpose, tt.object, sealed); !errors.Is(err, seal.ErrCorrupt) {
			t.Errorf("%s: err = %v, want ErrCorrupt", tt.name, err)
		}
	}
}

func TestOpenRefusesEveryChangedByteAndCut(t *testing.T) {
	r, _, _ := newRing(t)
	sealed := mustSeal(t, r, "o", []byte("some content"))
	for i := range sealed {
		for _, flip := range []byte{1, 0x80, 0xff} {
			changed := bytes.Clone(sealed)
			changed[i] ^= flip
			if _, err := r.Open(ctx, "wks_a", "session", "o", changed); err == nil {
				t.Errorf("byte %d changed by %#x still opens", i, flip)
			}
		}
		if _, err := r.Open(ctx, "wks_a", "session", "o", sealed[:i]); err == nil {
			t.Errorf("cut to %d bytes it still opens", i)
		}
	}
	if _, err := r.Open(ctx, "wks_a", "session", "o", append(sealed, 0)); err == nil {
		t.Error("with a byte more it still opens")
	}
}

func TestUnwrapRefusesEveryChangedByteAndOtherOwners(t *testing.T) {
	m, _ := newMaster(t)
	wrapped, err := m.Wrap("wks_a", 1, seal.NewDataKey())
	if err != nil {
		t.Fatal(err)
	}
	for i := range wrapped {
		changed := bytes.Clone(wrapped)
		changed[i] ^= 1
		if _, err := m.Unwrap("wks_a", 1, changed); err == nil {
			t.Errorf("byte %d changed still unwraps", i)
		}
	}
	if _, err := m.Unwrap("wks_b", 1, wrapped); !errors.Is(err, seal.ErrCorrupt) {
		t.Errorf("another workspace: %v", err)
	}
	if _, err := m.Unwrap("wks_a", 2, wrapped); !errors.Is(err, seal.ErrCorrupt) {
		t.Errorf("another version: %v", err)
	}
	if _, err := m.Wrap("wks_a", 1, seal.DataKey{}); err == nil {
		t.Error("the zero key was wrapped")
	}
}

func TestWrongMasterIsToldFromCorruption(t *testing.T) {
	_, table, _ := newRing(t)
	other, _ := newMaster(t)
	r := seal.NewRing(other, table)
	_, err := r.Seal(ctx, "wks_a", "session", "o", nil)
	if !errors.Is(err, seal.ErrWrongMaster) || !strings.Contains(err.Error(), other.ID()) {
		t.Errorf("err = %v, want ErrWrongMaster that names key %s", err, other.ID())
	}
}

func TestOlderMasterKeysStillOpen(t *testing.T) {
	m, path := newMaster(t)
	table := &keyTable{current: map[hodl.WorkspaceID]uint32{}, wrapped: map[string][]byte{}}
	table.add(t, m, "wks_a", 1)
	old := seal.NewRing(m, table)
	value, signing := mustSeal(t, old, "o", []byte("content")), mustSealServer(t, old, []byte("signing key"))

	rotated := rotate(t, path)
	if rotated.ID() == m.ID() {
		t.Fatal("the first line is not the current key")
	}
	r := seal.NewRing(rotated, table)
	if got, err := r.Open(ctx, "wks_a", "session", "o", value); err != nil || string(got) != "content" {
		t.Errorf("Open = %q, %v", got, err)
	}
	if got, err := r.OpenServer("signing", "kid", signing); err != nil || string(got) != "signing key" {
		t.Errorf("OpenServer = %q, %v", got, err)
	}
	if _, err := old.OpenServer("signing", "kid", mustSealServer(t, r, nil)); err != nil {
		t.Errorf("a server that read the old file does not find the new key: %v", err)
	}
}

// rotate puts a new key above those of the file at path.
func rotate(t *testing.T, path string) *seal.Master {
	t.Helper()
	_, fresh := newMaster(t)
	above, err := os.ReadFile(fresh)
	if err != nil {
		t.Fatal(err)
	}
	below, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(above, below...), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := seal.LoadMaster(path)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func mustSealServer(t *testing.T, r *seal.Ring, plaintext []byte) []byte {
	t.Helper()
	sealed, err := r.SealServer("signing", "kid", plaintext)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func TestServerValues(t *testing.T) {
	m, _ := newMaster(t)
	r := seal.NewRing(m, nil)
	sealed := mustSealServer(t, r, []byte("signing key"))
	if _, err := r.OpenServer("other", "kid", sealed); !errors.Is(err, seal.ErrCorrupt) {
		t.Errorf("another purpose: %v", err)
	}
	if _, err := r.OpenServer("signing", "kid2", sealed); !errors.Is(err, seal.ErrCorrupt) {
		t.Errorf("another object: %v", err)
	}
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		if _, err := r.OpenServer("signing", "kid", changed); err == nil {
			t.Errorf("byte %d changed still opens", i)
		}
	}
}

func TestNewDataKeyVersion(t *testing.T) {
	r, table, m := newRing(t)
	before := mustSeal(t, r, "o", []byte("old"))
	table.add(t, m, "wks_a", 2)
	r.Forget("wks_a")
	after := mustSeal(t, r, "o", []byte("new"))
	if before[4] != 1 || after[4] != 2 {
		t.Errorf("sealed under versions %d and %d, want 1 and 2", before[4], after[4])
	}
	for _, sealed := range [][]byte{before, after} {
		if _, err := r.Open(ctx, "wks_a", "session", "o", sealed); err != nil {
			t.Error(err)
		}
	}
}

func TestForgottenKeysAreLoadedAgain(t *testing.T) {
	r, table, _ := newRing(t)
	sealed := mustSeal(t, r, "o", nil)
	mustSeal(t, r, "o", nil)
	if table.reads != 1 {
		t.Errorf("%d reads of the data key, want 1", table.reads)
	}
	clear(table.wrapped) // the workspace is destroyed
	r.Forget("wks_a")
	if _, err := r.Open(ctx, "wks_a", "session", "o", sealed); hodl.CodeOf(err) != hodl.NotFound {
		t.Errorf("err = %v, want the loader's", err)
	}
}

func TestConcurrentUse(t *testing.T) {
	r, _, _ := newRing(t)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			ws := hodl.WorkspaceID([]string{"wks_a", "wks_b"}[i%2])
			for n := range 50 {
				object := fmt.Sprint(i, n)
				sealed, err := r.Seal(ctx, ws, "session", object, []byte(object))
				if err != nil {
					t.Error(err)
					return
				}
				if n%10 == 0 {
					r.Forget(ws)
				}
				if got, err := r.Open(ctx, ws, "session", object, sealed); err != nil || string(got) != object {
					t.Errorf("Open = %q, %v", got, err)
				}
			}
		})
	}
	wg.Wait()
}

// keyBytes finds what nine or more bytes in a row print as: more than a key's id.
var keyBytes = regexp.MustCompile(`(\d+,? ){8}\d|[0-9a-f]{18}|(0x[0-9a-f]+, ){8}`)

func TestKeysAreNeverShown(t *testing.T) {
	m, path := newMaster(t)
	key := seal.NewDataKey()
	inside := struct{ key seal.DataKey }{key}
	r := seal.NewRing(m, nil)
	within := struct {
		master seal.Master
		ring   *seal.Ring
	}{*m, r}
	for _, v := range []any{m, *m, key, &key, inside, &inside, r, []any{key}, within, &within} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			if out := fmt.Sprintf(verb, v); keyBytes.MatchString(out) {
				t.Errorf("%s of %T shows %s", verb, v, out)
			}
		}
		if out, err := json.Marshal(v); err != nil || len(out) > 40 {
			t.Errorf("JSON of %T is %s, %v", v, out, err)
		}
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("start", slog.Any("master", m), slog.Any("key", key))
	if strings.Count(log.String(), "[key]") != 2 {
		t.Errorf("logged as %s", log.String())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(log.String()+fmt.Sprintf("%+v", m), string(text[len(text)-20:])) {
		t.Error("the file's key is shown")
	}
}
