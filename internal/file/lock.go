package file

import (
	"errors"
	"os"
	"path/filepath"
)

// ErrLocked tells that another holds a lock.
var ErrLocked = errors.New("locked by another")

// A Lock is a file that one alone holds. The operating system drops it when the
// process ends, however it ends; the file stays.
type Lock struct{ file *os.File }

// TryLock takes the lock that is the file name, which it makes at first. While
// another holds it, in this process or in another one, the error is [ErrLocked].
func TryLock(name string) (*Lock, error) {
	f, err := os.OpenFile(filepath.Clean(name), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Lock{f}, nil
}

// Release leaves the lock to whoever comes next.
func (l *Lock) Release() error { return l.file.Close() }
