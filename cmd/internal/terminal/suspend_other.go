//go:build !unix

package terminal

import "os"

// onSuspend does nothing, because this system has no Ctrl-Z.
func onSuspend(func()) (forget func()) { return func() {} }

func suspend() {}

// heldByOthers is false: this system has no jobs in the background of a terminal.
func heldByOthers(*os.File) bool { return false }
