// Package durable makes the tools of MCP servers in this process runs; package transport/mcp has the middleware for mcp-go.
package durable
