//go:build unix

package terminal

import (
	"context"
	"os/signal"
	"syscall"
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
