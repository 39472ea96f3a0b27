// Package wire tests transport/mcp/wire with other projects' clients, and measures it beside their servers.
package wire
