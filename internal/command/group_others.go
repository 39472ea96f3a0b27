//go:build unix && !linux

package command

import "syscall"

// endWithUs does nothing, because the system has no such feature.
func endWithUs(*syscall.SysProcAttr) {}

// outOfMemory returns 0, because the number is unknown.
func outOfMemory() int64 { return 0 }
