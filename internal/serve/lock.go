package serve

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// errLocked tells that another process holds the lock.
var errLocked = errors.New("locked")

// A folderLock keeps a second server off the same SQLite folder. The operating
// system drops it when the process ends, however it ends.
type folderLock struct{ file *os.File }

func lockFolder(dir string) (*folderLock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	name := filepath.Join(dir, "hodl.lock")
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock: %w", err)
	}
	if err := lockFile(f); err != nil {
		_ = f.Close() // nothing was written
		if errors.Is(err, errLocked) {
			return nil, fmt.Errorf("another hodl server works in %s: stop it, or choose another folder with --data", dir)
		}
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	return &folderLock{f}, nil
}

func (l *folderLock) release() error { return l.file.Close() }
