package queue_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hodl"
	"hodl/internal/queue"
)

var held = time.Date(2026, 5, 5, 22, 14, 8, 0, time.UTC)

func keep(t *testing.T, q *queue.Queue, note string, after time.Duration) *queue.Claim {
	t.Helper()
	c, err := q.Keep(queue.Entry{Server: "http://127.0.0.1:8484", Account: "a", HeldAt: held.Add(after), Draft: hodl.HodlDraft{Note: note}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func notes(t *testing.T, q *queue.Queue) []string {
	t.Helper()
	list, err := q.List()
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, e := range list {
		out = append(out, e.Draft.Note+e.Fault)
	}
	return out
}

func TestQueue(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "queue")
	q := queue.Open(dir)
	if got := notes(t, q); len(got) != 0 {
		t.Errorf("a folder that is not there holds %q", got)
	}
	second, first := keep(t, q, "second", time.Hour), keep(t, q, "first", 0)
	if diff := cmp.Diff([]string{"first", "second"}, notes(t, q)); diff != "" {
		t.Error(diff)
	}
	if first.Key == "" || first.Key == second.Key {
		t.Errorf("idempotency keys %q and %q", first.Key, second.Key)
	}
	if _, err := q.Claim(first.ID); !errors.Is(err, queue.ErrTaken) {
		t.Errorf("a second claim: %v", err)
	}
	first.Release()
	again, err := queue.Open(dir).Claim(first.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first.Entry, again.Entry); diff != "" {
		t.Error(diff)
	}
	if err := again.Refuse(queue.Refusal{Code: hodl.ValidationFailed, Message: "no", At: held}); err != nil {
		t.Fatal(err)
	}
	if list, _ := q.List(); list[0].Refusal == nil || list[0].Key != first.Key {
		t.Errorf("after a refusal: %+v", list[0])
	}
	if err := second.Drop(); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Claim(second.ID); !errors.Is(err, queue.ErrTaken) {
		t.Errorf("a claim on what is gone: %v", err)
	}
	if diff := cmp.Diff([]string{"first"}, notes(t, q)); diff != "" {
		t.Error(diff)
	}
}

// TestPrivate wants nobody else to read what was held.
func TestPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "queue")
	keep(t, queue.Open(dir), "secret", 0).Release()
	for name, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "*.json"): 0o600} {
		found, _ := filepath.Glob(name)
		info, err := os.Stat(found[0])
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "q1.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	q := queue.Open(dir)
	list, err := q.List()
	if err != nil || len(list) != 1 || list[0].ID != "q1" || list[0].Fault == "" {
		t.Fatalf("%+v, %v", list, err)
	}
	c, err := q.Claim("q1")
	if err == nil || c == nil {
		t.Fatalf("%v, %v", c, err)
	}
	if err := c.Drop(); err != nil {
		t.Error(err)
	}
	for _, id := range []string{"", "../q1", "."} {
		if _, err := q.Claim(id); !errors.Is(err, queue.ErrTaken) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// TestClaims has many want the same entries: each is worked on once.
func TestClaims(t *testing.T) {
	q := queue.Open(t.TempDir())
	const entries = 20
	for i := range entries {
		keep(t, q, "n", time.Duration(i)*time.Millisecond).Release()
	}
	list, _ := q.List()
	var all sync.WaitGroup
	var mu sync.Mutex
	worked := map[string]int{}
	for range 8 {
		all.Go(func() {
			for _, e := range list {
				c, err := q.Claim(e.ID)
				if err != nil {
					continue
				}
				mu.Lock()
				worked[c.Key]++
				mu.Unlock()
				if err := c.Drop(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if len(worked) != entries {
		t.Errorf("%d of %d were claimed", len(worked), entries)
	}
	for key, n := range worked {
		if n != 1 {
			t.Errorf("%s was claimed %d times", key, n)
		}
	}
}
