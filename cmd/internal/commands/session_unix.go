//go:build unix

package commands

import "syscall"

// ownSession makes a process outlive its terminal.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// own keeps a descriptor from the programs that this process starts.
func own(fd int) { syscall.CloseOnExec(fd) }

// alone holds the descriptor's pipe until release, so that no other process takes the answer to a line. Where pipes have
// no locks it holds nothing.
func alone(fd int) (release func()) {
	lock := func(kind int16) { _ = syscall.FcntlFlock(uintptr(fd), syscall.F_SETLKW, &syscall.Flock_t{Type: kind}) }
	lock(syscall.F_WRLCK)
	return func() { lock(syscall.F_UNLCK) }
}
