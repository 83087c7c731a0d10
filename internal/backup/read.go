package backup

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"os"
	"strings"

	"github.com/go-json-experiment/json"

	"hodl/internal/seal"
	"hodl/internal/store"
)

// most bounds a member: a part is a row longer than partSize, and a row holds a
// session of a few MiB at most.
const most = 64 << 20

// A reader goes through a backup once.
type reader struct {
	tar      *tar.Reader
	digest   hash.Hash
	manifest *Manifest
	tables   map[string]*store.Table
	rows     map[string]int64
	end      *end
}

// Look returns what a backup says of itself, unproven.
func Look(name string) (*Manifest, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open the backup: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	r, err := begin(f)
	if err != nil {
		return nil, err
	}
	return r.manifest, nil
}

// read hands every row to take, and then proves that these were all, unchanged, and
// written by a server of this master key. Whoever takes rows keeps none of them
// before read has returned.
func read(name string, m *seal.Master, take func(*store.Table, []any) error, progress func(string, int64, int64)) (*Summary, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open the backup: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	counted := &counter{Reader: f}
	r, err := begin(counted)
	if err != nil {
		return nil, err
	}
	for r.end == nil {
		progress("reading the backup", counted.n, info.Size())
		if err := r.member(take); err != nil {
			return nil, err
		}
	}
	if err := r.prove(m); err != nil {
		return nil, err
	}
	return &Summary{Manifest: *r.manifest, Rows: r.rows, Bytes: info.Size()}, nil
}

type counter struct {
	io.Reader
	n int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.n += int64(n)
	return n, err
}

// begin reads the manifest.
func begin(from io.Reader) (*reader, error) {
	zip, err := gzip.NewReader(bufio.NewReader(from))
	if err != nil {
		return nil, fmt.Errorf("it is no backup of hodl: %w", err)
	}
	r := &reader{tar: tar.NewReader(zip), digest: sha256.New(), rows: map[string]int64{}, tables: map[string]*store.Table{}}
	name, content, err := r.next()
	if err != nil {
		return nil, err
	}
	r.manifest = &Manifest{}
	if name != manifestName || json.Unmarshal(content, r.manifest) != nil {
		return nil, errors.New("it is no backup of hodl")
	}
	if r.manifest.Format != format {
		return nil, fmt.Errorf("the backup is of format %d and this hodl knows %d: restore it with the newer hodl", r.manifest.Format, format)
	}
	mark(r.digest, name, content)
	for i, t := range r.manifest.Tables {
		r.tables[t.Name] = &r.manifest.Tables[i]
		r.rows[t.Name] = 0
	}
	return r, nil
}

func (r *reader) next() (name string, content []byte, err error) {
	h, err := r.tar.Next()
	if err != nil {
		return "", nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if h.Size > most {
		return "", nil, fmt.Errorf("%w: %s is too large", ErrDamaged, h.Name)
	}
	content, err = io.ReadAll(r.tar)
	if err != nil {
		return "", nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return h.Name, content, nil
}

// member takes the next part of a table, or the end.
func (r *reader) member(take func(*store.Table, []any) error) error {
	name, content, err := r.next()
	if err != nil {
		return err
	}
	if name == endName {
		r.end = &end{}
		if err := json.Unmarshal(content, r.end); err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		return nil
	}
	mark(r.digest, name, content)
	table, _, _ := strings.Cut(name, "/")
	t := r.tables[table]
	if t == nil {
		return fmt.Errorf("%w: %s is of no table", ErrDamaged, name)
	}
	for line := range bytes.Lines(content) {
		row, err := decodeRow(line, t)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		r.rows[t.Name]++
		if err := take(t, row); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) prove(m *seal.Master) error {
	digest := r.digest.Sum(nil)
	if !bytes.Equal(digest, r.end.Digest) || !maps.Equal(r.rows, r.end.Rows) {
		return ErrDamaged
	}
	sealed, err := seal.NewRing(m, nil).OpenServer(purpose, r.manifest.ID, r.end.Seal)
	switch {
	case errors.Is(err, seal.ErrWrongMaster):
		return fmt.Errorf("the backup was taken under master key %s, which the master key file does not hold: give the file that does", r.manifest.Master)
	case err != nil || !bytes.Equal(sealed, digest):
		return fmt.Errorf("%w: its seal does not fit", ErrDamaged)
	}
	return nil
}
