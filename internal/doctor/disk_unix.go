//go:build unix

package doctor

import "golang.org/x/sys/unix"

// freeSpace is how many bytes an ordinary user may still write in dir.
func freeSpace(dir string) (uint64, error) {
	var s unix.Statfs_t
	err := unix.Statfs(dir, &s)
	return uint64(s.Bavail) * uint64(s.Bsize), err //nolint:unconvert // the types differ between systems
}
