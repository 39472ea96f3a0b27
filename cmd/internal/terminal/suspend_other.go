//go:build !unix

package terminal

// onSuspend does nothing: there is no Ctrl-Z on this system.
func onSuspend(func()) (forget func()) { return func() {} }

func suspend() {}
