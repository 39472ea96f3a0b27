// Package scripted is a server of MCP that does as a test says.
package scripted
