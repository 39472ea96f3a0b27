package doctor

import "golang.org/x/sys/windows"

// freeSpace returns how many bytes the user can still write.
func freeSpace(folder string) (bytes int64, ok bool) {
	name, err := windows.UTF16PtrFromString(folder)
	if err != nil {
		return 0, false
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	return int64(free), err == nil
}
