//go:build !unix

package terminal

// onSuspend does nothing, because this system has no Ctrl-Z.
func onSuspend(func()) (forget func()) { return func() {} }

func suspend() {}
