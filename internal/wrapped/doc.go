// Package wrapped has the calls of tools of MCP servers as the runs that make them know them. It brings those whose server
// is in this process to it.
package wrapped
