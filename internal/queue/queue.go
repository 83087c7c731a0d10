// Package queue keeps hodls on disk that no server has taken yet: one file each, in
// a folder of the person's own. Whoever sends one holds its lock, so that no two
// processes do, and the operating system drops the lock when a process ends,
// however it ends. What was kept is gone only when it was sent or dropped.
package queue

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hodl"
)

// An Entry is a hodl that waits. It holds no credential.
type Entry struct {
	ID      string         `json:"id"`
	Server  string         `json:"server"`          // address it is for
	Account string         `json:"account"`         // which key it is for: a digest
	Key     string         `json:"idempotency_key"` // the same at every attempt, so that the server takes it once
	HeldAt  time.Time      `json:"held_at"`
	Draft   hodl.HodlDraft `json:"hodl"`
	Refusal *Refusal       `json:"refusal,omitempty"` // why the server did not take it
	Fault   string         `json:"fault,omitempty"`   // why the file cannot be read; never written
}

// A Refusal is what a server said.
type Refusal struct {
	Code    hodl.Code `json:"code"`
	Message string    `json:"message"`
	Hint    string    `json:"hint,omitempty"`
	At      time.Time `json:"at"`
}

// ErrTaken tells that another process works on an entry, or has sent or dropped it.
var ErrTaken = errors.New("another process has it, or it is gone")

// A Queue is a folder of entries. It need not exist.
type Queue struct{ dir string }

func Open(dir string) *Queue { return &Queue{dir} }

const suffix = ".json"

// List returns all entries, first held first. One whose file cannot be read has its
// Fault set and little else.
func (q *Queue) List() ([]Entry, error) {
	files, err := os.ReadDir(q.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Entry
	for _, f := range files {
		id, isEntry := strings.CutSuffix(f.Name(), suffix)
		if !isEntry || strings.HasPrefix(id, ".") {
			continue
		}
		e, err := q.read(id)
		if errors.Is(err, fs.ErrNotExist) {
			continue // sent meanwhile
		}
		if err != nil {
			e = Entry{ID: id, Fault: err.Error()}
		}
		out = append(out, e)
	}
	return out, nil
}

// Keep puts e on disk, durably, and returns it claimed. It gives e its ID and Key.
func (q *Queue) Keep(e Entry) (*Claim, error) {
	if err := os.MkdirAll(q.dir, 0o700); err != nil {
		return nil, err
	}
	e.ID = fmt.Sprintf("q%012x%s", e.HeldAt.UnixMilli(), strings.ToLower(rand.Text()[:8]))
	e.Key = rand.Text()
	c, err := q.lock(e)
	if err != nil {
		return nil, err
	}
	if err := c.write(); err != nil {
		c.Release()
		return nil, err
	}
	return c, nil
}

// Claim takes the entry that id names, so that nobody else sends it. It fails with
// [ErrTaken] when somebody does.
func (q *Queue) Claim(id string) (*Claim, error) {
	if id == "" || id != filepath.Base(id) {
		return nil, ErrTaken
	}
	if _, err := os.Stat(q.path(id)); err != nil {
		return nil, taken(err)
	}
	c, err := q.lock(Entry{ID: id})
	if err != nil {
		return nil, err
	}
	e, err := q.read(id)
	if err != nil && !errors.Is(err, errUnreadable) {
		c.Release()
		return nil, taken(err)
	}
	if err == nil {
		c.Entry = e
	}
	return c, err
}

func taken(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return ErrTaken
	}
	return err
}

var errUnreadable = errors.New("not an entry of the queue")

func (q *Queue) read(id string) (Entry, error) {
	text, err := os.ReadFile(q.path(id))
	if err != nil {
		return Entry{}, err
	}
	var e Entry
	if err := json.Unmarshal(text, &e); err != nil || e.ID != id {
		return Entry{}, fmt.Errorf("%s: %w", q.path(id), errUnreadable)
	}
	return e, nil
}

func (q *Queue) path(id string) string { return filepath.Join(q.dir, id+suffix) }
