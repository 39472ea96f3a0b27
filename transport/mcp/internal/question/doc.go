// Package question forwards the questions of a run to the user of the MCP client, and the answers to the run. From
// protocol version 2026-07-28 on, it uses input_required with a signed requestState; before, elicitation/create.
package question
