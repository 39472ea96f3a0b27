//go:build !windows

package chatui

import "os"

// interrupt sends this process the signal that Ctrl-C sends.
func interrupt() {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Signal(os.Interrupt)
	}
}
