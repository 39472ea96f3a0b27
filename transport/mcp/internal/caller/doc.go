// Package caller limits each MCP caller to its own runs and scopes, and turns errors into the JSON-RPC errors that the
// caller may see. Package auth has put the caller into the request's context.
package caller
