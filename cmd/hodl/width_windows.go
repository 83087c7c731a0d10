package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// width returns how many columns the terminal behind f has, if there is one.
func width(f *os.File) (columns int, terminal bool) {
	var info windows.ConsoleScreenBufferInfo
	if err := windows.GetConsoleScreenBufferInfo(windows.Handle(f.Fd()), &info); err != nil {
		return 0, false
	}
	return int(info.Window.Right-info.Window.Left) + 1, true
}
