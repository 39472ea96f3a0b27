// Package host puts the runtime together for the commands: it runs a job in the foreground and shows it to a person, or
// serves many runs over MCP and HTTP.
package host
