package queue

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	"hodl/internal/file"
)

// A Claim is an entry that this process alone works on, until Release or Drop.
type Claim struct {
	Entry
	queue *Queue
	held  *file.Lock
}

// The lock is a file beside the entry, and goes after it: while the entry is there,
// all who want it meet at the same lock.
func (q *Queue) lock(e Entry) (*Claim, error) {
	l, err := file.TryLock(q.lockPath(e.ID))
	if errors.Is(err, file.ErrLocked) {
		return nil, ErrTaken
	}
	return &Claim{e, q, l}, err
}

func (q *Queue) lockPath(id string) string { return filepath.Join(q.dir, "."+id+".lock") }

// Release leaves the entry to whoever comes next.
func (c *Claim) Release() {
	_, err := os.Stat(c.queue.path(c.ID))
	_ = c.held.Release() // nothing was written to it
	if os.IsNotExist(err) {
		_ = os.Remove(c.queue.lockPath(c.ID)) // an empty file left over harms nobody
	}
}

// Drop removes the entry for good.
func (c *Claim) Drop() error {
	err := os.Remove(c.queue.path(c.ID))
	if err == nil {
		err = file.SyncFolder(c.queue.dir)
	}
	c.Release()
	return err
}

// Refuse notes what the server said of the entry, and releases it.
func (c *Claim) Refuse(r Refusal) error {
	defer c.Release()
	c.Refusal = &r
	return c.write()
}

// write puts the entry in its place: whole or not at all, and durably.
func (c *Claim) write() error {
	text, err := json.MarshalIndent(c.Entry, "", "  ")
	if err != nil {
		return err
	}
	return file.Replace(c.queue.path(c.ID), func(w io.Writer) error { _, err := w.Write(append(text, '\n')); return err })
}
