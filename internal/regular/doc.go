// Package regular opens files, and fails instead of blocking if they are not regular files.
//
// Checking a name before opening is not enough: the file may be replaced by a pipe in between, and opening a pipe
// blocks until somebody writes to it. So files are opened without blocking, and checked afterwards.
package regular
