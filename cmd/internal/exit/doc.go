// Package exit holds the exit codes of lastword, and the errors that end it with one.
package exit
