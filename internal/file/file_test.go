package file_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"hodl/internal/file"
)

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x")
	says := func(text string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
	}
	holds := func(want string) {
		t.Helper()
		got, err := os.ReadFile(name)
		if err != nil || string(got) != want {
			t.Fatalf("%q, %v; want %q", got, err, want)
		}
		if all, err := os.ReadDir(dir); err != nil || len(all) != 1 {
			t.Fatalf("beside it: %v, %v", all, err)
		}
	}
	for _, text := range []string{"one", "another"} {
		if err := file.Replace(name, says(text)); err != nil {
			t.Fatal(err)
		}
		holds(text)
	}
	broken := errors.New("broken off")
	err := file.Replace(name, func(w io.Writer) error { return errors.Join(says("half")(w), broken) })
	if !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	holds("another")
	if info, err := os.Stat(name); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := file.Replace(filepath.Join(dir, "absent", "x"), says("")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestTryLock(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	l, err := file.TryLock(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.TryLock(name); !errors.Is(err, file.ErrLocked) {
		t.Errorf("a second: %v", err)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	if l, err = file.TryLock(name); err != nil {
		t.Fatal(err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
	if _, err := file.TryLock(filepath.Join(name, "absent")); err == nil || errors.Is(err, file.ErrLocked) {
		t.Errorf("where no file can be: %v", err)
	}
}
