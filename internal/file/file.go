// Package file replaces files, so that one is there whole and on disk, or as it was
// before; and locks them.
package file

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// Replace writes the file name, for its owner alone, through a file beside it that
// takes its place when it is whole and on disk. When write fails, or anything else,
// what was there stays and nothing is left beside it.
func Replace(name string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*.tmp") // 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // it is the first error that tells
		}
	}()
	err = write(f)
	if failed := errors.Join(f.Sync(), f.Close()); err == nil {
		err = failed
	}
	if err != nil {
		return err
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(name))
}

// SyncFolder makes what was made, renamed or removed in a folder last through a loss
// of power. Windows has no such call, and journals its folders.
func SyncFolder(name string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := os.Open(filepath.Clean(name))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
