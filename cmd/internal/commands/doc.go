// Package commands is the commands run, schedules and webhooks: a program as a run, and what a server starts and tells by
// its operator's files.
package commands
