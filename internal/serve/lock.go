package serve

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"hodl/internal/file"
)

// lockFolder keeps a second server off the same SQLite folder.
func lockFolder(dir string) (*file.Lock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	name := filepath.Join(dir, "hodl.lock")
	l, err := file.TryLock(name)
	if errors.Is(err, file.ErrLocked) {
		return nil, fmt.Errorf("another hodl server works in %s: stop it, or choose another folder with --data", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	return l, nil
}
