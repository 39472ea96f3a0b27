//go:build !unix

package terminal

// onSuspend: there is no Ctrl-Z here.
func onSuspend(func()) (forget func()) { return func() {} }

func suspend() {}
