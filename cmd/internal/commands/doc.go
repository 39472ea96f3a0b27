// Package commands is the commands run and schedules: a program as a run, and the schedules of a server.
package commands
