// Package toolbox has the tools that a chat's model may call, as the flags of a command name them: over the files of a
// folder, and those of other MCP servers.
package toolbox
