// Package task shows runs as tasks of the protocol, in both of its forms: the extension of 2026-07-28, where the
// server decides which call becomes a task, and the tasks of 2025-11-25, where the client does.
package task
