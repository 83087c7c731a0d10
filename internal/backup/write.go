package backup

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"

	"hodl/internal/file"
	"hodl/internal/seal"
	"hodl/internal/store"
)

// An Order says what to back up.
type Order struct {
	Snapshot *store.Snapshot
	Master   *seal.Master
	Release  string
	Now      time.Time
	Progress func(stage string, done, total int64)
}

// Write writes a backup to the file name, which must not be there, and reads it again to its
// end. The file appears whole and flushed to the disk, or not at all; what a killed
// process leaves behind is named name.partial-….
func Write(ctx context.Context, o Order, name string) (*Summary, error) {
	if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is already there: a backup is never written over", name)
	}
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".partial-*")
	if err != nil {
		return nil, fmt.Errorf("make the backup: %w", err)
	}
	defer os.Remove(f.Name()) //nolint:errcheck // once it has its name, it is gone
	sum, err := o.write(ctx, f)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return nil, fmt.Errorf("write the backup: %w", err)
	}
	if _, err := read(f.Name(), o.Master, func(*store.Table, []any) error { return ctx.Err() }, o.Progress); err != nil {
		return nil, fmt.Errorf("read the backup again: %w", err)
	}
	if info, err := os.Stat(f.Name()); err == nil {
		sum.Bytes = info.Size()
	}
	return sum, place(f.Name(), name)
}

// place gives a file its name, unless somebody else has taken it meanwhile.
func place(from, to string) error {
	if err := os.Link(from, to); errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is already there: a backup is never written over", to)
	} else if err != nil { // a file system without links
		if err := os.Rename(from, to); err != nil {
			return err
		}
	}
	return file.SyncFolder(filepath.Dir(to))
}

// An archive is being written.
type archive struct {
	zip    *gzip.Writer
	tar    *tar.Writer
	digest hash.Hash
	at     time.Time
	rows   map[string]int64
}

func (o *Order) write(ctx context.Context, to io.Writer) (*Summary, error) {
	m, err := o.manifest(ctx)
	if err != nil {
		return nil, err
	}
	zip, err := gzip.NewWriterLevel(to, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	a := &archive{zip, tar.NewWriter(zip), sha256.New(), o.Now, map[string]int64{}}
	if err := a.addJSON(manifestName, m); err != nil {
		return nil, err
	}
	for i := range m.Tables {
		if err := a.table(ctx, o, &m.Tables[i]); err != nil {
			return nil, err
		}
	}
	return &Summary{Manifest: *m, Rows: a.rows}, a.close(m.ID, o.Master)
}

func (o *Order) manifest(ctx context.Context) (*Manifest, error) {
	at, newest, err := o.Snapshot.Schema(ctx)
	if err != nil {
		return nil, err
	}
	if at > newest {
		return nil, fmt.Errorf("the database is at version %d and this hodl knows %d: back it up with the newer hodl", at, newest)
	}
	m := &Manifest{Format: format, ID: rand.Text(), Schema: at, Engine: o.Snapshot.Engine(), Release: o.Release, Master: o.Master.ID(), TakenAt: o.Now}
	m.Tables, err = o.Snapshot.Tables(ctx)
	return m, err
}

// table writes the rows of a table, in parts.
func (a *archive) table(ctx context.Context, o *Order, t *store.Table) error {
	part, rows := 0, int64(0)
	var text []byte
	next := func() error {
		part++
		err := a.add(fmt.Sprintf("%s/%06d.jsonl", t.Name, part), text)
		text = text[:0]
		return err
	}
	err := o.Snapshot.EachRow(ctx, *t, func(row []any) (err error) {
		if text, err = encodeRow(text, row); err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
		if rows++; rows%1024 == 0 {
			o.Progress("backing up "+t.Name, rows, 0)
		}
		if len(text) >= partSize {
			return next()
		}
		return ctx.Err()
	})
	if err == nil && len(text) > 0 {
		err = next()
	}
	a.rows[t.Name] = rows
	return err
}

func (a *archive) add(name string, content []byte) error {
	if err := a.tar.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(content)), ModTime: a.at, Format: tar.FormatPAX}); err != nil {
		return err
	}
	mark(a.digest, name, content)
	_, err := a.tar.Write(content)
	return err
}

// mark makes a member part of the digest.
func mark(h hash.Hash, name string, content []byte) {
	_, _ = fmt.Fprintf(h, "%d %s %d\n", len(name), name, len(content)) // a hash takes everything
	h.Write(content)
}

func (a *archive) addJSON(name string, v any) error {
	text, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return err
	}
	return a.add(name, text)
}

// close writes the end.
func (a *archive) close(id string, m *seal.Master) error {
	digest := a.digest.Sum(nil)
	sealed, err := seal.NewRing(m, nil).SealServer(purpose, id, digest)
	if err != nil {
		return err
	}
	return errors.Join(a.addJSON(endName, end{a.rows, digest, sealed}), a.tar.Close(), a.zip.Close())
}
