package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"hodl/internal/file"
	"hodl/internal/seal"
	"hodl/internal/store"
)

// A Target says where a backup is restored to.
type Target struct {
	Options  store.Options // Master is not needed
	Master   *seal.Master
	Verify   func(context.Context, *store.Snapshot) error
	Progress func(stage string, done, total int64)
}

// Restore makes the database of t from a backup. It refuses a database that is there;
// the new one appears whole, proven and flushed to the disk, or not at all. What a
// killed process leaves behind is a folder named like t's with .partial-… after it.
func Restore(ctx context.Context, name string, t Target) (*Summary, error) {
	if t.Options.Database != "" {
		return t.fill(ctx, name, t.Options)
	}
	dir := filepath.Clean(t.Options.Dir)
	if err := refuseUsed(dir); err != nil {
		return nil, err
	}
	partial, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".partial-*")
	if err != nil {
		return nil, fmt.Errorf("make a folder to restore into: %w", err)
	}
	defer os.RemoveAll(partial) //nolint:errcheck // once it has its name, it is gone
	o := t.Options
	o.Dir = partial
	sum, err := t.fill(ctx, name, o)
	if err == nil {
		err = file.SyncFolder(partial)
	}
	if err != nil {
		return nil, err
	}
	if err := refuseUsed(dir); err != nil {
		return nil, err
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) { // only one that is empty goes
		return nil, err
	}
	if err := os.Rename(partial, dir); err != nil {
		return nil, err
	}
	return sum, file.SyncFolder(filepath.Dir(dir))
}

// Check restores a backup into a folder that is thrown away.
func Check(ctx context.Context, name string, t Target) (sum *Summary, err error) {
	dir, err := os.MkdirTemp("", "hodl-check-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	return t.fill(ctx, name, store.Options{Dir: dir})
}

// refuseUsed refuses a folder with anything in it.
func refuseUsed(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(entries) > 0:
		return fmt.Errorf("%s is not empty: a backup is restored into a new folder, never over another", dir)
	}
	return nil
}

func (t *Target) fill(ctx context.Context, name string, o store.Options) (sum *Summary, err error) {
	m, err := Look(name)
	if err != nil {
		return nil, err
	}
	err = store.Restore(ctx, o, store.Restoration{
		Schema: m.Schema,
		Load: func(ctx context.Context, l *store.Loader) (err error) {
			sum, err = read(name, t.Master, func(table *store.Table, row []any) error { return l.Add(ctx, *table, row) }, t.Progress)
			return err
		},
		Verify: t.Verify,
	})
	return sum, err
}
