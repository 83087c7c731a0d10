//go:build unix

package seal

import (
	"os"
	"syscall"
)

// keepOwner gives f to the owner of the file at path, for root often writes it and the
// server reads it.
func keepOwner(f *os.File, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(owner.Uid) == os.Geteuid() {
		return nil
	}
	return f.Chown(int(owner.Uid), int(owner.Gid))
}
