// Package commands is the command run: a program as a run.
package commands
