// Package exit defines the exit codes of lastword, and errors that end the program with one of them.
package exit
