package doctor

import "golang.org/x/sys/windows"

// freeSpace is how many bytes this user may still write in dir.
func freeSpace(dir string) (free uint64, err error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	return free, windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
}
