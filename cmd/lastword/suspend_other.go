//go:build !unix

package main

// onSuspend: there is no Ctrl-Z here.
func onSuspend(func()) (forget func()) { return func() {} }

func suspend() {}
