package lines

import (
	"os"

	"golang.org/x/sys/unix"
)

// unread returns how many bytes the client has not yet read from a pipe or socket. ok is false for other files. What
// the client has read cannot arrive in one chunk with what follows.
func unread(out *os.File) (bytes int, ok bool) {
	raw, err := out.SyscallConn()
	if err != nil {
		return 0, false
	}
	err = raw.Control(func(fd uintptr) {
		for _, ask := range []uint{unix.SIOCOUTQ, unix.TIOCINQ} { // for sockets, for pipes
			if bytes, err = unix.IoctlGetInt(int(fd), ask); err == nil {
				ok = true
				return
			}
		}
	})
	return bytes, ok
}
