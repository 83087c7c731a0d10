//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// width returns how many columns the terminal behind f has, if there is one.
func width(f *os.File) (columns int, terminal bool) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, false
	}
	return int(size.Col), true
}
