//go:build unix && !linux

package command

import "syscall"

// endWithUs does nothing: the system has no such thing.
func endWithUs(*syscall.SysProcAttr) {}

// outOfMemory is not known.
func outOfMemory() int64 { return 0 }
