// Package toolbox provides the tools that a chat's model may call, according to a command's flags: tools for the files
// of a folder, and the tools of other MCP servers.
package toolbox
