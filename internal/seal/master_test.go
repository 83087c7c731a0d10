package seal_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hodl/internal/seal"
)

func TestMasterFile(t *testing.T) {
	m, path := newMaster(t)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if again, err := seal.LoadMaster(path); err != nil || again.ID() != m.ID() || len(m.ID()) != 16 {
		t.Errorf("LoadMaster: %v, ids %s and %s", err, again.ID(), m.ID())
	}
	if _, err := seal.CreateMaster(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second CreateMaster: %v, want fs.ErrExist", err)
	}
	if again, err := seal.LoadMaster(path); err != nil || again.ID() != m.ID() {
		t.Errorf("the file was changed: %v", err)
	}
	if _, err := seal.LoadMaster(path + ".absent"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v, want fs.ErrNotExist", err)
	}
	if _, err := seal.LoadMaster(filepath.Dir(path)); err == nil {
		t.Error("a folder was taken for a key file")
	}
}

func TestMasterFileOfOthersIsRefused(t *testing.T) {
	_, path := newMaster(t)
	for _, mode := range []fs.FileMode{0o640, 0o604, 0o660, 0o644, 0o601} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := seal.LoadMaster(path); err == nil || !strings.Contains(err.Error(), "chmod 600 "+path) {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
}

func TestMasterFileFaultsAreNamedAndNotShown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "master.key")
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", "holds no key"},
		{"comments alone", "# a\n\n# b\n", "holds no key"},
		{"no base64", "# a\nnot a key!\n", "line 2"},
		{"too short", strings.Repeat("QUJD", 8) + "\n", "line 1"},
		{"a second line too long", strings.Repeat("A", 43) + "=\n" + strings.Repeat("QUJD", 16) + "\n", "line 2"},
	} {
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := seal.LoadMaster(path)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "QUJD") {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// A running server finds a key that was added to its file, when a value wants it.
func TestAddedKeyIsFound(t *testing.T) {
	running, path := newMaster(t)
	old := running.ID()
	wrapped, err := running.Wrap("wks_a", 1, seal.NewDataKey())
	if err != nil {
		t.Fatal(err)
	}
	added, err := seal.AddMaster(path)
	if err != nil {
		t.Fatal(err)
	}
	if ids := added.IDs(); len(ids) != 2 || ids[1] != old || ids[0] == old || added.ID() != ids[0] {
		t.Errorf("the file holds %v, and held %s", ids, old)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if left, err := filepath.Glob(path + "*"); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	key, err := added.Unwrap("wks_a", 1, wrapped)
	if err != nil {
		t.Fatal(err)
	}
	if wrapped, err = added.Wrap("wks_a", 1, key); err != nil || seal.MasterOf(wrapped) != added.ID() {
		t.Fatalf("wrapped under %s, %v", seal.MasterOf(wrapped), err)
	}
	if running.ID() != old {
		t.Error("the file was read before it was needed")
	}
	if _, err := running.Unwrap("wks_a", 1, wrapped); err != nil || running.ID() != added.ID() {
		t.Errorf("the running one: %v, its key is %s", err, running.ID())
	}
	if _, err := seal.AddMaster(path + ".absent"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// A file that is gone or spoilt takes nothing from a server that runs.
func TestSpoiltFileIsNotTaken(t *testing.T) {
	m, path := newMaster(t)
	id := m.ID()
	if err := os.WriteFile(path, []byte("nonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := m.Reload(); err == nil || m.ID() != id {
		t.Errorf("spoilt: %v, its key is %s", err, m.ID())
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := m.Reload(); !errors.Is(err, fs.ErrNotExist) || m.ID() != id {
		t.Errorf("gone: %v, its key is %s", err, m.ID())
	}
}
