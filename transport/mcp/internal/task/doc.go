// Package task shows runs to MCP clients as tasks, and forwards what runs ask to the clients' users. With the extension
// of 2026-07-28, the server decides which call becomes a task; in version 2025-11-25, the client decides. From
// 2026-07-28 on, a question is an input_required with a signed requestState; before, elicitation/create.
package task
