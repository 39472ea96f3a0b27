//go:build unix

package terminal

import (
	"context"
	"os/signal"
	"syscall"
)

// onSuspend has f called at the next Ctrl-Z, in place of what that does; the returned function takes it back.
func onSuspend(f func()) (forget func()) {
	suspended, stop := signal.NotifyContext(context.Background(), syscall.SIGTSTP)
	never := context.AfterFunc(suspended, f)
	return func() {
		never()
		stop()
	}
}

// suspend stops the process until it is told to go on.
func suspend() { syscall.Kill(syscall.Getpid(), syscall.SIGSTOP) }
