// Package wrap makes each call of a tool of another MCP server a run: with a log, a cancel, questions and one end. One
// definition, tool, serves the tools of all servers.
package wrap
