//go:build !unix

package commands

import "syscall"

// A program has no descriptors beyond three here.
func ownSession() *syscall.SysProcAttr { return nil }
func own(int)                          {}
func alone(int) (release func())       { return func() {} }
