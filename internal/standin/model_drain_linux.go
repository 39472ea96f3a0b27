package standin

import (
	"net"
	"syscall"
	"unsafe"
)

// unsent counts the bytes that the other side of the connection has not got yet. An RST throws them away.
func unsent(conn *net.TCPConn) int {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0
	}
	var n int32
	var failed syscall.Errno
	err = raw.Control(func(fd uintptr) {
		_, _, failed = syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCOUTQ, uintptr(unsafe.Pointer(&n)))
	})
	if err != nil || failed != 0 {
		return 0
	}
	return int(n)
}
