// Package commands is the commands run, schedules and webhooks: a program as a run, and what a server starts and tells by
// its operator's files. It is also record and replay: what a run was told, and how that went.
package commands
