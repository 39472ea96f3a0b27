// Package regular opens files that may turn out not to be regular files.
//
// Checking the name first is not enough: it may become a pipe before it is opened, and opening a pipe blocks until
// somebody writes to it. So files are opened without blocking and checked then.
package regular
