package server

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

const (
	firstUnsent = 16 << 10 // bytes that the kernel may hold unsent on a link that is not thin
	leastUnsent = 1 << 10
	leastBuffer = 8 << 10 // the smallest buffer of a connection, in bytes
	mostBuffer  = 4 << 20
)

// bound limits the unsent data of a new connection.
func bound(c net.Conn) {
	control(c, func(fd int) { _ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, firstUnsent) })
}

// unsent returns how many bytes the kernel holds that it has not sent yet.
func unsent(c net.Conn) (n int) {
	control(c, func(fd int) {
		if info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			n = int(info.Notsent_bytes)
		}
	})
	return n
}

// adjust lets the kernel hold what the client takes in half a second, unsent; and sent and unsent data for one and a
// half round trips. A rate of 0 lifts the bounds.
func adjust(c net.Conn, rate float64) {
	control(c, func(fd int) {
		unsent, buffer := firstUnsent, mostBuffer
		if rate > 0 {
			unsent, buffer = max(int(rate/2), leastUnsent), leastBuffer
			if info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
				trip := time.Duration(info.Min_rtt) * time.Microsecond
				buffer = min(max(buffer, int(1.5*rate*trip.Seconds())), mostBuffer)
			}
		}
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, unsent)
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, buffer)
	})
}

// control calls f with the connection's descriptor, if it is one of TCP.
func control(c net.Conn, f func(fd int)) {
	if tcp, ok := c.(*net.TCPConn); ok {
		if raw, err := tcp.SyscallConn(); err == nil {
			_ = raw.Control(func(fd uintptr) { f(int(fd)) })
		}
	}
}
