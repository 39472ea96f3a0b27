// Package host runs jobs for the commands: it starts the runtime, watches one run for a person, and serves many to
// agents over MCP.
package host
