// Package approval remembers which tools may always be called without asking the user.
//
// A [File] has a JSON line for each. Who takes a line out is asked again.
package approval
