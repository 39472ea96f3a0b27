// Package scripted is an MCP server whose answers a test scripts.
package scripted
