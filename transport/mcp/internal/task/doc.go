// Package task shows runs to MCP clients as tasks, in both forms of the protocol. With the extension of 2026-07-28, the
// server decides which call becomes a task; in version 2025-11-25, the client decides.
package task
