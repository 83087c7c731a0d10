package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hodl"
	"hodl/hodltest"
)

// TestKilledBackups kills hodl backup and hodl restore at moments spread over their
// whole run. A file or folder that has its name is whole, whenever that happened.
func TestKilledBackups(t *testing.T) {
	server := hodltest.Start(t)
	body := strings.Repeat("what was said. ", 2000)
	for i := range 60 {
		draft := hodl.SessionDraft{Title: fmt.Sprint("session ", i), Notes: []hodl.NoteDraft{{Body: body}}}
		if _, err := server.Client().CaptureSession(t.Context(), draft); err != nil {
			t.Fatal(err)
		}
	}
	key := filepath.Join(server.Data, "master.key")
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole.tar.gz")
	began := time.Now()
	runs(t, "backup", "--data", server.Data, whole)
	took := time.Since(began)
	began = time.Now()
	runs(t, "restore", whole, "--data", filepath.Join(dir, "whole"), "--master-key-file", key)
	restoring := time.Since(began)

	const kills = 8
	written, restored := 0, 0
	for i := range kills {
		file := filepath.Join(dir, fmt.Sprintf("%d.tar.gz", i))
		killAfter(t, took*time.Duration(i+1)/kills, "backup", "--data", server.Data, file)
		if there(t, file) {
			written++
			runs(t, "restore", file, "--check", "--master-key-file", key)
		}
		folder := filepath.Join(dir, fmt.Sprint(i))
		killAfter(t, restoring*time.Duration(i+1)/kills, "restore", whole, "--data", folder, "--master-key-file", key)
		if there(t, folder) {
			restored++
			runs(t, "doctor", "--data", folder, "--listen", "127.0.0.1:0", "--master-key-file", key)
		}
	}
	t.Logf("of %d, %d backups and %d databases were there", kills, written, restored)
	if written == kills || restored == kills {
		t.Error("no kill came in time")
	}
}

func command(args ...string) *exec.Cmd {
	c := exec.Command("hodl", args...)
	c.Env = append(os.Environ(), "HODL_URL=", "HODL_API_KEY=")
	return c
}

func runs(t *testing.T, args ...string) {
	t.Helper()
	if out, err := command(args...).CombinedOutput(); err != nil {
		t.Fatalf("hodl %v: %v\n%s", args, err, out)
	}
}

// killAfter runs hodl and kills it when its time is over.
func killAfter(t *testing.T, d time.Duration, args ...string) {
	t.Helper()
	c := command(args...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(d, func() { _ = c.Process.Kill() })
	_ = c.Wait() // it was killed, or was done before
	kill.Stop()
}

func there(t *testing.T, name string) bool {
	t.Helper()
	_, err := os.Stat(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}
