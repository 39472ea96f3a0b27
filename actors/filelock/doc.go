// Package filelock locks files between processes. Where a system has no such locks, the error is
// errors.ErrUnsupported.
package filelock
