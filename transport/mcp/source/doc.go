// Package source lets runs call the tools of other MCP servers. [Parse] reads the list of servers in the format that
// MCP hosts use. A [Source] starts a server when its tools are needed, and restarts it if it ends.
//
// Servers are not trusted. A server gets its own environment. The size of its messages is limited. What it says about
// its tools is believed only if the settings allow that. A tool that changes during a turn is not called.
package source
