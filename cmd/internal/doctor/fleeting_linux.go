package doctor

import "golang.org/x/sys/unix"

// fleeting reports whether the folder is in memory, or in the layer of a container, which ends with it.
func fleeting(folder string) (yes, known bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return false, false
	}
	switch int64(s.Type) {
	case unix.TMPFS_MAGIC, unix.RAMFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC:
		return true, true
	}
	return false, true
}
