// Package approval remembers which tools may always be called without asking the user.
//
// A [File] has a JSON line for each tool. Whoever removes a line is asked again.
package approval
