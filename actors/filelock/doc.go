// Package filelock locks files between processes, on Unix and Windows.
package filelock
