// Package source makes the tools of other MCP servers callable. [Parse] reads which servers there are, in the form that
// hosts of MCP use, and a [Source] starts them when their tools are wanted, and again when they have ended.
//
// Nothing that a server says is trusted. A server gets an environment of its own, its messages are bounded, what it says
// about its tools is believed only if the settings say so, and a tool that it changes during a turn is not called.
package source
