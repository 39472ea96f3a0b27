//go:build unix

package terminal

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// onSuspend makes the next Ctrl-Z call f instead of stopping the process. forget undoes that.
func onSuspend(f func()) (forget func()) {
	suspended, stop := signal.NotifyContext(context.Background(), syscall.SIGTSTP)
	never := context.AfterFunc(suspended, f)
	return func() {
		never()
		stop()
	}
}

// suspend stops the process until it is continued.
func suspend() { syscall.Kill(syscall.Getpid(), syscall.SIGSTOP) }

// heldByOthers reports whether the stream is the terminal of this session, and another process group has it.
func heldByOthers(stream *os.File) bool {
	group, err := unix.IoctlGetInt(int(stream.Fd()), unix.TIOCGPGRP)
	return err == nil && group != unix.Getpgrp()
}
