// Package regular opens files of which somebody else decides what they are.
//
// To look at a name first is not enough: it may become a pipe before it is
// opened, and opening a pipe waits until somebody writes into it. So files are
// opened without waiting, and looked at then.
package regular
