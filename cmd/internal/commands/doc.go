// Package commands implements the commands run, schedules, webhooks, fault, record and replay.
package commands
